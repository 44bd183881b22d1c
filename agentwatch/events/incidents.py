"""Events about incidents: notices, retries, compactions, and lines that could not be understood."""

from typing import NamedTuple


class Notice(NamedTuple):
    """An incident that the user may want to know of: a lost connection, a warning, a background task.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> next(event for event in events if isinstance(event, agentwatch.Notice)).message
        'connection reconnecting, attempt 1'
    """

    message: str
    at_ms: int | None = None
    is_error: bool = False
    """If the run ends without a result, the message is the best known reason."""


class Retry(NamedTuple):
    """The agent repeats a request to the model, or waits until it may send the next one.

    Example:
        >>> from agentwatch import Retry
        >>> Retry("overloaded", attempt=2, most_attempts=10, delay_ms=4_000).delay_ms
        4000
    """

    message: str
    """Why: `overloaded`."""
    attempt: int | None = None
    """Counted from 1."""
    most_attempts: int | None = None
    delay_ms: int | None = None
    """The time until the next attempt."""
    at_ms: int | None = None


class Compaction(NamedTuple):
    """The agent shortens the conversation, so that it fits into the model's context.

    Example:
        >>> from agentwatch import Compaction
        >>> Compaction(is_over=True, trigger="auto", tokens_before=180_000, tokens_after=21_000).trigger
        'auto'
    """

    is_over: bool
    trigger: str | None = None
    """`auto` or `manual`."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    at_ms: int | None = None


class Unknown(NamedTuple):
    """Valid JSON whose type, subtype, tool or result variant this version does not know.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/unknown.ndjson"))
        >>> next(event for event in events if isinstance(event, agentwatch.Unknown)).what
        'type budget_notice/update'
    """

    what: str
    """The unknown part and its value: `type weather`, `tool teleportToolCall`."""
    line: str = ""
    """The beginning of the line, if no agent is known; otherwise empty."""


class Repair(NamedTuple):
    """The line was not valid JSON, but could be read after a repair.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/malformed.ndjson"))
        >>> sum(isinstance(event, agentwatch.Repair) for event in events)
        1
    """


class Oversize(NamedTuple):
    """The line is too large to be read completely; its head and tail were read.

    Example:
        >>> from agentwatch import Oversize
        >>> Oversize(size=40_000_000).size
        40000000
    """

    size: int
    """In bytes."""


class Malformed(NamedTuple):
    """A line that is not a JSON object.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/malformed.ndjson"))
        >>> next(event for event in events if isinstance(event, agentwatch.Malformed)).reason
        'not JSON'
    """

    reason: str
    text: str
    """The beginning of the line; bytes that are not UTF-8 are replaced."""
