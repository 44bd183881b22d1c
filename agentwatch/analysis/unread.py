"""What happened in a session since a moment: counts, open failures and changed verdicts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from agentwatch.analysis.episodes import Episode, Episodes, for_reading
from agentwatch.analysis.files import TouchedFile, TouchedFiles
from agentwatch.analysis.shell import only_reads, parts_of
from agentwatch.analysis.unread_counts import Happened, Mark, happened, mark, new_turns
from agentwatch.analysis.verdict_history import call_verdict, changed_files
from agentwatch.analysis.verdicts import Verdict
from agentwatch.feed.feed import Feed, Timeline
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from agentwatch.text.amounts import line_counts, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns
from agentwatch.text.signs import MINUS

# The failures that are still open: failed calls that were not repeated successfully.

_MOST_OPEN = 1000


class OpenFailure(NamedTuple):
    """A call that failed, and did not succeed when it was repeated."""

    call: Call
    """The last of the failed calls."""
    times: int


class OpenFailures:
    """The failed calls whose repetition has not succeeded; at most the newest 1,000. A call repeats another
    one if both have the same kind, tool and target. A repetition that was rejected, was cancelled or has no
    known outcome leaves the failure open."""

    def __init__(self) -> None:
        self._open: dict[tuple[ToolKind, str, str], OpenFailure] = {}

    def add(self, call: Call) -> None:
        """Add an ended call; calls are added in the order in which they ended."""
        if call.outcome is not Outcome.FAILED and call.outcome is not Outcome.SUCCEEDED:
            return
        key = (call.kind, call.tool, call.target or call.path or "")
        before = self._open.pop(key, None)
        if call.outcome is Outcome.FAILED:
            self._open[key] = OpenFailure(call, 1 if before is None else before.times + 1)
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]

    def newest_first(self) -> list[OpenFailure]:
        """Return the open failures; the call that failed last is the first."""
        return list(reversed(self._open.values()))


# How the verdicts of tests, linters and builds changed since a moment.

MOST_READ = 300
"""The number of newest commands whose output is read: 0.1 ms each, for a line of 1 MiB 4 ms."""
MOST_BEFORE = 200
"""The number of calls before the moment among which the verdict of that moment is searched."""


class VerdictChange(NamedTuple):
    """The first and last verdict of one tool."""

    tool: str
    """The tool whose verdicts they are: `pytest`, `cargo`."""
    before: Verdict
    """The tool's last verdict before the moment; if none is known, the first one after it."""
    after: Verdict
    """The tool's last verdict."""
    runs: int
    """The number of its verdicts since the moment."""
    call: Call
    """The call with the last verdict."""


@dataclass(slots=True)
class _OfTool:
    """The verdicts of one tool, with the positions of their calls among the ended ones."""

    before: tuple[int, Verdict] | None = None
    first: tuple[int, Verdict] | None = None
    last: tuple[int, Verdict, Call] | None = None
    runs: int = 0


class VerdictChanges:
    """The changes of verdicts by tool since `first` calls had ended, read one at a time."""

    def __init__(self, feed: Feed, first: int) -> None:
        self._feed = feed
        self._first = first
        self._unread: deque[tuple[int, Call]] = deque(maxlen=MOST_READ)
        self._tools: dict[str, _OfTool] = {}

    def add(self, position: int, call: Call) -> None:
        """Add an ended call at its position among the ended ones, if it may have a verdict."""
        if call.kind is not ToolKind.EXECUTE or call.ended is None:
            return
        if call.target and not only_reads(parts_of(call.target)):
            self._unread.append((position, call))

    def read_one(self) -> bool:
        """Read the output of the newest unread command; return whether there was one."""
        if not self._unread:
            return False
        position, call = self._unread.pop()
        found = call_verdict(self._feed, call)
        if found is not None and (found.is_red or found.is_green):
            self._keep(position, call, found)
        return True

    def changes(self) -> list[VerdictChange]:
        """Return the change of each tool with a verdict since the moment; the red ones first, then newest."""
        found = []
        for name, tool in self._tools.items():
            if tool.first is not None and tool.last is not None:
                before = tool.before or tool.first
                change = VerdictChange(name, before[1], tool.last[1], tool.runs, tool.last[2])
                found.append((not change.after.is_red, -tool.last[0], change))
        return [change for *_, change in sorted(found, key=lambda each: each[:2])]

    def _keep(self, position: int, call: Call, found: Verdict) -> None:
        tool = self._tools.setdefault(found.tool, _OfTool())
        if position < self._first:
            if tool.before is None or position > tool.before[0]:
                tool.before = position, found
            return
        tool.runs += 1
        if tool.first is None or position < tool.first[0]:
            tool.first = position, found
        if tool.last is None or position > tool.last[0]:
            tool.last = position, found, call


@dataclass(slots=True)
class KindCount:
    last: Call
    """The one that ended last."""
    calls: int = 0
    failed: int = 0


class Digest:
    """The calls that ended since a moment: by kind, by file, open failures, verdicts, and trouble."""

    def __init__(self, feed: Feed, since: Mark) -> None:
        self.since = since
        self.failures = OpenFailures()
        self.verdicts = VerdictChanges(feed, since.ended_calls)
        self.kinds: dict[ToolKind, KindCount] = {}
        self._session = feed.session
        self._touched = TouchedFiles(feed.session, since.ended_calls)
        self._episodes = Episodes(feed)
        self._next = max(since.ended_calls - MOST_BEFORE, 0)
        """The position of the next call that is read; calls before the moment are read for their verdicts."""

    def update(self, most: int = 200) -> bool:
        """Read some ended calls, or else one output or one file; return whether more may be left."""
        ended = self._session.ended_calls
        end = min(self._next + most, len(ended))
        for position in range(self._next, end):
            self._add(position, ended[position])
        self._next = end
        self._touched.update(most)  # it begins with the moment, so it ends no later
        is_more = self._episodes.update(most)  # it begins with the session: an episode may have begun before
        return end < len(ended) or is_more or self.verdicts.read_one() or self._episodes.read_one()

    @property
    def happened(self) -> Happened:
        return happened(self._session, self.since)

    @property
    def turns(self) -> int:
        return new_turns(self._session, self.since)

    @property
    def open_failures(self) -> list[OpenFailure]:
        """Return the open failures, the newest first. A search without a match is not a failure."""
        no_match = self._episodes.no_match
        return [each for each in self.failures.newest_first() if each.call.number not in no_match]

    @property
    def changed_files(self) -> list[TouchedFile]:
        """The files that were changed, created or deleted, the last one first."""
        return [file for file in self._touched.newest_first() if file.is_changed]

    @property
    def read_files(self) -> list[TouchedFile]:
        """The files that were read and not changed, the last one first."""
        return [file for file in self._touched.newest_first() if file.is_read and not file.is_changed]

    @property
    def episodes(self) -> list[Episode]:
        """The trouble with a call since the moment; what is not fixed first, then the newest."""
        offset, calls = self.since.offset, self._session.calls
        found = self._episodes.episodes()
        return for_reading(
            [each for each in found if (ended := calls[each.last - 1].ended) and ended.offset >= offset]
        )

    def call(self, number: int) -> Call:
        return self._session.calls[number - 1]

    @property
    def running(self) -> list[Call]:
        """The calls that have started and not ended, in the order of their starts."""
        return [*self._session.open_calls.values()]

    def _add(self, position: int, call: Call) -> None:
        self.verdicts.add(position, call)
        if position < self.since.ended_calls:
            return
        self.failures.add(call)
        count = self.kinds.setdefault(call.kind, KindCount(call))
        count.last = call
        count.calls += 1
        count.failed += call.outcome is Outcome.FAILED


# How fast the part of a recording since a moment must be played to last half a minute.

SECONDS = 30
_MOST_SPEED = 64
_LEAST_IDLE_MS = 1000
_LEAST_STEP_MS = 1000
_MOST_STEPS = 4096
"""The number of parts in which silences are searched. In 8 hours, a part lasts 7 s."""


class Play(NamedTuple):
    """A part of a recording to be played from an offset on."""

    from_offset: int
    """The moment with which it begins: a number of bytes."""
    speed: int
    """Recorded seconds per second of real time: a power of two from 1 to 64."""
    max_idle: int | None
    """The duration to which longer silences are shortened, in recorded seconds; None if none needs to be."""
    seconds: int
    """The real time that it takes, rounded up. With shortened silences it is at most this."""


def play_missed(timeline: Timeline, start: int, end: int) -> Play | None:
    """Return how a part of a recording is played in 30 seconds; None if its times are unknown. The speed is
    the recorded duration divided by 30 s, rounded up to a power of two. If 64 does not suffice, silences are
    shortened only as much as necessary, and to no less than one second."""
    end_ms, start_ms = timeline.ms_at(end), timeline.ms_at(start)
    if start_ms is None:
        start_ms = timeline.first_ms
    if start_ms is None or end_ms is None:
        return None
    duration_ms = max(end_ms - start_ms, 0)
    speed = 1
    while speed < _MOST_SPEED and duration_ms > speed * SECONDS * 1000:
        speed *= 2
    budget_ms = speed * SECONDS * 1000
    if duration_ms <= budget_ms:
        return Play(start, speed, None, -(-duration_ms // (speed * 1000)))
    silences = sorted(_silences(timeline, start_ms, end_ms))
    idle_ms = _shortest(silences, budget_ms - (duration_ms - sum(silences)))
    played_ms = duration_ms - sum(max(silence - idle_ms, 0) for silence in silences)
    return Play(start, speed, idle_ms // 1000, -(-played_ms // (speed * 1000)))


def _shortest(silences: list[int], rest_ms: int) -> int:
    """Return the duration at which silences cut to it last at most `rest_ms` together; whole seconds, in ms.
    `silences` are in ascending order, and together last longer than `rest_ms`."""
    left = len(silences)
    for silence in silences:
        if silence * left > rest_ms:
            break
        rest_ms -= silence
        left -= 1
    return max(rest_ms // max(left, 1) // 1000 * 1000, _LEAST_IDLE_MS)


def _silences(timeline: Timeline, start_ms: int, end_ms: int) -> Iterator[int]:
    """Yield the durations of the silences between two times, each too short by at most two steps. The step is
    a second, or the 4,096th part of the time. The cost is at most 4,096 steps, and for each silence the
    logarithm of its duration."""
    step = max((end_ms - start_ms) // _MOST_STEPS, _LEAST_STEP_MS)
    at = start_ms
    while at < end_ms:
        offset, quiet, later = timeline.offset_at(at), at, min(at + step, end_ms)
        while timeline.offset_at(later) == offset and later < end_ms:
            quiet, later = later, min(later + 2 * (later - at), end_ms)
        while later - quiet > step:
            middle = (quiet + later) // 2
            if timeline.offset_at(middle) == offset:
                quiet = middle
            else:
                later = middle
        if quiet > at:
            yield quiet - at
        at = later


# What happened since a moment, in one line.

_NOTHING = SafeText("nothing happened since")


def since_words(session: Session, since: Mark) -> SafeText:
    """Return what happened since a mark: `37 events: 6 calls, 2 failed, 3 files` (changed files only)."""
    new = happened(session, since)
    files = _changed_files(session, since)
    parts = [*_counts(new), plural(files[0], "file") if files[0] else "", ending_words(session, new)]
    words = ", ".join(filter(None, parts))
    if not new.events:
        return SafeText(words) or _NOTHING
    return SafeText(f"{plural(new.events, 'event')}: {words}" if words else plural(new.events, "event"))


def away_summary(session: Session, since: Mark, now_ms: int) -> SafeText:
    """Return what happened while the user was away: `6:12 away: 14 calls, 1 failed`; empty if nothing did."""
    new = happened(session, since)
    if new.is_nothing:
        return SafeText("")
    count, added, removed = _changed_files(session, since)
    files = plural(count, "file") if count else ""
    changed = " ".join(filter(None, (files, line_counts(added or None, removed or None, MINUS))))
    words = ", ".join(filter(None, (*_counts(new), changed, ending_words(session, new))))
    span = duration_words(now_ms - (now_ms if since.at_ms is None else since.at_ms))
    return SafeText(f"{span} away: {words or plural(new.events, 'event')}")


def behind_words(shown: Session, live: Session, lead: SafeText, width: int) -> SafeText:
    """Return how far an earlier moment is behind the live end, in the longest form that fits: `‖ as of
    09:14:31 · 37 events, 6 calls, 1 failure behind live`, or only the lead. The cost is constant."""
    new = happened(live, mark(shown, 0, None))
    failed = new.outcomes.get(Outcome.FAILED, 0)
    calls = plural(new.calls, "call") if new.calls else ""
    events = plural(new.events, "event")
    parts = ", ".join(filter(None, (events, calls, plural(failed, "failure") if failed else "")))
    end, short = ("before the end", "left") if live.is_closed else ("behind live", "behind")
    forms = (
        f"{lead} · {parts} {end}",
        f"{lead} · {events} {end}",
        f"{lead} · {new.events:,} {short}",
    )
    return next((SafeText(form) for form in forms if columns(SafeText(form)) <= width), lead)


_OVER = {
    Outcome.SUCCEEDED: "the run succeeded",
    Outcome.FAILED: "the run failed",
    Outcome.CANCELLED: "the run was cancelled",
    Outcome.UNFINISHED: "the run ended without a result",
}


def ending_words(session: Session, new: Happened) -> str:
    """Return how the run ended, if it has ended since: `the run failed`; otherwise an empty string."""
    if new.ending is None:
        return ""
    is_silent = new.ending is Outcome.UNFINISHED and not session.traits.has_result
    if session.outcome is not session.result_outcome:
        return f"the run failed: {session.outcome_words}"
    return "the run ended" if session.outcome is None or is_silent else _OVER[new.ending]


def _counts(new: Happened) -> list[str]:
    calls = [plural(new.calls, "call")] if new.calls else []
    return calls + [f"{count:,} {outcome}" for outcome, count in new.outcomes.items()]


def _changed_files(session: Session, since: Mark) -> tuple[int, int, int]:
    """Return the number of files that were changed since a mark, and of their added and removed lines. The
    number is 0 after more than 5,000 calls: the line is shown at once."""
    files, is_complete = changed_files(session, since.ended_calls, len(session.ended_calls))
    if not is_complete:
        return 0, 0, 0
    added = sum(file.lines_added or 0 for file in files)
    return len(files), added, sum(file.lines_removed or 0 for file in files)
