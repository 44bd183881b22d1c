"""A stream of Claude's grammar whose head is missing: the tools may be those of any agent of the family."""

from __future__ import annotations

from agentwatch.agents.amp.stream import AMP
from agentwatch.agents.amp.stream import TOOLS as AMPS
from agentwatch.agents.claude.calls import TOOLS, Dialect, tool_named
from agentwatch.agents.claude.stream import ClaudeDecoder
from agentwatch.agents.qwen.stream import QWEN
from agentwatch.agents.qwen.stream import TOOLS as QWENS
from agentwatch.agents.registry import detect
from agentwatch.agents.tool import Tool


def _tool_named(name: str) -> Tool:
    return TOOLS.get(name) or QWENS.get(name) or AMPS.get(name) or tool_named(name)


FAMILY = Dialect(
    "claude-family", _tool_named, echoes_prompts=AMP.echoes_prompts, error_start=QWEN.error_start
)


def decoder() -> ClaudeDecoder:
    return ClaudeDecoder(FAMILY, detect)
