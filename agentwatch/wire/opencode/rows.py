"""The rows of a stored session, independent of where they are stored."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from agentwatch.sources.stores.json_values import parsed

Object = dict[str, Any]


class SessionRow(NamedTuple):
    """A session: the one that is shown, or a subagent's."""

    id: str
    parent_id: str | None
    created: int | None
    info: Object
    """Its folder, title, model, and the version of opencode."""
    reverted_to: str | None = None
    """The message to which the user went back: this one and all later ones are no part of it any more."""


class MessageRow(NamedTuple):
    """A message of the user or of the model."""

    id: str
    session_id: str
    created: int | None
    data: Object


class PartRow(NamedTuple):
    """A part of a message: a text, a call, the start or the end of a step."""

    id: str
    message_id: str
    session_id: str
    created: int | None
    data: Object


class Rows(NamedTuple):
    """Rows that are new, or may have changed. A session comes before its subagents' sessions."""

    sessions: list[SessionRow]
    messages: list[MessageRow]
    parts: list[PartRow]


class Reader(Protocol):
    """Reads the rows of one session and its subagents' sessions."""

    def has_changed(self) -> bool:
        """Return whether the store may have changed since the last reading; this must be cheap."""

    def read(self) -> Rows:
        """Return all sessions, and the messages and parts that are new or may have changed.

        Raises:
            OSError: The store cannot be read now.
        """


def as_object(value: object) -> Object:
    """Return a JSON object, which may be given as text; {} for any other value."""
    if isinstance(value, (str, bytes)):
        value = parsed(value)
    return value if isinstance(value, dict) else {}


def as_time(value: object) -> int | None:
    """Return a time in milliseconds since the epoch; None for a value that is no such time."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1 << 53:
        return int(value)
    return None


def as_text(value: object) -> str | None:
    """Return a text; None for an empty one and for any other value."""
    return value if isinstance(value, str) and value else None
