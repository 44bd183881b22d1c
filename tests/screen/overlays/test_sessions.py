"""The list of saved sessions shows the newest at once, and the others as they are read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from textual.widgets import OptionList, Static

from agentwatch.events import Outcome
from agentwatch.feed.catalog import SavedSession
from agentwatch.screen.overlays import sessions
from agentwatch.screen.overlays.sessions import Chooser
from agentwatch.screen.terminal.signals import HeldSignals

NOON = datetime(2026, 11, 20, 12)


def many(count: int, read: list[int]) -> Iterator[SavedSession]:
    """Yield sessions, and note the number of each one that is read."""
    for number in range(count):
        read.append(number)
        prompt = f"prompt {number}"
        yield SavedSession(Path(f"{number}.ndjson"), NOON, 100, Outcome.SUCCEEDED, None, prompt, "")


async def test_the_newest_sessions_are_shown_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first frame shows the newest sessions before the others are read; all of them follow, in order."""
    read: list[int] = []
    monkeypatch.setattr(sessions, "_FILL_SECONDS", 0.001)
    app = Chooser(HeldSignals(), many(2000, read), no_color=True)
    async with app.run_test(size=(100, 30)) as pilot:
        listed = app.query_one(OptionList)
        assert listed.option_count > 0
        assert len(read) < 2000
        assert str(listed.get_option_at_index(0).prompt).endswith("prompt 0")
        await pilot.press("j")
        while listed.option_count < 2000:
            await pilot.pause(0.01)
        assert listed.highlighted == 1
        assert str(listed.get_option_at_index(1999).prompt).endswith("prompt 1999")
        await pilot.press("end", "enter")
        await pilot.pause()
    assert app.return_value == Path("1999.ndjson")


async def test_the_list_can_be_left_while_it_fills() -> None:
    """`q` leaves a list of a million sessions without reading all of them."""
    read: list[int] = []
    app = Chooser(HeldSignals(), many(1_000_000, read), no_color=True)
    async with app.run_test() as pilot:
        await pilot.press("q")
    assert app.return_value is None
    assert len(read) < 1_000_000


async def test_without_sessions_there_is_no_list() -> None:
    """Without sessions, the screen shows how to record one."""
    app = Chooser(HeldSignals(), many(0, []), no_color=True)
    async with app.run_test():
        assert not app.query(OptionList)
        assert "No saved sessions yet" in str(app.query_one(".empty", Static).content)


async def test_a_session_takes_one_row() -> None:
    """A session whose prompt is too long for the width is cut with an ellipsis, and takes one row."""
    app = Chooser(HeldSignals(), many(3, []), no_color=True)
    async with app.run_test(size=(50, 10)) as pilot:
        await pilot.pause()
        listed = app.query_one(OptionList)
        assert listed.virtual_size.height == 3
        assert listed.render_line(0).text.rstrip().endswith("…")
