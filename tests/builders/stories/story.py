"""A story of a session of Cursor, and what is known of its calls."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from agentwatch.rules.calls.facts import CallFacts
from agentwatch.session.session import Session


def facts_of(session: Session | None = None) -> CallFacts:
    """Return the facts about the calls of a session, without those that are read from the recording."""
    feed: Any = SimpleNamespace(session=session or Session())
    return CallFacts(feed)


Json = dict[str, Any]


KINDS = {
    **dict.fromkeys(("grep", "glob", "ls", "semSearch", "webSearch"), "search"),
    **dict.fromkeys(("edit", "write"), "edit"),
    "read": "read",
    "delete": "delete",
    "shell": "execute",
    "updateTodos": "plan",
    "mcp": "mcp",
    "task": "delegate",
    "webFetch": "fetch",
}
"""The kind of each tool; any other tool has the kind `other`."""


@dataclass(frozen=True)
class Say:
    """The assistant writes a text; with partial output it is cut into deltas, even inside an emoji."""

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
    """Lines that add neither text nor calls: a query, a notice, an odd line."""

    lines: tuple[bytes, ...]
    is_query: bool = False
    malformed: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class Ending:
    """The result of a call, and the facts expected from it."""

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
class ToolUse:
    """A tool called with arguments, and the facts expected from them."""

    tool: str
    phrase: str
    args: Json
    target: str | None
    is_unknown: bool = False

    @property
    def kind(self) -> str:
        """The expected kind of the tool."""
        return KINDS.get(self.tool, "other")


@dataclass(frozen=True)
class ToolCall:
    """A call, and how its lines are written."""

    call_id: str
    use: ToolUse
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
    """`None` is the streamed text, a string another text; see `says_nothing`."""
    says_nothing: bool
    subtype: str
    is_error: bool
    numbers_as_strings: bool
    request_id: str | None
    usage: Json | None


Step = Say | Think | Aside | ToolCall


@dataclass(frozen=True)
class RunStory:
    """One run with its steps in order; a call is listed at its start and again at its end."""

    session_id: str
    prompt: str
    steps: tuple[Step, ...]
    finish: Finish | None
    flushes: bool
    """With partial output: whether a segment is flushed even where this is optional."""


@dataclass(frozen=True)
class Story:
    """The runs of a session, and how its lines are written."""

    runs: tuple[RunStory, ...]
    line_end: bytes
    ends_in_line_end: bool
    is_ascii: bool
