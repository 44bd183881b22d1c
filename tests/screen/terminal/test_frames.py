"""The frame scheduler keeps the screen within its share of the time that passes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import pytest

from agentwatch.screen.terminal.frames import LIVE_SHARE, LOADING_SHARE, FrameScheduler


@dataclass
class Timer:
    """A call that is due at a time of the clock."""

    due: float
    call: Callable[[], object]
    is_cancelled: bool = False

    def when(self) -> float:
        """Return when it is due, in seconds."""
        return self.due

    def cancel(self) -> None:
        """Do not call."""
        self.is_cancelled = True


class Clock:
    """An event loop whose time, and whose thread's time, pass only when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.used = 5.0
        self.timers: list[Timer] = []
        self.calls = 0

    def time(self) -> float:
        """Return the time of the loop, in seconds."""
        return self.now

    def thread_time(self) -> float:
        """Return the CPU time of the thread, in seconds."""
        return self.used

    def call_at(self, due: float, call: Callable[[], object]) -> Timer:
        self.timers.append(Timer(due, call))
        return self.timers[-1]

    def call_soon(self, call: Callable[..., object], *given: object) -> Timer:
        """Call in the next turn of the loop."""
        return self.call_at(self.now, partial(call, *given))

    def work(self, seconds: float) -> None:
        """Let the thread work."""
        self.now += seconds
        self.used += seconds

    def run_until(self, end: float) -> None:
        """Let time pass, and call what is due."""
        while waiting := [timer for timer in self.timers if not timer.is_cancelled and timer.due <= end]:
            first = min(waiting, key=Timer.when)
            self.timers.remove(first)
            self.calls += 1
            assert self.calls < 100_000, "calls follow each other without time between them"
            self.now = max(self.now, first.due)
            first.call()
        self.now = max(self.now, end)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that a scheduler made in this test runs by."""
    made = Clock()
    frames = "agentwatch.screen.terminal.frames"
    monkeypatch.setattr(f"{frames}.asyncio", SimpleNamespace(get_running_loop=lambda: made))
    monkeypatch.setattr(f"{frames}.time", made)
    return made


class Screen:
    """A screen that draws for as long, and asks for the next tick as soon, as a test says."""

    def __init__(self, clock: Clock, cost: float, share: float = LIVE_SHARE) -> None:
        self.clock = clock
        self.cost = cost
        self.wait: float | None = 0.0
        """When each tick wants the next one, in seconds; None waits for new data."""
        self.began: list[float] = []
        """When each tick came."""
        self.scheduler = FrameScheduler(self._tick, lambda beat: beat())
        self.scheduler.share = share
        self.scheduler.within(0)

    def _tick(self) -> float | None:
        self.began.append(self.clock.now)
        self.clock.work(self.cost)
        return self.wait


@pytest.mark.parametrize("share", [LIVE_SHARE, LOADING_SHARE])
def test_ticks_take_their_share_of_the_time(clock: Clock, share: float) -> None:
    """Ticks of 40 ms that always ask for another take the share of the time that they may, and no more."""
    screen = Screen(clock, 0.04, share)
    clock.run_until(clock.now + 60)
    settled = screen.began[len(screen.began) // 2 :]
    used = screen.cost * (len(settled) - 1) / (settled[-1] - settled[0])
    assert used == pytest.approx(share, rel=0.05)


def test_cheap_ticks_come_fifty_times_a_second(clock: Clock) -> None:
    """Ticks that cost next to nothing come every 20 ms: nobody sees more frames than that."""
    screen = Screen(clock, 1e-6)
    clock.run_until(clock.now + 1)
    assert len(screen.began) in (50, 51)


def test_other_work_has_its_turns_while_a_file_loads(clock: Clock) -> None:
    """While a file loads, work that several tasks pass on is done after the tick in which it arrived."""
    screen = Screen(clock, 0.03, LOADING_SHARE)
    clock.run_until(clock.now + 1)
    done_after: list[int] = []

    def pass_on(tasks: int) -> None:
        if tasks:
            clock.call_soon(pass_on, tasks - 1)
        else:
            done_after.append(len(screen.began))

    began = len(screen.began)
    clock.call_soon(pass_on, 15)
    clock.run_until(clock.now + 1)
    assert done_after
    assert done_after[0] <= began + 1
    assert len(screen.began) > began + 20


def test_a_tick_waits_for_its_share_alone(clock: Clock) -> None:
    """A dear tick is spread over the next ones, a pause repays it, and a key is put off by none."""
    # One cycle of 80 ms puts the next tick off by an eighth of what it would if each cost as much.
    screen = Screen(clock, 0.08)
    clock.run_until(clock.now)
    screen.cost = 0.0
    clock.run_until(clock.now + 1)
    gaps = [after - before for before, after in pairwise(screen.began)]
    assert gaps[1] == pytest.approx(0.01 / LIVE_SHARE - 0.01)
    assert gaps[2] == pytest.approx(gaps[1] * 7 / 8)
    # After a cycle of 80 ms and a second without new data, the next ticks come as if it had cost nothing.
    screen = Screen(clock, 0.08)
    screen.wait = None
    clock.run_until(clock.now + 1)
    assert len(screen.began) == 1
    screen.cost, screen.wait = 0.0, 0.0
    screen.scheduler.within(0)
    clock.run_until(clock.now + 1)
    gaps = [after - before for before, after in pairwise(screen.began[1:])]
    assert max(gaps) == pytest.approx(0.02)
    # A tick for a pressed key comes at once, however much the ticks before it have cost.
    screen = Screen(clock, 0.2)
    clock.run_until(clock.now + 10)
    screen.scheduler.within(0)
    clock.run_until(clock.now)
    assert screen.began[-1] < clock.now
    screen.scheduler.at_once()
    pressed = clock.now
    clock.run_until(clock.now)
    assert screen.began[-1] == pressed
