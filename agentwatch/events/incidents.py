"""Events about incidents: notices, retries, compactions, and lines that could not be understood."""

from typing import NamedTuple


class Notice(NamedTuple):
    """An incident that the user may want to know of: a lost connection, a warning, a background task."""

    message: str
    at_ms: int | None = None
    is_error: bool = False
    """If the run ends without a result, the message is the best known reason."""


class Retry(NamedTuple):
    """The agent repeats a request to the model, or waits until it may send the next one."""

    message: str
    """Why: `overloaded`."""
    attempt: int | None = None
    """Counted from 1."""
    most_attempts: int | None = None
    delay_ms: int | None = None
    """The time until the next attempt."""
    at_ms: int | None = None


class Compaction(NamedTuple):
    """The agent shortens the conversation, so that it fits into the model's context."""

    is_over: bool
    trigger: str | None = None
    """`auto` or `manual`."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    at_ms: int | None = None


class Unknown(NamedTuple):
    """Valid JSON whose type, subtype, tool or result variant this version does not know."""

    what: str
    """The unknown part and its value: `type weather`, `tool teleportToolCall`."""
    line: str = ""
    """The beginning of the line, if no agent is known; otherwise empty."""


class Repair(NamedTuple):
    """The line was not valid JSON, but could be read after a repair."""


class Oversize(NamedTuple):
    """The line is too large to be read completely; its head and tail were read."""

    size: int
    """In bytes."""


class Malformed(NamedTuple):
    """A line that is not a JSON object."""

    reason: str
    text: str
    """The beginning of the line; bytes that are not UTF-8 are replaced."""
