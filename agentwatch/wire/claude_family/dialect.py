"""A stream of Claude's grammar whose head is missing: the tools may be those of any agent of the family."""

from __future__ import annotations

from agentwatch.wire.agents import detect
from agentwatch.wire.amp.dialect import AMP
from agentwatch.wire.amp.dialect import TOOLS as AMPS
from agentwatch.wire.claude.decoder import Decoder
from agentwatch.wire.claude.dialect import Dialect
from agentwatch.wire.claude.tools import TOOLS, tool_named
from agentwatch.wire.qwen.dialect import QWEN
from agentwatch.wire.qwen.tools import TOOLS as QWENS
from agentwatch.wire.tool import Tool


def _tool_named(name: str) -> Tool:
    return TOOLS.get(name) or QWENS.get(name) or AMPS.get(name) or tool_named(name)


FAMILY = Dialect(
    "claude-family", _tool_named, echoes_prompts=AMP.echoes_prompts, error_start=QWEN.error_start
)


def decoder() -> Decoder:
    """Return a decoder that reads on as that of one agent, once a line shows which one wrote it."""
    return Decoder(FAMILY, detect)
