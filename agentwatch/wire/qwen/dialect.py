"""Qwen Code's variant of Claude's grammar."""

from __future__ import annotations

from agentwatch.wire.claude.decoder import Decoder
from agentwatch.wire.claude.dialect import Dialect
from agentwatch.wire.qwen.tools import tool_named

QWEN = Dialect("qwen", tool_named, input_includes_cache=True, error_start="[API Error")


def decoder() -> Decoder:
    """Return a decoder of Qwen Code's lines."""
    return Decoder(QWEN)
