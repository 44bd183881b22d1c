"""The counts above the list."""

from __future__ import annotations

import pytest

from agentwatch.agents.reported import State
from agentwatch.catalog.row import Row
from agentwatch.session.limits import Reported
from agentwatch.text.safe import SafeText, columns
from agentwatch.text.times import coming
from tests.builders.home.home_app import MINUTE_MS, NOW_MS, home_of, row, screen_rows

pytestmark = pytest.mark.slow

OLD_MS = NOW_MS - 20 * 24 * 60 * MINUTE_MS


def many() -> list[Row]:
    """Return sessions in every group, and 4,981 that are hidden."""
    rows = [row(f"ask{number}", State.ASKS) for number in range(2)]
    rows += [row("failed", State.TURN_FAILED), row("quiet", State.QUIET), row("turn", State.YOUR_TURN)]
    rows += [row(f"work{number}") for number in range(3)]
    rows += [row(f"ended{number}", State.SUCCEEDED) for number in range(9)]
    return rows + [
        row(f"old{number}", State.SUCCEEDED, seen_ms=OLD_MS, since_ms=OLD_MS) for number in range(4981)
    ]


async def test_the_header_counts_the_sessions() -> None:
    """The header counts the sessions in each group and those that are hidden, as far as the width allows."""
    async with home_of(many(), (140, 20)) as (app, pilot):
        # The name goes first, then the word `older`, the ended sessions, and the words; no count is cut.
        found = {}
        for width in (140, 100, 84, 76, 60, 40, 24):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            found[width] = screen_rows(app)[0]
            assert columns(SafeText(found[width])) <= width
        whole = "2 need you · 1 failed · 3 working · 1 quiet · 1 your turn"
        assert found[140].split("   ")[0] == f" agentwatch │ {whole} · 9 ended today"
        assert found[140].endswith("4,981 older hidden: a")
        assert found[100].startswith(f" {whole} · 9 ended today  ")
        assert found[100].endswith(" 4,981 older hidden: a")
        assert found[84].startswith(f" {whole}  ")
        assert found[84].endswith(" 4,981 hidden: a")
        assert found[60].startswith(" ! 2 · ✗ 1 · ◐ 3 · ? 1 · › 1 ")
        assert found[60].endswith(" 4,981 hidden: a")
        assert found[24] == " ! 2"
        # `a` shows them, and the header does not name the key any more; again, it does.
        await pilot.resize_terminal(140, 20)
        await pilot.pause()
        assert "4,981 older hidden: a" in screen_rows(app)[0]
        await pilot.press("a")
        assert "hidden" not in screen_rows(app)[0]
        await pilot.press("a")
        assert "4,981 older hidden: a" in screen_rows(app)[0]
        # The verb agrees with the number.
        await app.begin(pilot, [row("ask", State.ASKS)])
        assert screen_rows(app)[0] == " agentwatch │ 1 needs you"
        # The header says that no session is running.
        await app.begin(pilot, [])
        assert screen_rows(app)[0] == " agentwatch │ no session is running"


@pytest.mark.system
async def test_the_limits_give_way_to_the_width() -> None:
    """The other agent goes first, then the reset, then the window that is less full; at last all of them."""
    week = Reported("7d", 87.0, NOW_MS + 2 * 60 * MINUTE_MS, NOW_MS - 3 * MINUTE_MS)
    short = week._replace(name="5h", used_percent=62.0)
    rows = [row("ask", State.ASKS, limits=(short, week)), row("codex", agent="codex", limits=(short,))]
    resets = coming(week.resets_ms or 0, NOW_MS)
    claude = f"claude 5 h 62 % · week 87 % · resets {resets} · 3 min ago"
    async with home_of(rows, (160, 20)) as (app, pilot):
        found = {}
        for width in (160, 110, 78, 56, 46, 36):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            found[width] = screen_rows(app)[0]
            assert columns(SafeText(found[width])) <= width
        await pilot.resize_terminal(160, 20)
        app.home.tick(NOW_MS + 60 * MINUTE_MS)
        await pilot.pause()
        assert "· 63 min ago" not in screen_rows(app)[0]
        assert "week 87 % · resets " in screen_rows(app)[0]
        assert " · 1 h ago" in screen_rows(app)[0]
        app.home.tick(NOW_MS + 120 * MINUTE_MS)
        await pilot.pause()
        assert "claude" not in screen_rows(app)[0]
    assert found[160].startswith(" agentwatch │ 1 needs you")
    assert f"{claude}, codex 5 h 62 % · resets {resets} · 3 min ago" in found[160]
    assert found[110].endswith(f"  {claude}")
    assert found[78].endswith("  claude 5 h 62 % · week 87 % · 3 min ago")
    assert found[56].endswith("  claude week 87 % · 3 min ago")
    assert found[46].endswith("  claude week 87 %")
    assert "claude" not in found[36]
