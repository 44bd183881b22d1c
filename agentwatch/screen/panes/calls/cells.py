"""The result of a call in few words: its test verdict, its outcome, or what else is known about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING

from textual.widget import Widget

from agentwatch.feed.feed import Feed
from agentwatch.session.actions import shown_note, shown_target
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text.amounts import line_counts
from agentwatch.text.safe import SafeText, columns, cut, cut_middle, fitting
from agentwatch.text.signs import EIGHTHS, MINUS, SIGNS

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import Verdict


MOST_SUMMED_UP = 200
"""Rows that fold more calls than this show no totals: summing them on each draw would cost O(calls)."""
_MOST_COLUMNS = 16
"""The width that a long note may take from the target."""
_LEAST_COLUMNS = 5
"""Minimum width of a note; below it, the target gets the whole width."""
_WORD = 9
"""Notes of at most this width (`rejected`) are shown whole or not at all."""
_LEAST_TARGET = 14
_LEAST_WITH_SOURCE = 40
"""Columns of the target beside which a verdict is shown with its source, if the target needs fewer."""
_LEAST_FOR_WIDE_GAP = 26
"""Columns of target and result below which every column is needed for text."""
_NEAR_A_WORD = 8
"""Minimum target width beside the note of a call that did not succeed."""


def gap(room: int) -> int:
    """Return the blanks between a target and its result, which share `room` columns: 2, or 1 if narrow."""
    return 2 if room >= _LEAST_FOR_WIDE_GAP else 1


def short_note(call: Call) -> SafeText:
    """Return the outcome, the reason of a failure, or what else is known: `exit 1`, `+8 −3`, `54 lines`."""
    if call.outcome is Outcome.FAILED and call.exit_code:
        return SafeText(f"exit {call.exit_code}")
    note = shown_note(call)
    return SafeText(note.removeprefix("failed: "))  # the sign of the row says that it failed


def note_of(calls: Sequence[Call]) -> SafeText:
    """Return the note of a row; for several calls, the sum of their changed lines."""
    call = calls[-1]
    if len(calls) == 1:
        return short_note(call)
    if len({each.note for each in islice(calls, MOST_SUMMED_UP)}) > 1 or len(calls) > MOST_SUMMED_UP:
        return SafeText("")
    if call.lines_added is None and call.lines_removed is None:
        return short_note(call)
    added = sum(each.lines_added or 0 for each in calls)
    removed = sum(each.lines_removed or 0 for each in calls)
    return SafeText(line_counts(added, removed, MINUS))


def fitting_note(note: SafeText, name_width: int, room: int, *, is_urgent: bool) -> SafeText:
    """Return as much of a note as fits beside the target; empty if the target needs the room. `name_width` is
    what the whole target needs, and `room` what both share with a gap, in columns. `is_urgent` says whether
    the note matters more than the end of a long target."""
    if columns(note) <= _WORD:
        least = _NEAR_A_WORD if is_urgent else max(_LEAST_TARGET, room - _MOST_COLUMNS)
        return note if room - columns(note) - gap(room) >= min(name_width, least) else SafeText("")
    left = room - min(name_width, max(_LEAST_TARGET, room - _MOST_COLUMNS)) - gap(room)
    return cut(note, min(columns(note), left)) if left >= _LEAST_COLUMNS - 1 else SafeText("")


def fitting_verdict(verdict: Verdict, name_width: int, room: int) -> SafeText:
    """Return a verdict with its sign, in the longest form that fits beside the target; empty if none does.
    The longest form has the source: `✗ 1 failed, 4 passed (pattern)`. It is shown only beside a whole target.
    `name_width` is what the whole target needs, and `room` what both share with a gap, in columns."""
    whole = SafeText(_lead(verdict) + verdict.words_and_source)
    if room - columns(whole) - gap(room) >= max(name_width, _LEAST_WITH_SOURCE):
        return whole
    for words in _shorter_forms(verdict):
        if room - columns(words) - gap(room) >= min(name_width, _LEAST_TARGET):
            return words
    return SafeText("")


def fitting_result(
    calls: Sequence[Call], verdict: Verdict | None, name_width: int, room: int, *, is_fold: bool = False
) -> tuple[SafeText, str]:
    """Return as much of the result of a row as fits beside its target, and the name of its style. `verdict`
    is None if the last call has none, or if it is not known yet. `name_width` is what the whole target needs,
    and `room` what both share with a gap, in columns. `is_fold` says whether the row folds several calls."""
    call = calls[-1]
    if verdict is not None and (words := fitting_verdict(verdict, name_width, room)):
        style = "failed" if verdict.is_red else "succeeded" if verdict.is_green else "unfinished"
        return words, style
    is_urgent = call.outcome is not Outcome.SUCCEEDED and not is_fold
    style = "muted" if call.outcome is Outcome.SUCCEEDED else str(call.outcome)
    return fitting_note(note_of(calls), name_width, room, is_urgent=is_urgent), style


def _lead(verdict: Verdict) -> str:
    sign = SIGNS[Outcome.FAILED if verdict.is_red else Outcome.SUCCEEDED]
    return f"{sign} " if verdict.is_red or verdict.is_green else ""


def _shorter_forms(verdict: Verdict) -> Iterator[SafeText]:
    words = verdict.words
    while words:
        yield SafeText(_lead(verdict) + words)
        words = words.rpartition(", ")[0]


# The target of a call as the table shows it: without what is known already, and cut where rows are alike.

_LEAST_SHARED = 8
"""A shorter common beginning is not cut out: the cut would save too little."""
_ADDRESS = re.compile(r"\A[a-z]{1,20}+://\S{1,2000}+$")


def fitting_target(call: Call, width: int, near: Callable[[], Sequence[SafeText]]) -> SafeText:
    """Return the target of a call in at most `width` columns. `width` is in columns, at least 1. `near`
    returns the targets from which a cut target has to differ."""
    shown = shown_target(call)
    if columns(shown) <= width:
        return shown
    if call.more_paths:
        shown = SafeText(", ".join(path.rpartition("/")[2] for path in shown.split(", ")))
    is_path = (call.path is not None or _ADDRESS.match(shown) is not None) and not call.more_paths
    return cut_apart(shown, near(), width, is_path=is_path)


def cut_apart(text: SafeText, near: Sequence[SafeText], width: int, *, is_path: bool) -> SafeText:
    """Return a target in at most `width` columns, cut so that it differs from the targets near it.

    A path loses folders from its middle, other targets lose their end. If the cut hides what differs, what
    the target shares with a near one is cut out instead: `pytest tests/unit/test_a.py` near
    `pytest tests/unit/test_b.py` is `pytest …test_a.py`. A command always begins with its program. `width` is
    in columns, at least 1. `is_path` says whether the target is a path or an address.
    """
    if columns(text) <= width:
        return text
    others = [other for other in near if other != text]
    if is_path:
        plain = cut_middle(text, width)
        twins = [other for other in others if cut_middle(other, width) == plain]
        return _cut_folders(text, twins[0], width) if twins else plain
    shared = max((_shared(text, other) for other in others), default=0)
    begin = max(text.rfind(" ", 0, shared), text.rfind("/", 0, shared)) + 1
    end = text.find(" ", shared)
    differing = text if end < 0 else SafeText(text[:end])
    if begin < _LEAST_SHARED or columns(differing) < width or width < _LEAST_SHARED:
        return cut(text, width)
    rest, program = SafeText(text[begin:]), SafeText(text[: text.find(" ") + 1])
    room = max(width - 1 - columns(rest), columns(program))
    head = text[: fitting(text, 0, room)]
    head = head[: max(head.rfind(" "), head.rfind("/")) + 1]
    left = width - 1 - columns(SafeText(head))
    if not program or len(head) >= begin or left < _LEAST_SHARED:
        return cut(text, width)
    return SafeText(f"{head}…{cut(rest, left)}")


def _shared(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _cut_folders(path: SafeText, other: SafeText, width: int) -> SafeText:
    """Return a path that shows its first folder that is not in another path."""
    parts, others = path.split("/"), other.split("/")
    pairs = zip(parts, others, strict=False)
    first = next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(parts), len(others)) - 1)
    whole = "/".join(parts[first:])
    short = f"{parts[first]}/…/{parts[-1]}" if first < len(parts) - 2 else whole
    lead = "…/" if first else ""
    for shown in (whole, short):
        if columns(SafeText(lead + shown)) <= width:
            return SafeText(lead + shown)
    return cut(SafeText(lead + short), width)


# The time strip: a thin bar that shows when each call ran, relative to the calls in view.
# Parallel calls and waiting times are visible in it. The bars use the agent's clock. A time that is known
# only by agentwatch's clock is shifted by the offset between the two clocks, so that the two ends of a bar
# are never measured by different clocks.

_LEAST_MS = 10_000
_MOST_MS = 10**13

Scales = dict[int, tuple[int, int]]
"""By the number of a run: the time at which its strip begins, in ms since the epoch by the agent's clock or,
if that is unknown, by agentwatch's clock; and the duration that the strip covers, in ms.
"""


class TimeStrip:
    """Draws when calls ran, relative to the other calls in view."""

    def __init__(self) -> None:
        self._ahead_ms: dict[int, int | None] = {}
        """By the number of a run in which the agent gave times: its clock minus agentwatch's clock; None
        while that is unknown.
        """
        self._firsts: dict[int, tuple[int, int]] = {}
        """By the number of a run: the number of its first call with a time of the agent, and of the first
        call that shows the difference of the clocks.
        """

    def prefix(self, calls: int) -> TimeStrip:
        """Return the strip of the first calls."""
        prefix = TimeStrip()
        for run, (timed, compared) in self._firsts.items():
            if timed <= calls:
                prefix._ahead_ms[run] = self._ahead_ms[run] if compared <= calls else None
                prefix._firsts[run] = timed, compared
        return prefix

    def add(self, call: Call) -> None:
        """Compare the two clocks by the times of a new or changed call."""
        for at_ms, place in ((call.started_ms, call.started), (call.ended_ms, call.ended)):
            if at_ms is not None and self._ahead_ms.get(call.run) is None:
                seen_ms = None if place is None else place.seen_ms
                self._ahead_ms[call.run] = None if seen_ms is None else at_ms - seen_ms
                timed, _ = self._firsts.get(call.run, (call.number, 0))
                self._firsts[call.run] = timed, call.number

    def scales(self, calls: Iterable[Call], now_ms: int | None) -> Scales:
        """Return the scale of each run, from the beginning of its first call to the end of its last one.
        While one of the calls is running, the duration grows in steps of a half, so that the bars rarely
        move. Running calls end at `now_ms`."""
        extents: Scales = {}
        growing = set()
        for call in calls:
            begin_ms, end_ms = self._times(call, now_ms)
            if begin_ms is None or end_ms is None:
                continue
            first_ms, last_ms = extents.get(call.run, (begin_ms, end_ms))
            extents[call.run] = min(first_ms, begin_ms), max(last_ms, end_ms)
            if call.outcome is Outcome.RUNNING:
                growing.add(call.run)
        for run, (first_ms, last_ms) in extents.items():
            length_ms = min(max(last_ms - first_ms, 1), _MOST_MS)
            extents[run] = first_ms, _grown(length_ms) if run in growing else length_ms
        return extents

    def bar(self, calls: Sequence[Call], width: int, scales: Scales, now_ms: int | None) -> SafeText:
        """Return the bar of one or more calls of the same run. A call whose end is unknown is drawn only
        where it began. Running calls end at `now_ms`."""
        scale = scales.get(calls[0].run)
        if scale is None:
            return SafeText(" " * width)
        first_ms, length_ms = scale
        eighths = bytearray(width * 8)
        for call in calls:
            begin_ms, end_ms = self._times(call, now_ms)
            if begin_ms is not None and end_ms is not None:
                begin = min(max((begin_ms - first_ms) * width * 8 // length_ms, 0), width * 8 - 1)
                end = min(max((end_ms - first_ms) * width * 8 // length_ms, begin + 1), width * 8)
                eighths[begin:end] = b"\1" * (end - begin)
        first, last = eighths.find(1) // 8, eighths.rfind(1) // 8
        if first < 0:
            return SafeText(" " * width)
        blocks = "".join(_block(eighths[at * 8 : at * 8 + 8]) for at in range(first, last + 1))
        return SafeText(f"{' ' * first}{blocks}{' ' * (width - last - 1)}")

    def _times(self, call: Call, now_ms: int | None) -> tuple[int | None, int | None]:
        """Return when a call began and ended; both are equal if only one is known, None if none is."""
        begin_ms = self._time_ms(call.run, call.started_ms, call.started)
        end_ms = self._time_ms(call.run, call.ended_ms, call.ended)
        if call.outcome is Outcome.RUNNING:
            end_ms = _now_ms(call, begin_ms, now_ms)
        if begin_ms is None or (call.ended and call.started is None):
            begin_ms = end_ms
        return begin_ms, begin_ms if end_ms is None else end_ms

    def _time_ms(self, number: int, at_ms: int | None, place: Place | None) -> int | None:
        """Return a time by the agent's clock if the agent gave it or the clocks can be compared.

        In a run without any time by the agent, it is a time by agentwatch's clock.
        """
        if at_ms is not None or place is None or place.seen_ms is None:
            return at_ms
        if number not in self._ahead_ms:
            return place.seen_ms
        ahead_ms = self._ahead_ms[number]
        return None if ahead_ms is None else place.seen_ms + ahead_ms


def _now_ms(call: Call, begin_ms: int | None, now_ms: int | None) -> int | None:
    """Return the current end of a running call: its beginning plus the time that has passed since."""
    if begin_ms is None or now_ms is None or call.started is None or call.started.seen_ms is None:
        return begin_ms
    return begin_ms + max(now_ms - call.started.seen_ms, 0)


def _grown(length_ms: int) -> int:
    shown_ms = _LEAST_MS
    while shown_ms < length_ms:
        shown_ms += shown_ms // 2
    return shown_ms


def _block(eighths: bytearray) -> str:
    """Return the block character that best shows which eighths of a column are filled."""
    count = eighths.count(1)
    if not eighths[0] and (eighths[7] or eighths.find(1) >= 4):
        # For the right side, only the eighth, half and full blocks exist.
        return "█" if count > 5 else "▐" if count > 2 else "▕" if count else " "
    return EIGHTHS[count]


# The test verdicts of the calls that are drawn, read from the recording when they are needed.

_SLICE_SECONDS = 0.004
_MOST_KEPT = 4096
_MOST_WANTED = 256


class VerdictCache:
    """Returns the verdicts that are known, and reads the others after the frame that wanted them.

    Reading the output of a call takes 0.1 ms, of a line of 1 MiB 4 ms. A frame is therefore drawn without the
    verdicts that are not known yet. They are read for 4 ms at a time between frames. `redraw` is called when
    wanted verdicts have become known.
    """

    def __init__(self, feed: Feed, widget: Widget, redraw: Callable[[], object]) -> None:
        self._feed = feed
        self._widget = widget
        self._redraw = redraw
        self._known: dict[int, Verdict | None] = {}
        """By the number of the call. A call that has ended does not change."""
        self._wanted: dict[int, Call] = {}
        self._is_reading = False

    def get(self, call: Call) -> Verdict | None:
        """Return the verdict on a call; None without a verdict, and until it is known."""
        if call.kind is not ToolKind.EXECUTE or call.ended is None:
            return None
        if call.number not in self._known:
            self._want(call)
            return None
        return self._known[call.number]

    def read(self) -> None:
        """Read wanted verdicts for 4 ms, the last first; continue after the next frame if any are left."""
        from agentwatch.analysis.verdict_history import call_verdict

        until = perf_counter() + _SLICE_SECONDS
        has_news = False
        while self._wanted and perf_counter() < until:
            _, call = self._wanted.popitem()
            found = call_verdict(self._feed, call)
            has_news |= found is not None
            self._keep(call.number, found)
        self._is_reading = False
        if has_news:
            self._redraw()
        if self._wanted:
            self._start()

    def _want(self, call: Call) -> None:
        if len(self._wanted) >= _MOST_WANTED:
            self._wanted.clear()  # the user scrolls faster than they are read: only the last frame counts
        self._wanted[call.number] = call
        if not self._is_reading:
            self._start()

    def _start(self) -> None:
        self._is_reading = True
        self._widget.set_timer(0.001, self.read)

    def _keep(self, number: int, found: Verdict | None) -> None:
        if len(self._known) >= _MOST_KEPT:
            del self._known[next(iter(self._known))]
        self._known[number] = found
