"""An episode of trouble, and the line that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from agentwatch.session import Call
from agentwatch.text.amounts import plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText


class EpisodeKind(StrEnum):
    """What went wrong."""

    FAILURE = "failure"
    """A call failed, and was tried at least twice more."""
    CYCLES = "cycles"
    """Files were edited and the tests failed, at least three times in a row."""
    REREAD = "reread"
    """The same part of a file was read at least four times without a change of the file in between."""
    BACK = "back_to_start"
    """A file was edited at least twice, and has its first content again."""
    UNREAD = "unread"
    """A file was edited that the session had neither read nor created."""


class Episode(NamedTuple):
    """An episode of trouble: several calls that belong together.

    Example:
        >>> Episode(EpisodeKind.FAILURE, 4, 9, 3, 250_000, True, True, SafeText("pytest -q")).words
        'fixed on try 3, 4:10: pytest -q'
    """

    kind: EpisodeKind
    first: int
    """The number of the first call."""
    last: int
    """The number of the last call so far."""
    tries: int
    """How often the call was tried, the tests failed in a row, or the file was read or changed."""
    duration_ms: int | None
    """The time from the start of the first call to the end of the last one; None if unknown."""
    is_over: bool
    """Whether no further call can belong to it."""
    is_fixed: bool
    """Whether the last try succeeded, or the tests passed."""
    subject: SafeText
    """The command or the path of the episode."""
    cycles: int = 0
    """The edit-test-fail cycles among the tries."""

    @property
    def words(self) -> SafeText:
        """The episode in one line: `not fixed after 3 tries, 2:05: npm run build`."""
        took = "" if self.duration_ms is None else f", {duration_words(self.duration_ms)}"
        cycles = f", {_cycles(self.cycles)}" if self.cycles else ""
        return SafeText(f"{self._lead}{took}{cycles}: {self.subject}")

    @property
    def _lead(self) -> str:
        match self.kind:
            case EpisodeKind.FAILURE if self.is_fixed:
                return f"fixed on try {self.tries}"
            case EpisodeKind.FAILURE:
                return f"not fixed {'after' if self.is_over else 'yet,'} {self.tries} tries"
            case EpisodeKind.CYCLES:
                return _cycles(self.tries)
            case EpisodeKind.REREAD:
                return f"read {self.tries} times"
            case EpisodeKind.BACK:
                return "edited back to the start"
        return "edited without reading"


def for_reading(episodes: Sequence[Episode]) -> list[Episode]:
    """Return episodes as they are listed for a person: failures that are not fixed first, then the newest."""
    newest = episodes[::-1]
    return sorted(newest, key=lambda each: each.is_fixed or each.kind is not EpisodeKind.FAILURE)


def _cycles(count: int) -> str:
    return plural(count, "edit-test-fail cycle")


def duration_ms(first: Call, last: Call) -> int | None:
    """Return the time from the start of a call to the end of another one.

    The clock is the agent's, or that of the arrival times if the agent gave no times. None if neither is
    known, or if both lines arrived in one read.
    """
    start, end = first.started_ms if first.started_ms is not None else first.ended_ms, last.ended_ms
    if start is not None and end is not None:
        return end - start if end >= start else None
    began = first.started or first.ended
    if began is None or last.ended is None or began.seen_ms is None or last.ended.seen_ms is None:
        return None
    passed = last.ended.seen_ms - began.seen_ms
    return passed if passed > 0 else None
