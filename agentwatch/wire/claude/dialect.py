"""What differs between the agents that write Claude's grammar."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agentwatch.wire.claude.tools import tool_named
from agentwatch.wire.tool import Tool


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
    commands_return_json: bool = False
    """Whether the text of a command's result may be an object with its output and its exit code."""
    error_start: str | None = None
    """The beginning of a result that is an error, although the line says success."""


CLAUDE_CODE = Dialect("claude-code")
