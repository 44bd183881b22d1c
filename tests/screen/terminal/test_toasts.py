"""A message to the user is one line at the right end of the second row."""

from __future__ import annotations

from itertools import product

import pytest

from agentwatch.screen.terminal.base_app import TerminalApp
from tests.builders.screen.app import bundled, opened
from tests.conftest import case

SECONDS = TerminalApp.NOTIFICATION_TIMEOUT


@pytest.mark.slow
async def test_a_message_covers_only_the_end_of_the_second_row() -> None:
    """Short or too long, it leaves every other row as it was, and is shown for 2 s, with its end."""
    long = "cannot open " + "a long name/" * 20 + "x: permission denied"
    async with opened(bundled("demo")) as stage:
        await stage.press("comma")
        for size, words in product(((120, 40), (80, 24), (40, 12)), ("copied #12", long)):
            with case((size, words)):
                stage.app.clear_notifications()
                await stage.pilot.resize_terminal(*size)
                before = stage.text().splitlines()
                stage.app.notify(words)
                await stage.shows(words[:10])
                shown = stage.text().splitlines()
                assert shown[:1] + shown[2:] == before[:1] + before[2:]
                assert shown[1].rstrip().endswith(words if len(words) < 20 else "x: permission denied")
                assert ("…" in shown[1]) == (len(words) > 20)
    assert SECONDS == 2
