"""What may happen in a session: runs of steps, as a story to be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """The assistant says something; with partial output cut into deltas, also inside an emoji."""

    text: str
    cuts: tuple[int, ...]


@dataclass(frozen=True)
class Think:
    """The model thinks."""

    text: str
    cuts: tuple[int, ...]
    is_completed: bool


@dataclass(frozen=True)
class Aside:
    """Lines that say nothing of the text or of a call: a query, a notice, a line that is odd."""

    lines: tuple[bytes, ...]
    is_query: bool = False
    malformed: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class Ending:
    """How a call came back, and what that is."""

    result: Json | None
    outcome: str
    error: str | None = None
    exit_code: int | None = None
    note: str | None = None
    phrase: str | None = None
    added: int | None = None
    removed: int | None = None
    is_unknown: bool = False


@dataclass(frozen=True)
class Doing:
    """A tool called with arguments, and what is told of it."""

    tool: str
    phrase: str
    args: Json
    target: str | None
    is_unknown: bool = False


@dataclass(frozen=True)
class ToolCall:
    """A call, and how its lines are written."""

    call_id: str
    doing: Doing
    ending: Ending
    has_start: bool
    has_end: bool
    arguments_at: str
    shape: str
    siblings: str
    started_ms: int | None
    ended_ms: int | None
    numbers_as_strings: bool
    model_call_id: str | None


@dataclass(frozen=True)
class Finish:
    """The result of a run."""

    result: str | None
    """`None` is the text, a string another one; see `says_nothing`."""
    says_nothing: bool
    subtype: str
    is_error: bool
    numbers_as_strings: bool
    request_id: str | None
    usage: Json | None


Step = Say | Think | Aside | ToolCall


@dataclass(frozen=True)
class RunStory:
    """One run: its steps in order; a call stands where it starts and again where it ends."""

    session_id: str
    prompt: str
    steps: tuple[Step, ...]
    finish: Finish | None
    flushes: bool
    """With partial output: whether a segment is repeated where it need not be."""


@dataclass(frozen=True)
class Story:
    """What happened, and how its lines are written."""

    runs: tuple[RunStory, ...]
    line_end: bytes
    ends_in_line_end: bool
    is_ascii: bool
