"""The border of the detail names the call, its outcome, and whether it is held."""

from __future__ import annotations

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.detail.pane import DetailView
from agentwatch.session.blocks import Block, TextBlock
from agentwatch.session.call import Place
from tests.builders.screen.app import PaneApp, lines_of, opened, viewport
from tests.builders.screen.lines import CWD, append, ended, init, result, shell, started
from tests.conftest import Saver

pytestmark = pytest.mark.slow

LONG = "line\n" * 60


@pytest.mark.system
async def test_the_border_names_the_call_and_its_outcome(recording: Saver) -> None:
    """The title names the call; its outcome stands below it while it is out of view."""
    edit = ended("a", "edit", {"path": f"{CWD}/src/x.py"}, {"success": {"linesAdded": 3, "linesRemoved": 1}})
    args: dict[str, object] = {"command": "make", "timeout": 120000}
    failed = started("c", "shell", args) + ended(
        "c", "shell", args, {"failure": {"exitCode": 2, "stdout": LONG}}
    )
    async with opened(recording(init() + edit + failed), (120, 40), follow=True) as stage:
        # The title names the call, without the command of a shell; the outcome stands below if it is away.
        await stage.shows("─ 3 Detail · #2 shell ─")
        await stage.shows("─ ✗ exit 2 · 1.5 s of 2:00 ─")
        await stage.press("2", "g")
        await stage.shows("─ 3 Detail · #1 edit src/x.py ─")
        await stage.until(lambda: stage.text().count("✓ +3 −1") == 1, "the outcome, once")


@pytest.mark.system
async def test_the_outcome_is_named_once(recording: Saver) -> None:
    """The border has the outcome only while the content does not fit, and always above raw lines."""
    async with opened(recording(init() + shell(1, 2, "out")), (120, 40), follow=True) as stage:
        await stage.shows("✗ exit 2 · 1.5 s · started")
        assert "✗ exit 2 · 1.5 s ─" not in stage.text()
        await stage.press("r")
        await stage.shows("✗ exit 2 · 1.5 s ─")
        await stage.press("r")
        await stage.until(lambda: "✗ exit 2 · 1.5 s ─" not in stage.text(), "one outcome")


@pytest.mark.system
async def test_without_a_border_the_first_row_names_the_call(recording: Saver) -> None:
    """On a narrow screen the detail begins with the call, and its outcome if that is out of view."""
    calls = shell(1, 2, "out") + shell(2, 2, LONG)
    async with opened(recording(init() + calls + result()), (80, 24)) as stage:
        await stage.press("3")
        assert viewport(stage.pane("detail"))[0] == "#2 shell · ✗ exit 2 · 1.5 s"
        await stage.press("K")
        await stage.until(lambda: viewport(stage.pane("detail"))[0] == "#1 shell", "the call alone")


@pytest.mark.system
async def test_the_title_names_a_failure_that_stays(recording: Saver) -> None:
    """While later calls arrive, the detail of a failed call stays, and its title names it."""
    path = recording(init() + shell(1, 1, "broken"))
    async with opened(path, follow=True) as stage:
        await stage.append(shell(2, 1, "broken again"))
        await stage.shows("3 Detail · #2 shell")
        await stage.append(shell(3, 0, "fine"))
        await stage.shows("3 Detail · failed call #2 · esc follows")
        append(path, b"")
        await stage.press("3", "J")
        await stage.shows("3 Detail · #3 shell")


@pytest.mark.system
async def test_the_tab_of_the_detail_is_short(recording: Saver) -> None:
    """When the detail is maximized, its tab does not name the call, which the first row does."""
    async with opened(recording(init() + shell(1) + result()), (120, 40)) as stage:
        await stage.press("3", "m")
        await stage.shows("1 Transcript 2 Calls 3 Detail")
        assert viewport(stage.pane("detail"))[0] == "#1 shell"
        await stage.press("m")
        await stage.shows("─ 3 Detail · #1 shell ─")
        assert viewport(stage.pane("detail"))[0] == "$ echo 1"


@pytest.mark.system
async def test_the_first_row_is_one_row_at_any_width(recording: Saver) -> None:
    """Without a border, the row that names the call is cut where it does not fit."""
    edit = ended("a", "edit", {"path": f"{CWD}/src/{'long/' * 20}x.py"}, {"success": {"linesAdded": 3}})
    async with opened(recording(init() + edit + result()), (40, 12)) as stage:
        await stage.press("3")
        rows = viewport(stage.pane("detail"))
        assert rows[0].startswith("#1 edit ")
        assert "✓ +3" not in rows[0]
        assert rows[1].startswith("✓ +3")


class RemarkedFeed(Feed):
    """A feed whose calls have remarks in their lines."""

    def blocks(self, place: Place, call_id: str = "") -> list[Block]:
        """Return the blocks of a line, and a remark."""
        return [TextBlock("description", "Run the tests"), *super().blocks(place, call_id)]


async def test_a_remark_of_one_line_follows_the_facts(recording: Saver) -> None:
    """A text of one line, such as the description of a command, stands below the facts."""
    feed = RemarkedFeed(open_saved(recording(init() + shell(1, 0, "out"))))
    detail = DetailView(feed)
    async with PaneApp(detail).run_test(size=(70, 20)) as pilot:
        feed.advance()
        await pilot.pause()
        detail.show_call(feed.session.calls[0])
        await pilot.pause()
        lines = lines_of(detail)
        assert lines[2].startswith("✓ exit 0")
        assert lines[3] == "description: Run the tests"
