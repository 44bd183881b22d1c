"""The formats of Cursor."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.cursor.recognition import may_write, recognises, role
from agentwatch.agents.cursor.stream import FORMAT, Decoder
from agentwatch.agents.cursor.tools import SUBAGENT_STEPS
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

AGENT = Agent(
    name=FORMAT,
    recognises=recognises,
    role=role,
    decoder=Decoder,
    blocks=on_first_use("agentwatch.agents.cursor.blocks:blocks"),  # 2 ms, which printing does not need
    traits=Traits(),
    may_write=may_write,
    unknown_fields=on_first_use("agentwatch.agents.cursor.known_fields:unknown_fields"),
    reworded=f'"{SUBAGENT_STEPS}"'.encode(),
)
TRANSCRIPT = Agent(
    name="cursor-transcript",
    agent="cursor",
    recognises=on_first_use("agentwatch.agents.cursor.transcript_recognition:recognises"),
    role=on_first_use("agentwatch.agents.cursor.transcript_recognition:role"),
    decoder=on_first_use("agentwatch.agents.cursor.transcript:Decoder"),
    blocks=on_first_use("agentwatch.agents.cursor.transcript_blocks:blocks"),
    traits=Traits(announces_calls=False, has_result=False, has_times=False, has_exit_codes=False),
)
"""Decodes the transcripts that Cursor's editor and its CLI keep.

The format is taken from files of 2026 that others have published. A transcript has the prompts, the answers
and the calls. It has no times, no ids of calls and no results, and neither model nor working directory. Newer
versions write a line at the end of most turns (`turn_ended`).
"""
FORMATS = (AGENT, TRANSCRIPT)
