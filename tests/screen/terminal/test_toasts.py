"""A message to the user is one line at the right end of the second row."""

from __future__ import annotations

import pytest

from agentwatch.screen.terminal.base_app import TerminalApp
from tests.builders.screen.app import bundled, opened
from tests.conftest import case

SECONDS = TerminalApp.NOTIFICATION_TIMEOUT


@pytest.mark.slow
@pytest.mark.parametrize(
    "size", [(120, 40), pytest.param((80, 24), marks=pytest.mark.system), (40, 12)], ids=str
)
async def test_a_message_covers_only_the_end_of_the_second_row(size: tuple[int, int]) -> None:
    """Short or too long, it leaves every other row as it was, and is shown for 2 s, with its end."""
    async with opened(bundled("demo"), size) as stage:
        await stage.press("comma")
        before = stage.text().splitlines()
        for words in ("copied #12", "cannot open " + "a long name/" * 20 + "x: permission denied"):
            with case(words):
                stage.app.notify(words)
                await stage.shows(words[:10])
                shown = stage.text().splitlines()
                assert shown[:1] + shown[2:] == before[:1] + before[2:]
                assert shown[1].rstrip().endswith(words if len(words) < 20 else "x: permission denied")
                assert ("…" in shown[1]) == (len(words) > 20)
    assert SECONDS == 2
