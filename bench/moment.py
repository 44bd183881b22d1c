"""How long until the screen shows another moment of a session, and what do the moments cost?

The real screen runs without a terminal, 160 by 48. A seek is over when the session of the moment is shown,
nothing is left to lay out or to render. Half of the seeks go to random moments, the others are
steps: an event, a call, and a frame of playing backwards at 8 times the speed. Memory and reading are
compared with those of a feed that keeps no history. Ingest is the time from a line that is written to the
tick that has applied it, while the newest moment is shown, and while an earlier one is.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from math import isnan
from pathlib import Path
from random import Random
from typing import NamedTuple

from measure import HERE, MILLISECONDS, command_line, head, megabytes, percentile, row, run, session

sys.path.insert(0, str(HERE.parent))

from agentwatch.agents.opening import saved_source
from agentwatch.feed.feed import Feed
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.terminal.signals import PendingSignals

_SIZE = (160, 48)
_SPEED = 8.0
_LINES_A_SECOND = 350
_READ = """
import sys, time
from pathlib import Path
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording.saved import open_saved
reader = open_saved(Path(sys.argv[1]))
feed = Feed(reader)
history = History(feed, reader) if sys.argv[2] == "history" else None
feed.advance()
"""


class Took(NamedTuple):
    """Milliseconds of wall clock, and of the CPU time of this process."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Took:
        """Return the two clocks."""
        return cls(time.perf_counter() * MILLISECONDS, time.process_time() * MILLISECONDS)

    def until_now(self) -> Took:
        """Return what has passed on both clocks."""
        now = Took.now()
        return Took(now.wall - self.wall, now.cpu - self.cpu)


class Screen:
    """The screen of a session that runs in this process."""

    def __init__(self, app: AgentwatchApp, feed: Feed) -> None:
        self.app = app
        self.feed = feed

    @property
    def watch(self) -> WatchScreen:
        """The screen of the session."""
        screen = self.app.screen_stack[0]
        assert isinstance(screen, WatchScreen)
        return screen

    async def loaded(self) -> None:
        """Wait until everything is read, cut into blocks and shown in place of the preview."""
        while (
            not self.feed.is_over
            or ((swap := self.watch._swap) is not None and (swap.is_loading or swap.is_exchanging))
            or self.watch.workspace.panes.transcript.viewport.is_unsettled
        ):
            await asyncio.sleep(0.01)
        await self.drawn()

    async def drawn(self) -> None:
        """Wait until nothing is left to update or to render."""
        screen = self.watch
        for _ in range(3):
            await asyncio.sleep(0)
        while (
            screen._dirty_widgets
            or screen._layout_required
            or screen._callbacks
            or screen._compositor._dirty_regions
        ):
            await asyncio.sleep(0)

    async def moved(self, move: Callable[[], object]) -> Took:
        """Move the moment, and return the milliseconds until the screen shows it."""
        began = Took.now()
        move()
        moment = self.watch._moment
        while moment.is_sought or moment.shown.offset != moment.playhead.offset:
            await asyncio.sleep(0)
        await self.drawn()
        return began.until_now()


@asynccontextmanager
async def shown(path: Path, *, follow: bool = False) -> AsyncIterator[Screen]:
    """Open a recording on a screen in this process."""
    source = saved_source(path, follow)
    feed = Feed(source.reader)
    app = AgentwatchApp(source, feed, PendingSignals())
    async with app.run_test(size=_SIZE) as pilot:
        await pilot.pause()
        yield Screen(app, feed)
    os.close(source.reader.fd)


def main() -> None:
    """Measure the cost of reading, then seeks in typical recordings, playing backwards and ingest."""
    parser = command_line(__doc__)
    parser.add_argument("--megabytes", type=float, nargs="*", default=[100, 1000])
    parser.add_argument("--deltas", type=int, default=1_000_000, help="of the recording with many calls")
    parser.add_argument("--seeks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0, help="of playing, and of each stream")
    given = parser.parse_args()
    sizes, deltas, seeks, seconds = given.megabytes, given.deltas, given.seeks, given.seconds
    if given.smoke:
        sizes, deltas, seeks, seconds = [2.0], 2_000, 5, 0.5
    os.environ["AGENTWATCH_HOME"] = tempfile.mkdtemp()
    gc.set_threshold(50_000, 20, 1000)  # as the program does
    head("reading", "CPU without history", "with it", "more", "peak RSS without", "with it", "more")
    for size in sizes:
        _read(*session(given.folder, "typical", megabytes=size), rounds=1 if given.smoke else 3)
    print()
    head("moment", "times", "p50", "p95", "longest", "CPU, p50", "p95")
    for size in sizes:
        path, facts = session(given.folder, "typical", megabytes=size)
        asyncio.run(_seek(path, facts, seeks))
    path, facts = session(given.folder, "calls", deltas=deltas)
    asyncio.run(_play_back(path, facts, seconds))
    asyncio.run(_ingest(given.folder, seconds))


async def _seek(path: Path, facts: dict[str, int], seeks: int) -> None:
    chance, name = Random(14), megabytes(facts["bytes"])
    async with shown(path) as screen:
        await screen.loaded()
        keys, size = screen.watch, screen.feed.offset
        jumps = [chance.randrange(size) for _ in range(seeks)]
        _row(f"{name}: any moment", [await screen.moved(partial(keys.go_to, to)) for to in jumps])
        await screen.moved(partial(keys.go_to, size // 2))
        for what, step in (("an event", keys.action_step), ("a call", keys.action_call)):
            for words, direction in (("back", -1), ("on", 1)):
                moves = [await screen.moved(partial(step, direction)) for _ in range(seeks // 2)]
                _row(f"{name}: {what} {words}", moves)
        _row(f"{name}: return to live", [await _returned(screen, to) for to in jumps[: max(seeks // 10, 1)]])


async def _returned(screen: Screen, start: int) -> Took:
    await screen.moved(partial(screen.watch.go_to, start))
    return await screen.moved(screen.watch.action_live)


async def _play_back(path: Path, facts: dict[str, int], seconds: float) -> None:
    """Play backwards from the end and from the middle, and measure every frame."""
    async with shown(path) as screen:
        await screen.loaded()
        frames: list[Took] = []
        for start in (screen.feed.offset - 1, screen.feed.offset // 2):
            await screen.moved(partial(screen.watch.go_to, start))
            moment = screen.watch._moment
            moment.playhead.speed, moment.playhead.is_reversed = _SPEED, False
            screen.watch.action_pace("reverse")
            frames += await _frames(screen, seconds / 2)
        _row(f"{facts['calls']:,} calls: a frame of playing backwards", frames)


async def _frames(screen: Screen, seconds: float) -> list[Took]:
    """Return how long the event loop was busy with each frame."""
    busy: list[Took] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = Took.now()
        screen.watch._tick()
        await screen.drawn()
        busy.append(began.until_now())
        await asyncio.sleep(1 / 30)
    return busy


async def _ingest(folder: Path, seconds: float) -> None:
    """Measure how long written lines wait, at the live moment and at an earlier one."""
    source, _ = session(folder, "calls", deltas=20_000)
    lines = source.read_bytes().splitlines(keepends=True)[:-1]
    for is_earlier in (False, True):
        path = Path(tempfile.mkdtemp()) / "live.ndjson"
        path.write_bytes(b"".join(lines[:2000]))
        async with shown(path, follow=True) as screen:
            while screen.feed.backlog():
                await asyncio.sleep(0.01)
            if is_earlier:
                await screen.moved(partial(screen.watch.go_to, screen.feed.offset // 2))
            waits = await _waits(screen.feed, path, lines[2000:], seconds)
        where = "at an earlier moment" if is_earlier else "at the live moment"
        _row(f"{_LINES_A_SECOND} lines/s, {where}: written → applied", waits)


async def _waits(feed: Feed, path: Path, lines: list[bytes], seconds: float) -> list[Took]:
    written: list[tuple[int, float]] = []
    count = min(int(seconds * _LINES_A_SECOND), len(lines))

    def write() -> None:
        size = path.stat().st_size
        with path.open("ab", buffering=0) as file:
            for line in lines[:count]:
                size += len(line)
                written.append((size, time.perf_counter()))
                file.write(line)
                time.sleep(1 / _LINES_A_SECOND)

    thread = threading.Thread(target=write)
    thread.start()
    waits: list[Took] = []
    while thread.is_alive() or feed.backlog():
        await asyncio.sleep(0.001)
        while len(waits) < len(written) and written[len(waits)][0] <= feed.offset:
            wait = (time.perf_counter() - written[len(waits)][1]) * MILLISECONDS
            waits.append(Took(wait, float("nan")))
    thread.join()
    return waits


def _read(path: Path, facts: dict[str, int], rounds: int) -> None:
    plain, kept = (
        [run((sys.executable, "-c", _READ, str(path), how)) for _ in range(rounds)]
        for how in ("plain", "history")
    )
    without, with_it = (min(each.cpu for each in costs) for costs in (plain, kept))
    few, many = (min(each.peak_bytes for each in costs) for costs in (plain, kept))
    cells = (f"{without:.2f} s", f"{with_it:.2f} s", f"{with_it / without - 1:.0%}")
    row(megabytes(facts["bytes"]), *cells, megabytes(few), megabytes(many), megabytes(many - few))


def _row(name: str, took: list[Took]) -> None:
    shares = (0.5, 0.95, 1.0)
    wall = (f"{percentile((each.wall for each in took), share):.1f} ms" for share in shares)
    cpu: tuple[str, ...] = ("–", "–")
    if took and not isnan(took[0].cpu):
        cpu = tuple(f"{percentile((each.cpu for each in took), share):.1f} ms" for share in shares[:2])
    row(name, len(took), *wall, *cpu)


if __name__ == "__main__":
    main()
