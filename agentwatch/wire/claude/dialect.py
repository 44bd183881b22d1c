"""What differs between the agents that write Claude's grammar."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agentwatch.wire.claude.tools import tool_named
from agentwatch.wire.fields import NO_FIELDS, Fields
from agentwatch.wire.tool import Tool


def no_details(_tool: Tool, _words: str) -> Fields:
    """Return no fields: the text of a result is only a text."""
    return NO_FIELDS


class Dialect(NamedTuple):
    """An agent's variant of the grammar."""

    format: str
    """The name of the format."""
    tool_named: Callable[[str], Tool] = tool_named
    """Returns the description of a tool by its name."""
    input_includes_cache: bool = False
    """Whether `input_tokens` contains the tokens that were read from the cache and written to it."""
    echoes_prompts: bool = False
    """Whether each prompt of the user is a line. If not, a user's text within a turn is the agent's own."""
    error_start: str | None = None
    """The beginning of a result that is an error, although the line says success."""
    has_whole_usage: bool = False
    """Whether the line of a message has its final output tokens. If not, they are a value of its middle."""
    details_in: Callable[[Tool, str], Fields] = no_details
    """Returns the structured result in the text of a result."""


CLAUDE_CODE = Dialect("claude-code")
