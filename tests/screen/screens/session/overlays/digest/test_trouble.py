"""The digest has the trouble since the moment."""

from __future__ import annotations

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.screens.session.digest import DigestScreen
from tests.builders.moment.recorded_times import RecordedTimes
from tests.builders.screen.app import eventually
from tests.builders.screen.screen_alone import at_rest
from tests.conftest import Saver
from tests.screen.screens.session.overlays.digest.test_screen import (
    BEFORE,
    DigestApp,
    edit,
    mark_after,
    shell,
)

pytestmark = pytest.mark.slow


async def test_trouble_is_one_line_an_episode(recording: Saver) -> None:
    """A failure that was tried often is an episode, and no open failure as well; enter goes to its last call.

    An episode that was over before the moment is left out. One that began before it is not.
    """
    early = b"".join(shell(number, "make all", int(number < 4)) for number in range(2, 5))
    late = b"".join(shell(number, "npm test", 2) for number in range(5, 8)) + edit(8, "src/a.py", 1, 1)
    path = recording(BEFORE + early, late, shell(9, "ruff check", 1))
    feed = Feed(open_saved(path, follow=True))
    feed.advance()
    since = mark_after(BEFORE + early + shell(5, "npm test", 2))
    app = DigestApp(feed, DigestScreen(feed, since, RecordedTimes([], feed.offset)))
    async with at_rest(app, (100, 46)) as pilot:
        assert app.rows()[2:9] == [
            *("Failures still open", "✗ #9 shell ruff check exit 1", "", "Trouble"),
            "✗ not fixed yet, 3 tries, 20.1 s: npm test #5–#7",
            "· edited without reading: src/a.py #8",
            "",
        ]
        await pilot.press("j", "enter")
        await eventually(pilot, lambda: app.given, "the call")
        assert [call.number for call in app.given] == [7]
