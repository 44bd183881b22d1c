"""The thread that watches the sessions reports what has changed, and ends with the app."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from agentwatch.machine.status.counts import counts_of
from agentwatch.machine.status.file import read_status
from agentwatch.recording import now_ms
from agentwatch.screen.machine import watching
from agentwatch.screen.machine.watching import Rows, Watching
from tests.builders.home.home_app import row
from tests.builders.machine.app import MadeMachine, at_home


class Reports:
    """Takes the reports of a machine that is watched."""

    def __init__(self, machine: MadeMachine) -> None:
        self.rows: list[Rows] = []
        self.times: list[float] = []
        self.errors: list[Exception] = []
        self.watching = Watching(machine, self._take, self.errors.append)

    def _take(self, rows: Rows) -> None:
        self.rows.append(rows)
        self.times.append(time.monotonic())

    async def until(self, check: Callable[[], object]) -> None:
        """Wait until `check` returns something true; fail after 20 s."""
        bound = time.monotonic() + 20
        while not check():
            assert time.monotonic() < bound
            await asyncio.sleep(0.005)

    async def count(self, count: int) -> None:
        """Wait for a number of reports."""
        await self.until(lambda: len(self.rows) >= count)


class GrowingMachine(MadeMachine):
    """A machine that finds one more session with each step, and has more to do until it has found 200."""

    def step(self, now_ms: int) -> bool:
        """Find a session."""
        super().step(now_ms)
        self.put(row(f"s{self.steps}"))
        self.is_found = self.steps >= 200
        return not self.is_found


async def test_the_first_rows_are_reported_at_once() -> None:
    """What the first step finds is shown while the search goes on; later rows come in larger pieces."""
    reports = Reports(GrowingMachine())
    reports.watching.begin()
    reports.watching.start()
    await reports.until(lambda: reports.rows and len(reports.rows[-1]) >= 200)
    reports.watching.stop()
    sizes = [len(rows) for rows in reports.rows]
    assert sizes[0] == 1
    assert sizes[-1] == 200, "the end of the search was not reported at once"
    assert len(sizes) < 20


async def test_rows_that_did_not_change_are_not_reported() -> None:
    """The same mapping is reported once, however often the machine is stepped."""
    machine = MadeMachine([row("one")])
    reports = Reports(machine)
    reports.watching.begin()
    reports.watching.start()
    await reports.count(1)
    seen = machine.steps
    await reports.until(lambda: machine.steps >= seen + 3)
    reports.watching.stop()
    assert len(reports.rows) == 1


async def test_changes_are_reported_four_times_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that changes with each step and always has more to do does not flood the screen."""

    class Busy(MadeMachine):
        def step(self, now_ms: int) -> bool:
            super().step(now_ms)
            self.put(row("one", now=str(self.steps)))
            return True

    monkeypatch.setattr(watching, "_YIELD_SECONDS", 0.0001)
    reports = Reports(Busy())
    reports.watching.begin()
    reports.watching.start()
    await reports.count(4)
    reports.watching.stop()
    gaps = [later - before for before, later in zip(reports.times[1:], reports.times[2:], strict=False)]
    assert min(gaps) > 0.2


async def test_an_exception_is_reported() -> None:
    """An error in the machine ends the thread, and is not lost."""
    machine = MadeMachine()
    machine.fault = ZeroDivisionError("a defect")
    reports = Reports(machine)
    reports.watching.begin()
    reports.watching.start()
    await reports.until(lambda: reports.errors)
    assert reports.errors == [machine.fault]
    await reports.until(lambda: "machine" not in {thread.name for thread in threading.enumerate()})


async def test_an_exception_ends_the_app() -> None:
    """The app ends, and the error is that of the app."""
    fault = ZeroDivisionError("a defect")

    async def run() -> None:
        async with at_home([row("one")]) as stage:
            stage.machine.fault = fault
            await stage.until(lambda: stage.app.fault is fault, "the end")

    with pytest.raises(ZeroDivisionError):
        await run()


async def test_the_thread_ends_with_the_app() -> None:
    """After the app has ended, no thread of it is left."""
    async with at_home([row("one")]):
        assert "machine" in {thread.name for thread in threading.enumerate()}
    assert "machine" not in {thread.name for thread in threading.enumerate()}


async def test_the_counts_are_written_for_other_processes() -> None:
    """Once all sessions are found, `status` has the counts of the list, and not before."""
    machine = MadeMachine([row("one"), row("two")])
    machine.is_found = False
    reports = Reports(machine)
    reports.watching.begin()
    reports.watching.start()
    await reports.until(lambda: machine.steps > 2)
    assert read_status(now_ms()) is None
    machine.is_found = True
    await reports.until(lambda: read_status(now_ms()) is not None)
    reports.watching.stop()
    assert read_status(now_ms()) == counts_of(machine.rows.values(), now_ms())


async def test_only_the_first_step_comes_before_the_screen() -> None:
    """The newest sessions are found while the screen starts, and reported once it is there."""
    machine = GrowingMachine()
    reports = Reports(machine)
    reports.watching.begin()
    await reports.until(lambda: machine.steps)
    assert (machine.steps, reports.rows) == (1, [])
    reports.watching.start()
    await reports.count(1)
    reports.watching.stop()
    assert len(reports.rows[0]) == 1


async def test_the_end_of_the_search_is_reported_without_another_row() -> None:
    """The list then knows that it is complete, and says so if it is empty."""
    machine = MadeMachine([row("one")])
    machine.is_found = False
    reports = Reports(machine)
    reports.watching.begin()
    reports.watching.start()
    await reports.count(1)
    machine.is_found = True
    await reports.count(2)
    reports.watching.stop()
    assert reports.rows[0] is reports.rows[1]
