"""The time bar: its parts, its axis, the moments of calls, and a bar that moves."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import pytest

from agentwatch.analysis.time_bar import Axis, Bar, CallMoments, Cell, Kind, Moments
from agentwatch.session.call import Place
from agentwatch.session.events import Event, Outcome, RunStarted, ToolEnded, ToolKind, ToolStarted
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from agentwatch.session.storage import Spill
from tests.conftest import case


def bar_of(made: Recorded, width: int) -> Bar:
    """Return the bar of a recording, laid out after all calls were read."""
    bar = Bar(made.session, Axis(made))
    while bar.calls.update(1):
        pass
    bar.lay_out(width)
    return bar


def text(cells: list[Cell]) -> str:
    """Return the signs of cells."""
    return "".join(cell.sign for cell in cells)


def drawn(
    bar: Bar,
    moment: int,
    bookmarks: Sequence[tuple[int, str]] = (),
    verdicts: Sequence[tuple[int, Kind]] = (),
    failures: Sequence[int] = (),
) -> list[Cell]:
    return bar.cells(bar.cell_of(moment), bookmarks, verdicts, failures=failures)


BEGAN_MS = 1_793_610_000_000
LINE = 99
"""The length of a line; with its line end, 100 bytes."""


class Recorded:
    """A session that grows line by line, and its timeline. The n-th line ends at the moment 100 n."""

    def __init__(self, *, has_times: bool = True) -> None:
        self.session = Session()
        self.has_times = has_times
        self._times: list[int] = []
        self._now_ms = 0
        self._calls = 0
        self.line(0, RunStarted("cursor"))

    @property
    def size(self) -> int:
        """The number of bytes."""
        return (LINE + 1) * len(self._times)

    @property
    def first_ms(self) -> int | None:
        return self._times[0] if self.has_times else None

    @property
    def last_ms(self) -> int | None:
        return self._times[-1] if self.has_times else None

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before a moment."""
        lines = offset // (LINE + 1)
        return self._times[lines - 1] if self.has_times and lines else None

    def offset_at(self, ms: float) -> int:
        """Return the moment after the last line at or before a time."""
        return (LINE + 1) * bisect_right(self._times, ms)

    def line(self, after_ms: int, *events: Event) -> int:
        """Add a line some time after the one before it; return the moment after it."""
        self._now_ms += after_ms
        seen_ms = BEGAN_MS + self._now_ms
        apply_line(self.session, events, Place(self.size, LINE, seen_ms if self.has_times else None))
        self._times.append(seen_ms)
        return self.size

    def start(self, after_ms: int, call_id: str, command: str = "pytest -q") -> int:
        kind = ToolKind.EXECUTE
        return self.line(after_ms, ToolStarted(call_id, "s", "shell", kind, "Ran", command))

    def end(self, after_ms: int, call_id: str, outcome: Outcome = Outcome.SUCCEEDED) -> int:
        return self.line(after_ms, ToolEnded(call_id, "s", "shell", ToolKind.EXECUTE, outcome, "Ran"))

    def call(self, after_ms: int, took_ms: int, outcome: Outcome = Outcome.SUCCEEDED) -> int:
        """Add the two lines of a call; return the moment at which it had ended."""
        self._calls += 1
        self.start(after_ms, f"call-{self._calls}")
        return self.end(took_ms, f"call-{self._calls}", outcome)

    def close(self) -> None:
        close_session(self.session)


def silent() -> Recorded:
    """Return a recording of three lines with 4 minutes of silence before the third."""
    made = Recorded()
    made.line(1000)
    made.line(240_000)
    return made


def test_positions_are_times() -> None:
    """A moment's position is the time of its last line, without times its byte; a recording of one line has
    a scale of length 1, and the length of a silence is exact.
    """
    axis = Axis(silent())
    assert (axis.begin, axis.end) == (BEGAN_MS, BEGAN_MS + 241_000)
    assert [axis.position_of(at) - BEGAN_MS for at in (0, 100, 200, 300)] == [0, 0, 1000, 241_000]
    assert [axis.offset_at(BEGAN_MS + ms) for ms in (-1, 0, 999, 1000, 240_999, 241_000)] == [
        *(0, 100, 100, 200, 200, 300)
    ]
    made = Recorded(has_times=False)
    made.line(1000)
    axis = Axis(made)
    assert not axis.has_times
    assert (axis.begin, axis.end, axis.position_of(100), axis.offset_at(150)) == (0, 200, 100, 150)
    assert axis.offset_at(999) == 200
    assert Axis(Recorded()).length(is_growing=False) == 1
    axis = Axis(silent())
    for moment, position, ms in ((200, axis.end, 240_000), (100, axis.end, 1000), (0, 0, 0)):
        assert axis.silence_ms(moment, position) == ms


WIDTHS = (1, 2, 7, 22, 60, 120, 333)


def generated(seed: int) -> tuple[Recorded, list[int]]:
    """Return a session with calls one after another and at once, silences, and the moments of failures."""
    chance = random.Random(seed)
    made, failures, running = Recorded(has_times=seed % 5 > 0), [], list[str]()
    for number in range(chance.randrange(150)):
        wait_ms = chance.choice([0, 1, 300, 5000, 5000, 400_000])
        what = chance.random()
        if what < 0.4:
            running.append(f"c-{number}")
            made.start(wait_ms, running[-1])
        elif what < 0.8 and running:
            call_id = running.pop(chance.randrange(len(running)))
            outcome = chance.choice([Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED])
            moment = made.end(wait_ms, call_id, outcome)
            failures += [moment] if outcome is Outcome.FAILED else []
        else:
            made.line(wait_ms)
    if seed % 2:
        made.close()
    return made, failures


def test_every_open_failure_is_visible() -> None:
    """At any width and moment, the cell of each open failure has a failure's sign, whatever else is there.
    Failures that were tried again have no sign and no colour: they are calls."""
    seen = 0
    for seed in range(40):
        with case(seed):
            made, failed = generated(seed)
            failures = failed[::2]
            seen += len(failures)
            for width in WIDTHS:
                bar = bar_of(made, width)
                bookmarks = [(moment, "here") for moment in range(100, made.size + 1, 300)]
                kinds = (Kind.RED, Kind.MENDED, Kind.GREEN)
                verdicts = [(moment, kinds[moment % 3]) for moment in range(100, made.size + 1, 200)]
                for moment in (0, made.size // 200 * 100, made.size):
                    cells = drawn(bar, moment, bookmarks, verdicts, failures)
                    assert len(cells) == width
                    assert all(cells[bar.cell_of(failure)].sign in "✗⊗" for failure in failures)
                    in_open = {bar.cell_of(failure) for failure in failures}
                    plain = drawn(bar, moment, failures=failures)
                    shown = {at for at, cell in enumerate(plain) if cell.kind is Kind.FAILURE}
                    assert in_open - {bar.cell_of(moment)} == shown
                    assert not {"✗", "⊗"} & {cell.sign for cell in drawn(bar, moment)}
    assert seen > 100


@pytest.mark.system
def test_the_handle_moves_with_the_moment() -> None:
    """A later moment is never further left; the first is in the first cell, and there is one handle. The
    moment of a cell with a line is in that cell; in a silence it is where the silence began.
    """
    for seed in range(40):
        with case(seed):
            made, _ = generated(seed)
            for width in WIDTHS:
                bar = bar_of(made, width)
                places, moments = [], range(0, made.size + 1, 100)
                for moment in moments:
                    cells = drawn(bar, moment)
                    [place] = [at for at, cell in enumerate(cells) if cell.kind is Kind.HANDLE]
                    assert place == bar.cell_of(moment)
                    places.append(place)
                assert places == sorted(places)
                assert places[0] == 0
                assert not made.session.is_closed or places[-1] == width - 1
                # A click on a cell with a line leads there, in a silence to its beginning.
                filled = {bar.cell_of(moment) for moment in moments}
                before = 0
                for cell in range(width):
                    moment = bar.moment_of(cell)
                    assert before <= moment <= made.size
                    assert bar.cell_of(moment) <= cell
                    assert bar.moment_of(bar.cell_of(moment)) == moment or cell not in filled
                    if cell in filled:
                        assert bar.cell_of(moment) == cell
                        assert moment in moments or not made.has_times
                    before = moment
                assert bar.moment_of(-5) == bar.moment_of(0)
                assert bar.moment_of(width + 5) == bar.moment_of(width - 1)


def test_what_a_bar_shows() -> None:
    """A call is a block where it ended, higher for many, after a line while it ran; a long silence has its
    length, and nothing follows the newest line. Red tests hide a failure, a failure hides a bookmark, a
    bookmark hides green tests and calls. A click leads to the first mark of its cell; the sign of a rule
    that was hit is hidden by the handle alone.
    """
    made = Recorded()
    made.call(1000, 3000)
    failed = made.call(1000, 1000, Outcome.FAILED)
    shown = made.line(1000)
    made.call(20_000, 1000)
    made.line(2000)
    made.close()
    bar = bar_of(made, 30)
    assert text(drawn(bar, made.size)) == " ━━━▂━▂ ────── 20.0 s ─────━▂●"
    assert text(drawn(bar, made.size, failures=[failed])) == " ━━━▂━✗ ────── 20.0 s ─────━▂●"
    assert text(drawn(bar, shown, failures=[failed])) == " ━━━▂━✗●╌╌╌╌╌╌ 20.0 s ╌╌╌╌╌╌▂╌"
    made = Recorded()
    made.call(1000, 240_000)
    made.close()
    cells = drawn(bar_of(made, 30), made.size)
    assert " 4:00 " in text(cells)
    assert "─" not in text(cells)
    assert text(cells).count("━") > 15
    made = Recorded()
    made.call(1, 4)
    made.close()
    assert Kind.SILENCE not in {cell.kind for cell in drawn(bar_of(made, 60), made.size)}
    made = Recorded()
    for _ in range(40):
        made.call(1, 1)
    made.line(1000)
    made.call(9000, 1)
    made.line(5000)
    made.close()
    signs = text(drawn(bar_of(made, 20), made.size))
    assert signs[0] == "█"
    assert signs.count("▁") == 1
    # The height is the share of the calls of the fullest cell; one call is seen beside a hundred.
    made = Recorded()
    for count in (1, 2, 3, 4, 0, 1):
        made.line(1000)
        for _ in range(count):
            made.call(0, 0)
    made.close()
    assert text(drawn(bar_of(made, 6), 0))[1:] == "▂▄▆█▂"
    for _ in range(100):
        made.call(0, 0)
    assert text(drawn(bar_of(made, 6), 0))[1:] == "▁▁▁▁▇"
    made = Recorded()
    made.line(15_000)
    made.start(1000, "c")
    made.line(11_000)
    cells = drawn(bar_of(made, 60), made.size)
    assert "━●" in text(cells)
    assert text(cells[cells.index(Cell("●", Kind.HANDLE)) + 1 :]).strip() == ""
    assert cells[-1].sign == " "
    # What shares a cell.
    made = Recorded()
    failed = made.call(1000, 1000, Outcome.FAILED)
    rejected = made.call(1000, 1000, Outcome.REJECTED)
    fine = made.call(1000, 1000)
    made.line(10_000)
    made.close()
    bar = bar_of(made, 17)

    def kinds(bookmarks: list[int], verdicts: list[tuple[int, Kind]]) -> list[str]:
        cells = drawn(bar, made.size, [(at, "") for at in bookmarks], verdicts, [failed])
        return [str(cells[bar.cell_of(at)].kind) for at in (failed, rejected, fine)]

    assert kinds([], []) == ["failure", "rejection", "call"]
    verdicts = [(failed, Kind.RED), (rejected, Kind.GREEN), (fine, Kind.GREEN)]
    assert kinds([], verdicts) == ["red", "rejection", "green"]
    assert kinds([], [(failed, Kind.MENDED), (fine, Kind.MENDED)]) == ["failure", "rejection", "mended"]
    assert kinds([failed, rejected, fine], [(fine, Kind.GREEN)]) == ["failure", "bookmark", "bookmark"]
    marked = drawn(bar, made.size, [(failed, "")], failures=[failed])[bar.cell_of(failed)]
    assert (marked.sign, marked.is_bookmarked) == ("✗", True)
    # A click leads to the first mark, and not to the end of the cell.
    made = Recorded()
    failed = made.call(10, 10, Outcome.FAILED)
    later = made.line(10)
    end = made.line(10)
    made.line(100_000)
    made.close()
    bar = bar_of(made, 10)
    assert bar.moment_of(0, failures=[failed]) == failed
    assert bar.moment_of(0, [(100, "start")], failures=[failed]) == 100
    assert bar.moment_of(0, [(later, "later")], [(failed - 100, Kind.RED)]) == failed - 100
    assert bar.moment_of(9) == made.size > end
    # A rule that was hit has a sign of its own.
    made = Recorded()
    made.start(1000, "a")
    hit = made.end(1000, "a", Outcome.FAILED)
    made.line(60_000)
    bar = bar_of(made, 40)
    alarms = [(hit, "rm outside")]
    cells = bar.cells(bar.cell_of(made.size), [(hit, "here")], [(hit, Kind.RED)], alarms)
    assert (cells[bar.cell_of(hit)].sign, cells[bar.cell_of(hit)].kind) == ("▲", Kind.ALARM)
    assert bar.moment_of(bar.cell_of(hit), alarms=alarms) == hit
    assert bar.cells(bar.cell_of(hit), alarms=alarms)[bar.cell_of(hit)].kind is Kind.HANDLE


def test_the_time_and_the_share_of_a_place() -> None:
    """A cell has the time at its end; a moment has its share of the recorded time, or of the bytes. While a
    silence is played, the handle moves with the time, up to the cell of the next line.
    """
    made = Recorded()
    half = made.line(50_000)
    made.line(50_000)
    made.close()
    bar = bar_of(made, 10)
    assert bar.ms_of(4) == BEGAN_MS + 49_999
    assert [bar.percent_of(at) for at in (0, half, made.size)] == [0, 50, 100]
    untimed = Recorded(has_times=False)
    for _ in range(9):
        untimed.line(1)
    bar = bar_of(untimed, 10)
    assert bar.ms_of(4) is None
    assert [bar.percent_of(at) for at in (0, 300, 999, 1000)] == [0, 30, 99, 100]
    # The handle moves through a silence.
    made = Recorded()
    moment = made.line(10_000)
    made.line(80_000)
    made.line(10_000)
    made.close()
    bar = bar_of(made, 20)
    places = [bar.cell_of(moment, BEGAN_MS + ms) for ms in range(0, 100_001, 1000)]
    assert places == sorted(places)
    assert (places[0], places[10], places[50], places[100]) == (bar.cell_of(moment), 2, 10, 18)
    assert bar.percent_of(moment, BEGAN_MS + 50_000) == 50
    assert bar.cell_of(made.size, BEGAN_MS) == 19


def test_a_bar_that_grows() -> None:
    """A bar laid out after every few lines equals one laid out once; it is laid out again only with news.
    Its marks, and its scale, which lasts for a quarter of the duration at least, move in a few steps.
    """
    # The scale grows in steps.
    made, lengths = Recorded(), []
    for _ in range(600):
        made.line(1000)
        axis = Axis(made)
        lengths.append(axis.length(is_growing=True))
        assert axis.length(is_growing=False) == axis.end - axis.begin <= lengths[-1]
    steps = sorted(set(lengths))
    assert lengths == sorted(lengths)
    assert len(steps) < 25
    assert all(later <= earlier * 1.25 for earlier, later in pairwise(steps))
    # The marks of calls stay where they are, except for a few steps.
    made = Recorded()
    first = made.call(60_000, 1000)
    bar, places = Bar(made.session, Axis(made)), []
    for _ in range(300):
        made.line(1000)
        bar.lay_out(80)
        places.append(bar.cell_of(first))
    assert len(set(places)) < 10
    assert places == sorted(places, reverse=True)
    for seed in range(20):
        with case(seed):
            chance = random.Random(seed)
            made = Recorded()
            bar = Bar(made.session, Axis(made))
            for number in range(120):
                outcome = chance.choice([Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED])
                made.call(chance.choice([1, 900, 60_000]), chance.choice([0, 2000, 30_000]), outcome)
                if number % 3 == 0:
                    bar.calls.update(chance.choice([0, 1]))
                    bar.lay_out(57)
            while bar.calls.update(1):
                pass
            bar.lay_out(57)
            assert drawn(bar, made.size // 200 * 100) == drawn(bar_of(made, 57), made.size // 200 * 100)
    # Only a new line or width changes a layout.
    made = Recorded()
    made.call(1000, 1000)
    bar = bar_of(made, 40)
    assert not bar.lay_out(40)
    made.call(1000, 1000)
    assert bar.lay_out(40)
    bar.calls.update(1)
    assert bar.lay_out(40)
    assert not bar.lay_out(40)
    assert bar.lay_out(41)
    # Times that come late make another scale.
    made = Recorded(has_times=False)
    made.line(1000)
    bar = bar_of(made, 10)
    assert bar.cell_of(100) < 9
    made.has_times = True
    made.line(100_000)
    made.close()
    assert bar.lay_out(10)
    assert bar.cell_of(200) == 0


def test_moments_and_calls_are_counted() -> None:
    """The number of moments up to any moment is exact, and one before the last counts as the last. Each
    update of calls reads what is new, or a piece; a call without an end ended with the last call before its
    run was closed.
    """
    moments = Moments(Spill())
    for number in range(5000):
        moments.append(number // 3 * 10)
    for at in (-1, 0, 9, 10, 3410, 3411, 9999, 16_659, 16_660, 10**9):
        expected = sum(number // 3 * 10 <= at for number in range(5000))
        assert moments.count_to(at) == expected
    moments = Moments(Spill())
    for moment in (5, 9, 3, 12):
        moments.append(moment)
    assert [moments.count_to(at) for at in (4, 5, 8, 9, 12)] == [0, 1, 1, 3, 4]
    # Calls are read once and in pieces.
    made = Recorded()
    for number in range(200):
        made.call(10, 10, Outcome.REJECTED if number % 10 == 0 else Outcome.SUCCEEDED)
    calls = CallMoments(made.session)
    assert calls.update(0)
    assert 0 < len(calls.ended) < 200
    while calls.update(0):
        pass
    counts = len(calls.started), len(calls.ended), len(calls.rejected)
    assert counts == (200, 200, 20)
    made.call(10, 10, Outcome.REJECTED)
    assert not calls.update(1)
    assert (len(calls.ended), len(calls.rejected)) == (201, 21)
    assert calls.rejected.count_to(made.size - 1) == 20
    made = Recorded()
    made.start(10, "lost")
    last = made.call(10, 10)
    made.line(10)
    calls = CallMoments(made.session)
    calls.update(1)
    assert calls.started.count_to(made.size) - calls.ended.count_to(made.size) == 1
    made.close()
    calls.update(1)
    assert calls.ended.count_to(last) == 2
