"""The formats of Claude Code."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.claude.recognition import recognises, role
from agentwatch.wire.claude_family import recognition as family
from agentwatch.wire.claude_transcript import recognition as transcript
from agentwatch.wire.on_disk.iso_time import time_of
from agentwatch.wire.program import on_first_use

AGENT = Agent(
    name="claude-code",
    agent="claude",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.wire.claude.decoder:decoder"),
    blocks=on_first_use("agentwatch.wire.claude.blocks:blocks"),
    traits=Traits(result_is_last_text=True),
)
TRANSCRIPT = Agent(
    name=transcript.FORMAT,
    agent="claude",
    recognises=transcript.recognises,
    role=transcript.role,
    decoder=on_first_use("agentwatch.wire.claude_transcript.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.claude_transcript.blocks:blocks"),
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
    decoder=on_first_use("agentwatch.wire.claude_family.dialect:decoder"),
    blocks=on_first_use("agentwatch.wire.claude.blocks:blocks"),
    traits=Traits(result_is_last_text=True),
    may_write=family.may_write,
)
"""Decodes a stream whose head is missing, and whose lines Claude Code, Qwen Code and Amp write alike."""
FORMATS = (TRANSCRIPT, AGENT, FAMILY)
