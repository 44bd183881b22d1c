"""The formats of Claude Code."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.claude import family_recognition as family
from agentwatch.agents.claude import transcript_recognition as transcript
from agentwatch.agents.claude.recognition import recognises, role
from agentwatch.agents.on_disk import time_of
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

AGENT = Agent(
    name="claude-code",
    agent="claude",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.claude.stream:decoder"),
    blocks=on_first_use("agentwatch.agents.claude.blocks:blocks"),
    traits=Traits(result_is_last_text=True),
)
TRANSCRIPT = Agent(
    name=transcript.FORMAT,
    agent="claude",
    recognises=transcript.recognises,
    role=transcript.role,
    decoder=on_first_use("agentwatch.agents.claude.transcript:Decoder"),
    blocks=on_first_use("agentwatch.agents.claude.blocks:transcript_blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""Decodes the transcripts of Claude Code 1.0 to 2.1.

The format is taken from real transcripts of October 2025 to November 2026. A transcript has no result line
and no line that starts the run. Its lines are a tree. Exit codes are only in the texts of failed commands.
"""
FAMILY = Agent(
    name="claude-family",
    recognises=family.recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.claude.family:decoder"),
    blocks=on_first_use("agentwatch.agents.claude.blocks:blocks"),
    traits=Traits(result_is_last_text=True),
    may_write=family.may_write,
)
"""Decodes a stream whose head is missing, and whose lines Claude Code, Qwen Code and Amp write alike."""
FORMATS = (TRANSCRIPT, AGENT, FAMILY)
