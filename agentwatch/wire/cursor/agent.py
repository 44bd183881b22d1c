"""The formats of Cursor."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.cursor.decoder import FORMAT, Decoder
from agentwatch.wire.cursor.recognition import may_write, recognises, role
from agentwatch.wire.cursor.tools import SUBAGENT_STEPS
from agentwatch.wire.program import on_first_use

AGENT = Agent(
    name=FORMAT,
    recognises=recognises,
    role=role,
    decoder=Decoder,
    blocks=on_first_use("agentwatch.wire.cursor.blocks:blocks"),  # 2 ms, which printing does not need
    traits=Traits(),
    may_write=may_write,
    unknown_fields=on_first_use("agentwatch.wire.cursor.known_fields:unknown_fields"),
    reworded=f'"{SUBAGENT_STEPS}"'.encode(),
)
TRANSCRIPT = Agent(
    name="cursor-transcript",
    agent="cursor",
    recognises=on_first_use("agentwatch.wire.cursor_transcript.recognition:recognises"),
    role=on_first_use("agentwatch.wire.cursor_transcript.recognition:role"),
    decoder=on_first_use("agentwatch.wire.cursor_transcript.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.cursor_transcript.blocks:blocks"),
    traits=Traits(announces_calls=False, has_result=False, has_times=False, has_exit_codes=False),
)
"""Decodes the transcripts that Cursor's editor and its CLI keep.

The format is taken from files of 2026 that others have published. A transcript has the prompts, the answers
and the calls. It has no times, no ids of calls and no results, and neither model nor working directory. Newer
versions write a line at the end of most turns (`turn_ended`).
"""
FORMATS = (AGENT, TRANSCRIPT)
