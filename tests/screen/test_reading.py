"""While a file is still read, its session has no state yet: it never seems to run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.recording.store import nameless_file
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.sources.stores.intake import StoreIntake, StoreSource
from tests.builders.screen.app import CountedFeed, Stage, bundled, eventually

pytestmark = pytest.mark.slow

DATA = bundled("failures").read_bytes()


class SlowFeed(CountedFeed):
    """A feed that reads a few lines, or one burst of lines, once the test has seen the screen."""

    is_seen = True

    def advance(self, seconds: float | None = None) -> int:
        """Count the tick, and read a few lines, or nothing."""
        del seconds
        may_read, self.is_seen = self.is_seen, False
        if may_read:
            return sum(super(SlowFeed, self).advance(0.0) for _ in range(8))
        self.ticks += 1
        return 0


async def states(app: AgentwatchApp, feed: SlowFeed, path: Path) -> list[str]:
    """Return the header and the status line of each tick until the session has ended."""
    seen: dict[str, None] = {}
    async with app.run_test(size=(120, 30)) as pilot:
        stage = Stage(app, feed, path, pilot)

        def is_over() -> bool:
            seen.update(dict.fromkeys((stage.header, stage.status)))
            feed.is_seen = True
            return "✗ failed" in stage.header or "✓ succeeded" in stage.header

        await eventually(pilot, is_over, "the end")
    return [*filter(str.strip, seen)]


def check(shown: Sequence[str]) -> None:
    """Check that a session was shown as being read, and never as running."""
    assert any(line.startswith(" … reading ") and line.endswith("… calls") for line in shown)
    assert any("showing the beginning while the rest loads" in line for line in shown)
    assert not [line for line in shown if "running" in line or "waiting" in line or "thinking" in line]


async def test_a_file_that_is_read_has_no_state_yet() -> None:
    """The header says that it is read, without a clock and counts, until the last line is applied."""
    source = saved_source(bundled("failures"))
    feed = SlowFeed(source.reader)
    check(await states(AgentwatchApp(source, feed, HeldSignals()), feed, bundled("failures")))


class Batches:
    """A store that gives its lines in batches."""

    poll_seconds = 0.01

    def __init__(self) -> None:
        lines = DATA.splitlines(keepends=True)
        self._batches = [lines[at : at + 3] for at in range(0, len(lines), 3)]

    def new_lines(self) -> list[bytes]:
        """Return the next batch."""
        return self._batches.pop(0) if self._batches else []

    def close(self) -> None:
        """Do nothing."""


async def test_a_store_that_is_read_has_no_state_yet(tmp_path: Path) -> None:
    """Between two batches there is nothing to read, and the session has not ended."""
    fd = nameless_file()
    source = StoreSource(fd, StoreIntake(Batches(), fd, follow=False, waits=False), path=tmp_path)
    feed = SlowFeed(source.reader)
    check(await states(AgentwatchApp(source, feed, HeldSignals()), feed, tmp_path))
    assert not source.is_filling
    source.close()
