"""Reads the token counts of Codex, in which `input_tokens` contains the cached ones."""

from __future__ import annotations

from agentwatch.events import Tokens
from agentwatch.wire.fields import Fields, number


def tokens_of(usage: Fields) -> Tokens:
    """Return a token count. Reasoning is a part of `output_tokens`."""
    return Tokens(
        input=number(usage, "input_tokens"),
        cached=number(usage, "cached_input_tokens"),
        output=number(usage, "output_tokens"),
    )
