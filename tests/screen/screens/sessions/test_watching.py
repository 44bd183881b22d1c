"""The thread that watches the sessions reports what has changed, and ends with the app."""

import threading
import time
from itertools import pairwise

import pytest

from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.catalog.row import Rows
from agentwatch.catalog.row_counts import status_counts
from agentwatch.catalog.status import read_status
from agentwatch.screen.screens.sessions import watching
from agentwatch.screen.screens.sessions.watching import Report, Watching
from tests.builders.home.home_app import NOW_MS, row
from tests.builders.machine.app import MadeMachine, at_home
from tests.harness.processes import until


class Reports:
    """Takes the reports of a machine that is watched."""

    def __init__(self, machine: MadeMachine) -> None:
        self.rows: list[Rows] = []
        self.reports: list[Report] = []
        self.errors: list[Exception] = []
        self.watching = Watching(machine, self._take, self.errors.append)

    def _take(self, report: Report) -> None:
        self.reports.append(report)
        self.rows.append(report.rows)

    def start(self) -> None:
        """Watch the machine, and take its reports."""
        self.watching.begin()
        self.watching.start()

    def count(self, count: int) -> None:
        """Wait for a number of reports."""
        until(lambda: len(self.rows) >= count, what=f"{count} reports")


class GrowingMachine(MadeMachine):
    """A machine that finds one more session with each step, and has more to do until it has found 200."""

    def step(self, now_ms: int) -> bool:
        """Find a session."""
        super().step(now_ms)
        self.put(row(f"s{self.steps}"))
        self.is_found = self.steps >= 200
        return not self.is_found


def test_rows_are_reported_in_few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first rows are reported at once, later ones in parts of at most 2,000, and the end at once."""
    # What the first step finds is shown while the search goes on; later rows come in larger pieces.
    reports = Reports(GrowingMachine())
    reports.start()
    until(lambda: reports.rows and len(reports.rows[-1]) >= 200)
    reports.watching.stop()
    sizes = [len(rows) for rows in reports.rows]
    assert sizes[0] == 1
    assert sizes[-1] == 200, "the end of the search was not reported at once"
    assert len(sizes) < 20
    # The newest sessions are found while the screen starts, and reported once it is there.
    machine: MadeMachine = GrowingMachine()
    reports = Reports(machine)
    reports.watching.begin()
    until(lambda: machine.steps)
    assert (machine.steps, reports.rows) == (1, [])
    reports.watching.start()
    reports.count(1)
    reports.watching.stop()
    assert len(reports.rows[0]) == 1
    # The end of the search is reported without another row: an empty list then says that it is complete.
    machine = MadeMachine([row("one")])
    machine.is_found = False
    reports = Reports(machine)
    reports.start()
    reports.count(1)
    machine.is_found = True
    reports.count(2)
    reports.watching.stop()
    assert reports.rows[0] is reports.rows[1]
    # A report names 2,000 changed rows at most, with which its rows are those of the report before.
    machine = MadeMachine([row(f"s{number}") for number in range(4_500)])
    reports = Reports(machine)
    reports.start()
    until(lambda: reports.rows and len(reports.rows[-1]) == 4_500)
    reports.watching.stop()
    assert [len(report.changed) for report in reports.reports] == [2_000, 2_000, 500]
    assert [len(report.rows) for report in reports.reports] == [2_000, 4_000, 4_500]
    assert [report.is_settled for report in reports.reports] == [False, False, True]
    # Between the first rows and the last, no report comes while the pause for the rows is not over.
    monkeypatch.setattr(watching, "_TICK_SECONDS", 0.0)
    monkeypatch.setattr(watching, "_ROW_SECONDS", 3600.0)
    reports = Reports(GrowingMachine())
    reports.start()
    until(lambda: reports.rows and len(reports.rows[-1]) >= 200)
    reports.watching.stop()
    assert [len(rows) for rows in reports.rows[:2]] == [1, 200]


@pytest.mark.system
def test_a_report_has_only_what_differs() -> None:
    """The first report has all sessions as new, a later one what differs; without changes none comes."""
    # The same mapping is reported once, however often the machine is stepped.
    machine = MadeMachine([row("one")])
    reports = Reports(machine)
    reports.start()
    reports.count(1)
    seen = machine.steps
    until(lambda: machine.steps >= seen + 3)
    reports.watching.stop()
    assert len(reports.rows) == 1
    # The first report has all sessions as new, and a later one those that came, changed or vanished.
    machine = MadeMachine([row("one"), row("two"), row("three")])
    reports = Reports(machine)
    reports.start()
    reports.count(1)
    now, new = row("two", State.ASKS), row("four")
    machine.rows = {row("one").key: machine.rows[row("one").key], now.key: now, new.key: new}
    reports.count(2)
    machine.put(now)
    reports.count(3)
    reports.watching.stop()
    first, second, third = reports.reports
    assert (list(first.changed), list(first.vanished)) == (list(first.rows.values()), [])
    assert (second.rows, list(second.changed)) == (machine.rows, [now, new])
    assert list(second.vanished) == [row("three").key]
    assert not [*third.changed, *third.vanished]


@pytest.mark.costs
def test_changes_are_reported_four_times_a_second_at_most() -> None:
    """A machine that changes with each step and always has more to do does not flood the screen."""
    times: list[tuple[float, float]] = []
    """When the step before a report began, and when the report came: it is due at a time between them."""

    class Busy(MadeMachine):
        def step(self, now_ms: int) -> bool:
            self.stepped = time.monotonic()
            super().step(now_ms)
            self.put(row("one", now=str(self.steps)))
            return True

    class Timed(Reports):
        def _take(self, report: Report) -> None:
            times.append((machine.stepped, time.monotonic()))
            super()._take(report)

    machine = Busy()
    reports = Timed(machine)
    reports.start()
    reports.count(4)
    reports.watching.stop()
    assert min(later[1] - before[0] for before, later in pairwise(times[1:])) > 0.25


def test_an_exception_is_reported() -> None:
    """An error in the machine ends the thread, and is not lost."""
    machine = MadeMachine()
    machine.fault = ZeroDivisionError("a defect")
    reports = Reports(machine)
    reports.start()
    until(lambda: reports.errors)
    assert reports.errors == [machine.fault]
    until(lambda: "machine" not in {thread.name for thread in threading.enumerate()})


async def test_the_first_session_is_selected_while_others_are_found() -> None:
    """The empty list of the first frame is not taken for one in which everything was found."""
    old = row("old", seen_ms=NOW_MS - 9000)
    async with at_home([old], has_more=True) as stage:
        await stage.put(row("newer", seen_ms=NOW_MS))
        await stage.shows("Title of newer")
        assert stage.chosen is not None
        assert stage.chosen.id == "newer"


@pytest.mark.slow
async def test_the_sessions_in_view_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine knows them when the user scrolls and filters, and its next step does not wait."""
    monkeypatch.setattr(watching, "_TICK_SECONDS", 3600.0)
    rows = [row(f"s{number:03}", began_ms=NOW_MS - number) for number in range(100)]
    async with at_home(rows) as stage:
        machine = stage.machine
        await stage.until(lambda: machine.in_view, "the first rows")
        first, steps = frozenset(machine.in_view or ()), machine.steps
        stage.home.query_one("#sessions").scroll_to(y=60, animate=False)
        await stage.until(lambda: len(machine.in_view or ()) > 30 and machine.in_view != first, "other rows")
        await stage.until(lambda: machine.steps > steps, "a step")
        # What the user archives is taken at once.
        steps = machine.steps
        await stage.press("z")
        await stage.until(lambda: machine.steps > steps, "a look at the archive")
        # A filter needs the lines of all that run.
        await stage.press("f", *"agent:x")
        await stage.until(lambda: machine.in_view == {row.key for row in rows}, "all that run")


@pytest.mark.parametrize("wakes", [True, False])
def test_a_woken_machine_reports_at_once(monkeypatch: pytest.MonkeyPatch, wakes: bool) -> None:
    """Its next step does not wait for half a second, nor does its report."""
    monkeypatch.setattr(watching, "_TICK_SECONDS", 3600.0)
    machine = MadeMachine([row("one")])
    reports = Reports(machine)
    reports.start()
    reports.count(1)
    until(lambda: machine.steps)
    machine.put(row("two"))
    if wakes:
        reports.watching.wake()
        reports.count(2)
    reports.watching.stop()
    assert len(reports.rows) == 1 + wakes


def test_a_still_machine_has_a_time_of_its_own_between_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing in view runs, the next step comes after a second instead of half of it."""
    monkeypatch.setattr(watching, "_TICK_SECONDS", 3600.0)
    monkeypatch.setattr(watching, "_STILL_SECONDS", 0.001)
    machine = MadeMachine([row("one")])
    machine.is_still = True
    reports = Reports(machine)
    reports.start()
    until(lambda: machine.steps > 10)
    reports.watching.stop()


@pytest.mark.system
async def test_an_exception_ends_the_app() -> None:
    """The app ends, and the error is that of the app."""
    fault = ZeroDivisionError("a defect")

    async def run() -> None:
        async with at_home([row("one")]) as stage:
            stage.machine.fault = fault
            await stage.until(lambda: stage.app.fault is fault, "the end")

    with pytest.raises(ZeroDivisionError):
        await run()


@pytest.mark.slow
async def test_the_thread_ends_with_the_app() -> None:
    """After the app has ended, no thread of it is left."""
    async with at_home([row("one")]):
        assert "machine" in {thread.name for thread in threading.enumerate()}
    until(lambda: "machine" not in {thread.name for thread in threading.enumerate()})


@pytest.mark.system
def test_the_counts_are_written_for_other_processes() -> None:
    """Once all sessions are found, `status` has the counts of the list, and not before."""
    machine = MadeMachine([row("one"), row("two")])
    machine.is_found = False
    reports = Reports(machine)
    reports.start()
    until(lambda: machine.steps > 2)
    assert read_status(now_ms()) is None
    machine.is_found = True
    until(lambda: read_status(now_ms()) is not None)
    reports.watching.stop()
    assert read_status(now_ms()) == status_counts(machine.rows.values(), now_ms())
