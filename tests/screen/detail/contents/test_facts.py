"""The border of the detail names the call, its outcome, and whether it is held."""

from __future__ import annotations

from tests.builders.screen.app import opened, viewport
from tests.builders.screen.lines import CWD, append, ended, init, result, shell, started
from tests.conftest import Saver


async def test_the_border_names_the_call_and_its_outcome(recording: Saver) -> None:
    """The title names the call, without the command of a shell; the outcome stands below."""
    edit = ended("a", "edit", {"path": f"{CWD}/src/x.py"}, {"success": {"linesAdded": 3, "linesRemoved": 1}})
    args: dict[str, object] = {"command": "make", "timeout": 120000}
    failed = started("c", "shell", args) + ended("c", "shell", args, {"failure": {"exitCode": 2}})
    async with opened(recording(init() + edit + failed), (120, 40), follow=True) as stage:
        await stage.shows("─ 3 Detail · #2 shell ─")
        await stage.shows("─ ✗ exit 2 · 1.5 s of 120 s ─")
        await stage.press("2", "g")
        await stage.shows("─ 3 Detail · #1 edit src/x.py ─")
        await stage.shows("✓ +3 -1")


async def test_without_a_border_the_first_row_names_the_call(recording: Saver) -> None:
    """On a narrow screen the detail begins with the call and its outcome."""
    async with opened(recording(init() + shell(1, 2, "out") + result()), (80, 24)) as stage:
        await stage.press("3")
        assert viewport(stage.pane("detail"))[0].startswith("#1 shell · ✗ exit 2 · 1.5 s")


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
