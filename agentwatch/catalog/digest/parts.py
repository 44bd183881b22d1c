"""The parts of a digest: the state of the turn, an open call, and what later lines need to update it."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from agentwatch.session.events import PlanStatus, ToolKind


class Turn(Enum):
    """Whether the agent works on a prompt, judged by the lines of the session alone."""

    NONE = "none"
    """No line says so: there was no prompt yet."""
    OPEN = "open"
    ENDED = "ended"


class LastTests(NamedTuple):
    """The newest verdict of tests among the lines that were read."""

    is_red: bool
    """Whether a test failed; otherwise all passed."""
    passed: int
    failed: int
    """How many tests failed or had an error. Both numbers are 0 if the tool does not count."""
    is_stale: bool = False
    """Whether a file changed after them."""

    @property
    def state(self) -> str:
        """The state by the words of the summary: `red`, `green`, `changed since`."""
        return "red" if self.is_red else "changed since" if self.is_stale else "green"


class OpenCall(NamedTuple):
    """A call that has started and not ended."""

    call_id: str
    tool: str
    kind: ToolKind
    target: str
    """What it acts on, in one line: a command, a path; empty if unknown."""
    started_ms: int | None
    parent_call: str | None = None
    """The call_id of the call whose subagent made it; None for the main agent."""
    limit_ms: int | None = None
    asks: bool = False
    """Whether the call itself is a question to the user: it runs until the user answers."""
    command: str = ""
    """The command of which `target` is one line, at most 240 characters; empty if `target` is all of it."""


# Limits for the texts of a digest, in characters: a list has thousands of digests.

MOST_NAME = 100
MOST_LINE = 240
MOST_TEXT = 400
MOST_PATH = 1000
MOST_ACTIVITY = 200
"""A tool and what its call acts on. A row shows no more."""
_LOOKED_AT = 1000


def line(words: str | None) -> str:
    """Return at most 240 characters of a text, without the blanks around it."""
    return (words or "")[:_LOOKED_AT].strip()[:MOST_LINE]


# What the digest of a session needs to remember so that later lines can update it.

_MOST_PAUSES = 32
_LEAST_PAUSES = 10


class Question(NamedTuple):
    """A question that is open."""

    words: str
    call_id: str | None
    at_ms: int | None
    until_ms: int | None = None
    """When the agent answers it by itself."""


class Pauses:
    """The silences of the model in the newest turns, in milliseconds.

    Each stay with the model counts once, with its longest silence: from a prompt or the end of a call to the
    next call or the end of the turn.
    """

    __slots__ = ("_longest_ms", "_newest", "usual_ms")

    def __init__(self) -> None:
        self._newest = array("q")
        self._longest_ms = 0
        self.usual_ms: int | None = None
        """90 % of the newest silences are not longer; None before there are ten."""

    def add(self, silence_ms: int) -> None:
        """Add a silence in the present stay."""
        self._longest_ms = max(self._longest_ms, silence_ms)

    def drop(self) -> None:
        """Drop the present stay: nobody knows whether the model was at work."""
        self._longest_ms = 0

    def end(self) -> None:
        """End the present stay."""
        if not self._longest_ms:
            return
        self._newest.append(min(self._longest_ms, 1 << 62))
        del self._newest[:-_MOST_PAUSES]
        self._longest_ms = 0
        if len(self._newest) >= _LEAST_PAUSES:
            self.usual_ms = sorted(self._newest)[-(-9 * len(self._newest) // 10) - 1]


@dataclass(slots=True)
class Course:
    """The part of a digest's state that is not shown."""

    has_ended: dict[int, bool] = field(default_factory=dict)
    """Whether a call has ended that is not open any more, by the hash of its id. A resume may write all of
    the session again, so none is dropped: 88 bytes each."""
    questions: dict[str, Question] = field(default_factory=dict)
    """The open questions by key, the oldest first."""
    plan: dict[int, PlanStatus] = field(default_factory=dict)
    """The to-do list by the hashes of its texts."""
    last_error: str = ""
    """The last error that the agent reported in this turn. It may be why the turn ends."""
    awaits_prompt: bool = False
    """Whether a turn has started whose prompt has not arrived."""
    is_text_open: bool = False
    """Whether the next text continues the last one."""
    repeats_history: bool = False
    """Whether the present lines are a copy of another session's history."""
    run_turns: int = 0
    """The number of turns of the run, with those of a copied history."""
    has_line_times: bool = False
    """Whether lines have times of their own. A line without one does not count as activity then."""
    tests_key: int | None = None
    """The hash of the command that ran the newest tests."""
    pauses: Pauses = field(default_factory=Pauses)

    def settle(self, call_id: str, *, has_ended: bool) -> None:
        """Remember a call that is not open any more."""
        self.has_ended[hash(call_id)] = has_ended
