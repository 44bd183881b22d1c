"""Makes the episodes of a list from the counted failures, cycles, reads and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentwatch.actions import shown_target, target
from agentwatch.analysis.episodes.cycles import Row
from agentwatch.analysis.episodes.episode import Episode, EpisodeKind, duration_ms
from agentwatch.analysis.episodes.rereads import Reading
from agentwatch.analysis.episodes.touched import File
from agentwatch.analysis.episodes.tries import Failing
from agentwatch.events import Outcome
from agentwatch.session import Call, Session
from agentwatch.text.safe import SafeText, cut, safe_line

_COLUMNS = 200


def failures_and_cycles(
    session: Session, failing: Iterable[Failing], rows: Iterable[Row]
) -> Iterator[Episode]:
    """Yield an episode for each failure, and for each row of cycles that belongs to no failure."""
    own: dict[int, list[Row]] = {}
    others: list[Row] = []
    for row in rows:
        (others if row.tried is None else own.setdefault(row.tried, [])).append(row)
    for each in failing:
        rest: list[Row] = []
        cycles = 0
        for row in own.get(each.tried, ()):
            if row.first <= each.last and each.first <= row.last:
                cycles = max(cycles, row.cycles)
            else:
                rest.append(row)
        own[each.tried] = rest
        yield _failure(session, each, cycles)
    for row in (*others, *(row for left in own.values() for row in left)):
        yield _cycles(session, row)


def reading(session: Session, found: Reading) -> Episode:
    """Return the episode of a file that was read again and again."""
    subject = _path(session.calls[found.first - 1])
    is_over = _is_over(session)
    return Episode(
        EpisodeKind.REREAD,
        found.first,
        found.last,
        found.times,
        None,
        is_over,
        is_fixed=False,
        subject=subject,
    )


def of_file(session: Session, file: File, kind: EpisodeKind) -> Episode:
    """Return the episode of a file that was edited back to the start, or edited without reading."""
    last = file.last_change if kind is EpisodeKind.BACK else file.first_change
    changes = file.changes if kind is EpisodeKind.BACK else 1
    subject = cut(safe_line(file.shown), _COLUMNS)
    return Episode(
        kind, file.first_change, last, changes, None, _is_over(session), is_fixed=False, subject=subject
    )


def _failure(session: Session, failing: Failing, cycles: int) -> Episode:
    first, last = session.calls[failing.first - 1], session.calls[failing.last - 1]
    return Episode(
        kind=EpisodeKind.FAILURE,
        first=failing.first,
        last=failing.last,
        tries=failing.tries,
        duration_ms=duration_ms(first, last),
        is_over=failing.is_fixed or _is_over(session),
        is_fixed=failing.is_fixed,
        subject=_subject(first),
        cycles=cycles,
    )


def _cycles(session: Session, row: Row) -> Episode:
    first, last = session.calls[row.first - 1], session.calls[row.last - 1]
    return Episode(
        kind=EpisodeKind.CYCLES,
        first=row.first,
        last=row.last,
        tries=row.cycles,
        duration_ms=duration_ms(first, last),
        is_over=row.is_green or _is_over(session),
        is_fixed=row.is_green,
        subject=_subject(last),
    )


def _is_over(session: Session) -> bool:
    return session.outcome is not Outcome.RUNNING


def _subject(call: Call) -> SafeText:
    return shown_target(call) or target(call) or _path(call)


def _path(call: Call) -> SafeText:
    return cut(safe_line(call.target or call.path or call.tool), _COLUMNS)
