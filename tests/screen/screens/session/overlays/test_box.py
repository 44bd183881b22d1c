"""The session box has five tabs, and each of them is as the user left it."""

import pytest

from agentwatch.screen.screens.session.box import TABS, BoxList, SessionBox
from agentwatch.screen.screens.session.help import CommandList
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import Stage, bundled, lines_of, opened
from tests.builders.screen.lines import CWD, ended, init, result, shell, started
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


def box(stage: Stage) -> SessionBox:
    """Return the box that is open."""
    assert isinstance(stage.app.screen, SessionBox)
    return stage.app.screen


def focused(stage: Stage) -> BoxList[object]:
    """Return the list that has the focus."""
    found = stage.app.focused
    assert isinstance(found, BoxList)
    return found


def edits(count: int) -> bytes:
    """Return edits of as many files."""
    made = []
    for number in range(count):
        args: dict[str, object] = {"path": f"{CWD}/src/{number:03}.py"}
        made.append(
            started(f"e-{number}", "edit", args) + ended(f"e-{number}", "edit", args, {"success": {}})
        )
    return b"".join(made)


@pytest.mark.system
async def test_keys_and_clicks_change_the_tab() -> None:
    """Digits, left, right, `tab` and a click change the tab; the frame names it and its keys."""
    async with opened(bundled("demo"), (80, 24)) as stage:
        await stage.press("i")
        steps = (
            *(("", "box-happened"), ("right", "box-time"), ("left", "box-happened"), ("left", "box-checks")),
            *(("3", "verdicts"), ("tab", "changed-files"), ("tab", "files"), ("tab", "file-calls")),
            *(
                ("tab", "box-checks"),
                ("tab", "box-happened"),
                ("shift+tab", "box-checks"),
                ("1", "box-happened"),
            ),
            *(("2", "box-time"), ("4", "files"), ("enter", "file-calls"), ("escape", "files")),
        )
        for key, name in steps:
            with case((key, name)):
                await stage.press(*filter(None, [key]))
                assert focused(stage).id == name
                assert focused(stage).size.height > 3
        await stage.shows("enter show calls · s sort · 1–5 ← → tabs · esc back")
        await stage.shows("─ Session · 3 files · newest first ─")
        x = " 1 happened  2 time  3 tests ".index("tests")
        await stage.pilot.click("#box-tabs", offset=(x, 0))
        await stage.until(lambda: focused(stage).id == "verdicts", "the test runs")
        # In a narrow or short terminal, the others have only their numbers, and one list is shown.
        for size in ((40, 12), (30, 20)):
            with case(size):
                await stage.pilot.resize_terminal(*size)
                await stage.shows(" 1 2 3 tests  4 5")
                assert [each.size.height > 0 for each in box(stage).shown.lists] == [True, size[1] > 15]


async def test_each_tab_is_as_it_was_left(recording: Saver) -> None:
    """A tab keeps its selected row and its scroll position, also in the next opening of the box.

    The box opens on the tab that was shown last. What is new since then moves nothing.
    """
    path = recording(init(), edits(60))
    async with opened(path, (100, 24), follow=True) as stage:
        await stage.press("1", "g", "i", "4", *"jjjjj", "pagedown", "k")
        files = focused(stage)
        row, top = files.cursor, files.scroll_offset.y
        assert row > 5
        assert top > 0
        name = lines_of(files)[row].split()[0]
        await stage.press("1", "G", "4")
        assert (files.cursor, files.scroll_offset.y) == (row, top)
        await stage.press("2", "4", "i")
        await stage.append(shell(1))
        await stage.press("i")
        await stage.until(lambda: focused(stage).line_count() == 60, "the files")
        assert focused(stage) is not files
        assert (focused(stage).cursor, focused(stage).scroll_offset.y) == (row, top)
        await stage.press("1")
        report = focused(stage)
        await stage.until(lambda: report.cursor > 0, "the last item")
        assert lines_of(report)[report.cursor].split()[0] in ("edit", "execute")
        # A file that is touched later is above the others: the selected one stays.
        await stage.press("4", "i")
        args: dict[str, object] = {"path": f"{CWD}/new.py"}
        await stage.append(started("n", "edit", args) + ended("n", "edit", args, {"success": {}}))
        await stage.press("i")
        await stage.until(lambda: focused(stage).line_count() == 61, "the new file")
        assert lines_of(focused(stage))[focused(stage).cursor].split()[0] == name
        # The order stays, too; at the first row nothing is kept, so the newest file is the first one.
        await stage.press("g", "s", "g", "i", "i")
        await stage.shows("61 files · by name")
        await stage.press("s", "g", "i")
        args = {"path": f"{CWD}/newest.py"}
        await stage.append(started("m", "edit", args) + ended("m", "edit", args, {"success": {}}))
        await stage.press("i")
        await stage.until(lambda: "newest.py" in "".join(lines_of(focused(stage))[:1]), "the newest file")
        assert focused(stage).cursor == 0


@pytest.mark.system
async def test_the_palette_names_each_tab(recording: Saver) -> None:
    """The command palette opens the box on a tab; a finished session's first tab begins with its start."""
    async with opened(recording(init(), shell(1, 2), edits(2), result()), (120, 40)) as stage:
        await stage.press("ctrl+p", *"session:")
        listed = lines_of(stage.app.screen.query_one(CommandList))
        rows = [row for row in listed if row.startswith("Session: ")]
        assert len(rows) == len(TABS)
        await stage.press("escape", "ctrl+p", *"session: whole", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, SessionBox), "the box")
        await stage.shows("whether the recording is whole")
        await stage.press("1")
        await stage.shows("Failures still open")
        await stage.press("enter")
        await stage.until(lambda: stage.focus == "calls", "the calls")
        assert stage.calls.chosen is stage.feed.session.calls[0]
        assert not watch_screen(stage).is_earlier


@pytest.mark.system
async def test_the_first_tab_lists_the_failures_that_the_summary_counts() -> None:
    """A search that printed nothing is a failed call, and no open failure in either of them."""
    async with opened(bundled("failures"), (120, 40)) as stage:
        await stage.shows("5 open")
        assert stage.feed.session.calls[1].outcome == "failed"
        await stage.press("i", "1")
        await stage.shows("Failures still open")
        rows = [line.split()[:2] for line in lines_of(focused(stage)) if line.startswith("✗ #")]
        assert rows == [["✗", f"#{number}"] for number in (6, 5, 4, 3, 1)]
