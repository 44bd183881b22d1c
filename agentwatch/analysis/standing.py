"""What is left of a session's work at each of its moments: failures still open, and changed files."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile
from time import perf_counter
from typing import NamedTuple

from agentwatch.analysis.episodes import finds_nothing, test_command
from agentwatch.analysis.files import FileAction, file_action_of, named
from agentwatch.analysis.since import OpenFailures
from agentwatch.analysis.verdict_history import CallVerdict
from agentwatch.session.actions import shown_target
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText, cut, safe_line

_CHANGES = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)
_MOST = (1 << 64) - 1


class Standing(NamedTuple):
    """What is left at a moment."""

    failures: int = 0
    """The failed calls that were not repeated successfully; no test runs, and no searches without a match."""
    newest: int = 0
    """The number of the one that failed last; 0 without one."""
    files: int = 0
    """The files that were edited, created, deleted or moved."""
    added: int = 0
    removed: int = 0


_FIELDS = len(Standing._fields) + 1


class Standings:
    """The standing after each ended call of a session that changed it: 48 bytes for each such call."""

    def __init__(self, session: Session) -> None:
        """Create it for the live session, without having read a call."""
        self._session = session
        self._read = 0
        self._failures = OpenFailures()
        self._files: set[str] = set()
        self._last = Standing()
        self._rows = array("Q")
        """For each change, the number of calls that had ended with it, and the standing."""

    def update(self, seconds: float) -> bool:
        """Read calls that have ended, for about this time; return whether more are left."""
        ended, until = self._session.ended_calls, perf_counter() + seconds
        while self._read < len(ended):
            call = ended[self._read]
            self._read += 1
            after = self._after(call)
            if after != self._last:
                self._last = after
                self._rows.extend((self._read, *after))
            if perf_counter() >= until:
                break
        return self._read < len(ended)

    def at(self, ended: int) -> Standing:
        """Return the standing when `ended` calls had ended."""
        rows = self._rows
        row = bisect_right(range(len(rows) // _FIELDS), ended, key=lambda each: rows[each * _FIELDS])
        return Standing(*rows[row * _FIELDS - _FIELDS + 1 : row * _FIELDS]) if row else Standing()

    def _after(self, call: Call) -> Standing:
        """Return the standing after a call that has ended."""
        last, command = self._last, call.target or ""
        is_shell = call.kind is ToolKind.EXECUTE
        is_search = is_shell and call.exit_code == 1 and finds_nothing(command)
        if not is_search and not (is_shell and test_command(command)):
            self._failures.add(call)
            newest = self._failures.newest
            last = last._replace(
                failures=len(self._failures), newest=0 if newest is None else newest.call.number
            )
        if call.kind in _CHANGES and file_action_of(call) is not FileAction.TRIED:
            cwd = self._session.runs[call.run - 1].cwd
            self._files.update(named(path, cwd)[0] for path in (call.path, *call.more_paths) if path)
            last = last._replace(
                files=len(self._files),
                added=min(last.added + (call.lines_added or 0), _MOST),
                removed=min(last.removed + (call.lines_removed or 0), _MOST),
            )
        return last


# The standing in words.

_MOST_NAME, _MOST_WORDS = 24, 3


def standing_words(
    session: Session, standing: Standing, verdicts: Sequence[CallVerdict]
) -> Iterator[tuple[SafeText, Outcome | None]]:
    """Yield what is left in words, the most important first, each with the outcome whose colour it has.

    Examples: `tests ✗ 1 failed since #270`, `git push failed #251 and 1 more`, `15 files +92 −46`.

    Args:
        session: The session at the moment.
        standing: Its standing.
        verdicts: The verdicts of the test runs up to this moment, the newest last.
    """
    if verdicts:
        yield _tests(verdicts)
    if standing.newest and standing.newest <= len(session.calls):
        more = f" and {standing.failures - 1:,} more" if standing.failures > 1 else ""
        call = session.calls[standing.newest - 1]
        yield SafeText(f"{_name(call)} failed #{call.number}{more}"), Outcome.FAILED
    if standing.files:
        size = f" +{standing.added:,} −{standing.removed:,}" if standing.added or standing.removed else ""
        yield SafeText(f"{standing.files:,} file{'s' * (standing.files != 1)}{size}"), None


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
