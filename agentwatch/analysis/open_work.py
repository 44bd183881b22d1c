"""What is left of a session's work at each of its moments: red tests, open failures, changed files."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile
from time import perf_counter
from typing import NamedTuple

from agentwatch.analysis.files import CHANGES, FileAction, file_action_of
from agentwatch.analysis.verdict_history import CallVerdict
from agentwatch.session.actions import shown_target
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from agentwatch.text.amounts import line_counts, plural
from agentwatch.text.paths import named
from agentwatch.text.safe import SafeText, cut, safe_line
from agentwatch.text.signs import MINUS

_MOST = (1 << 64) - 1


class Changed(NamedTuple):
    files: int = 0
    """The files that were edited, created, deleted or moved."""
    added: int = 0
    removed: int = 0


_FIELDS = len(Changed._fields) + 1


class ChangeHistory:
    """How much was changed after each ended call of a session: 32 bytes for each call that changed a file."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._read = 0
        self._files: set[str] = set()
        self._last = Changed()
        self._rows = array("Q")
        """The number of calls that had ended with each change, and how much was changed."""

    def update(self, seconds: float) -> bool:
        """Read calls that have ended, for about this time; return whether more are left."""
        ended, until = self._session.ended_calls, perf_counter() + seconds
        while self._read < len(ended):
            call = ended[self._read]
            self._read += 1
            if call.kind in CHANGES and file_action_of(call) is not FileAction.TRIED:
                self._add(call)
            if perf_counter() >= until:
                break
        return self._read < len(ended)

    def at(self, ended: int) -> Changed:
        """Return how much was changed when `ended` calls had ended."""
        rows = self._rows
        row = bisect_right(range(len(rows) // _FIELDS), ended, key=lambda each: rows[each * _FIELDS])
        return Changed(*rows[row * _FIELDS - _FIELDS + 1 : row * _FIELDS]) if row else Changed()

    def _add(self, call: Call) -> None:
        last, cwd = self._last, self._session.runs[call.run - 1].cwd
        self._files.update(named(path, cwd)[0] for path in (call.path, *call.more_paths) if path)
        self._last = Changed(
            len(self._files),
            min(last.added + (call.lines_added or 0), _MOST),
            min(last.removed + (call.lines_removed or 0), _MOST),
        )
        if self._last != last:
            self._rows.extend((self._read, *self._last))


# What is left, in words.

_MOST_NAME, _MOST_WORDS = 24, 3


def remaining_words(
    verdicts: Sequence[CallVerdict], failures: Sequence[Call], changed: Changed
) -> Iterator[tuple[SafeText, Outcome | None]]:
    """Yield the remaining work in words, the most important first, each with its outcome: `git push failed
    #251 and 1 more`, `15 files +92 −46`. `verdicts` and `failures` are sorted by time, the newest last."""
    if verdicts:
        yield _tests(verdicts)
    if failures:
        more = f" and {len(failures) - 1:,} more" if len(failures) > 1 else ""
        yield SafeText(f"{_name(failures[-1])} failed #{failures[-1].number}{more}"), Outcome.FAILED
    if changed.files:
        counts = changed.added, changed.removed
        size = f" {line_counts(*counts, MINUS)}" if any(counts) else ""
        yield SafeText(f"{plural(changed.files, 'file')}{size}"), None


def _tests(verdicts: Sequence[CallVerdict]) -> tuple[SafeText, Outcome | None]:
    newest = verdicts[-1]
    words = safe_line(newest.verdict.words)
    if not newest.is_red:
        stale = ", a file changed since" if newest.is_stale else ""
        return SafeText(f"tests ✓ {words}{stale}"), Outcome.SUCCEEDED
    first = newest
    for each in reversed(verdicts):
        if not each.is_red:
            break
        first = each
    since = f"since #{first.number}" if first is not newest else f"#{newest.number}"
    return SafeText(f"tests ✗ {words} {since}"), Outcome.FAILED


def _name(call: Call) -> SafeText:
    """Return a few words for a call: `npm run build`, `git push`, `edit nearest.py`."""
    if call.kind is ToolKind.EXECUTE:
        words = [*takewhile(lambda word: not word.startswith("-"), shown_target(call).split()[:_MOST_WORDS])]
        return cut(safe_line(" ".join(words) or call.tool), _MOST_NAME)
    what = call.path.replace("\\", "/").rpartition("/")[2] if call.path else shown_target(call)
    return cut(safe_line(f"{call.tool} {what}".rstrip()), _MOST_NAME)
