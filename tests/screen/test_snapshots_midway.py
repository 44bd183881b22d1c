"""Snapshots of running sessions, each at one moment of its recording."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import pytest
from textual.notifications import Notification
from textual.pilot import Pilot

from agentwatch.agents.opening import saved_source
from agentwatch.feed.playhead import Replay
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.terminal import base_app
from agentwatch.screen.terminal.frames import FrameScheduler
from agentwatch.screen.terminal.signals import PendingSignals
from tests.builders.screen.app import CountedFeed, bundled, eventually
from tests.screen.test_snapshots import Compare, Step

pytestmark = pytest.mark.slow


class Moment(NamedTuple):
    """A recording `seconds` after its start, and the keys pressed at that moment."""

    name: str
    seconds: float
    keys: Sequence[str] = ""
    size: tuple[int, int] = (100, 30)
    theme: str = "textual-dark"
    has_colours: bool = True
    before: float = 0.0
    """Seconds at which the recording was opened; what it holds up to then does not count as new."""


def ticked(feed: CountedFeed, frame_scheduler: FrameScheduler, due: int) -> bool:
    """Return whether the feed has reached tick `due`, or no tick will come."""
    return feed.ticks >= due or frame_scheduler.is_resting


async def drawn(pilot: Pilot[None], feed: CountedFeed) -> None:
    """Wait until three ticks change nothing on the screen."""
    screen = pilot.app.screen
    assert isinstance(screen, WatchScreen)
    before: list[str] = []
    while (shown := [strip.text for strip in screen._compositor.render_strips()]) != before:
        before = shown
        due = feed.ticks + 3
        await eventually(pilot, partial(ticked, feed, screen.frame_scheduler, due), "three ticks")


def come_to(moment: Moment, feed: CountedFeed, clock: list[float]) -> Step:
    """Return the steps before a snapshot: show everything that is due, then press the keys."""

    async def come_to_rest(pilot: Pilot[None]) -> None:
        await eventually(pilot, lambda: feed.ticks, "the first tick")
        if moment.has_colours:
            pilot.app.theme = moment.theme
        for clock[0] in (moment.before, moment.seconds):
            await drawn(pilot, feed)
        for key in moment.keys:
            await pilot.press(key)
        await drawn(pilot, feed)

    return come_to_rest


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(Moment("demo", 46), id="running"),
        pytest.param(Moment("demo", 46, " "), id="replay-paused", marks=pytest.mark.system),
        pytest.param(Moment("stuck", 66, "2", before=60), id="failing-with-limit", marks=pytest.mark.system),
        pytest.param(Moment("stuck", 155, size=(120, 40), before=62), id="quiet", marks=pytest.mark.system),
        pytest.param(
            Moment("stuck", 155, size=(40, 12), before=62), id="quiet-narrow", marks=pytest.mark.system
        ),
        pytest.param(
            Moment("demo", 46, "2kkk3z", (120, 40), "textual-light"),
            id="diff-split-light",
            marks=pytest.mark.system,
        ),
        pytest.param(
            Moment("demo", 46, "2kkk3jjjj", theme="ansi-dark"), id="16-colours", marks=pytest.mark.system
        ),
        pytest.param(
            Moment("demo", 46, "2kkk3jjjj", has_colours=False), id="no-colour", marks=pytest.mark.system
        ),
    ],
)
def test_looks_midway_as_it_did(
    snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, moment: Moment
) -> None:
    """A running session is drawn exactly as in the approved snapshot."""
    if not moment.has_colours:
        monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(Notification, "time_left", 3_600.0)  # a slow machine would draw after it has gone
    monkeypatch.setattr(base_app, "monotonic", lambda: 0.0)  # nor does its key come after a second
    clock = [0.0]
    source = saved_source(bundled(moment.name), follow=True)
    feed = CountedFeed(source.reader)
    began_ms = source.reader.times.at(0) or 0
    monkeypatch.setattr("agentwatch.screen.panes.moment.now_ms", lambda: began_ms + int(clock[0] * 1000))
    replay = Replay(clock=lambda: clock[0])
    app = AgentwatchApp(source, feed, PendingSignals(), replay=replay, no_color=not moment.has_colours)
    assert snap_compare(app, terminal_size=moment.size, run_before=come_to(moment, feed, clock))
