"""Snapshots of finished sessions, in every supported size."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agentwatch.agents.opening import saved_source
from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.finish_summary import FinishSummary
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.terminal.signals import PendingSignals
from tests.builders.agents.claude_session import claude_session
from tests.builders.screen.app import CountedFeed, bundled, eventually

pytestmark = pytest.mark.slow

Compare = Callable[..., bool]
Step = Callable[[Pilot[None]], Awaitable[None]]


def before_looking(feed: CountedFeed, theme: str, *keys: str) -> Step:
    """Return the steps before a snapshot: read and measure the whole session, then press the keys."""

    async def come_to_rest(pilot: Pilot[None]) -> None:
        await eventually(pilot, lambda: feed.ticks, "the first tick")
        pilot.app.theme = theme
        screen = pilot.app.screen
        assert isinstance(screen, WatchScreen)
        transcript = screen.query_one(Transcript)
        await eventually(pilot, lambda: feed.is_over and not transcript.viewport.is_unsettled, "the session")
        shown = screen.query(FinishSummary)
        await eventually(pilot, lambda: not any(each.is_reading for each in shown), "what happened")
        for key in keys:
            await pilot.press(key)
        ticks = feed.ticks
        await eventually(
            pilot, lambda: feed.ticks > ticks + 2 or screen.frame_scheduler.is_resting, "three ticks"
        )

    return come_to_rest


@pytest.mark.parametrize(
    ("name", "size", "theme", "keys"),
    [
        pytest.param("demo", (120, 40), "textual-dark", "", id="demo-dark-120x40"),
        pytest.param("demo", (80, 24), "textual-light", "", id="demo-light-80x24"),
        pytest.param("failures", (120, 40), "textual-dark", "2Eek3", id="failures-detail-120x40"),
        pytest.param("wide", (80, 24), "textual-dark", "", id="wide-80x24"),
        pytest.param("demo", (40, 12), "textual-dark", "2", id="demo-calls-40x12", marks=pytest.mark.system),
        pytest.param(
            "unfinished", (120, 40), "textual-dark", "2", id="unfinished-120x40", marks=pytest.mark.system
        ),
    ],
)
def test_looks_as_it_did(
    snap_compare: Compare, name: str, size: tuple[int, int], theme: str, keys: str
) -> None:
    """A finished session is drawn exactly as in the approved snapshot."""
    source = saved_source(bundled(name))
    feed = CountedFeed(source.reader)
    app = AgentwatchApp(source, feed, PendingSignals())
    assert snap_compare(app, terminal_size=size, run_before=before_looking(feed, theme, *keys))


@pytest.mark.system
@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])
def test_a_session_with_subagents(snap_compare: Compare, size: tuple[int, int], tmp_path: Path) -> None:
    """A session of Claude Code with two subagents is drawn exactly as in the approved snapshot."""
    path = tmp_path / "session.ndjson"
    path.write_bytes(claude_session())
    source = saved_source(path)
    app = AgentwatchApp(source, feed := CountedFeed(source.reader), PendingSignals())
    assert snap_compare(
        app, terminal_size=size, run_before=before_looking(feed, "textual-dark", "1", "left_square_bracket")
    )
