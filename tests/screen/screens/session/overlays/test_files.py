"""The files screen lists every file the session touched, and the calls on the selected file."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agentwatch.analysis.files import TouchedFiles
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.screens.session.box import BoxState, SessionBox
from agentwatch.screen.screens.session.box_files import FileCalls, FileList
from tests.builders.lines import feed_of
from tests.builders.screen.app import eventually, lines_of
from tests.builders.screen.app import opened as whole
from tests.builders.screen.box_alone import ScreenApp, at_rest, box_of
from tests.builders.screen.lines import CWD, ended, init, started
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

BEGAN_MS = 1_793_610_000_000


def call(number: int, tool: str, path: str, success: dict[str, Any] | None = None) -> bytes:
    """Return a call on a file, one second after the call numbered before it."""
    call_id, at_ms = f"call-{number}", BEGAN_MS + number * 1000
    begun = started(call_id, tool, {"path": path}, at_ms)
    return begun + ended(call_id, tool, {"path": path}, {"success": success or {}}, at_ms + 100)


def edit(number: int, path: str, before: str = "x", after: str = "y") -> bytes:
    """Return an edit that changes a file's text from `before` to `after`."""
    counts = {"linesAdded": 4, "linesRemoved": 2}
    contents = {"beforeFullFileContent": before, "afterFullFileContent": after}
    return call(number, "edit", path, counts | contents)


SESSION = (
    init()
    + call(1, "read", f"{CWD}/src/mill.py", {"totalLines": 20})
    + edit(2, f"{CWD}/src/mill.py", "a", "b")
    + call(3, "read", f"{CWD}/README.md")
    + edit(4, f"{CWD}/src/mill.py", "b", "a")
    + edit(5, f"{CWD}/src/wheel.py")
    + call(6, "read", "/etc/hosts")
)


def files_box(feed: Feed) -> SessionBox:
    return box_of(FileList(feed, TouchedFiles(feed.session), BoxState(), None))


class FilesApp(ScreenApp):
    """An app that opens the files screen."""

    def pane(self, name: str) -> FileList | FileCalls:
        """Return one of the two lists of the screen."""
        view = self.opened.query_one(f"#{name}")
        assert isinstance(view, FileList | FileCalls)
        return view


@asynccontextmanager
async def opened(
    path: Path, size: tuple[int, int] = (120, 30), *, follow: bool = False
) -> AsyncIterator[tuple[FilesApp, Pilot[None]]]:
    feed = feed_of(path, follow=follow)
    app = FilesApp(feed, files_box(feed))
    async with at_rest(app, size) as pilot:
        yield app, pilot


async def show(app: FilesApp, pilot: Pilot[None], path: Path, *, follow: bool = False) -> None:
    """Open the files screen of another recording."""
    app.feed = Feed(open_saved(path, follow))
    app.feed.advance()
    await app.again(pilot, files_box(app.feed))


def names(app: FilesApp) -> list[str]:
    """Return the names of the files, from top to bottom."""
    return [row.split()[0] for row in lines_of(app.pane("files"))]


async def test_a_call_without_a_time_has_that_of_its_moment(recording: Saver) -> None:
    """A row whose call has no time shows the time of the moment after it, with `~`; the others have none."""
    path: dict[str, Any] = {"path": f"{CWD}/src/new.py"}
    untimed = started("new", "write", path) + ended("new", "write", path, {"success": {"linesCreated": 2}})
    untimed = re.sub(rb', ?"timestamp_ms": ?\d+', b"", untimed)
    async with whole(recording(init() + call(7, "read", f"{CWD}/README.md") + untimed)) as stage:
        await stage.press("i", "4")
        await stage.shows("src/new.py")
        rows = {
            row.split()[0]: row.split()[-1]
            for row in lines_of(stage.app.screen.query_one("#files", FileList))
        }
        assert rows == {"src/new.py": "~09:00:07", "README.md": "09:00:07"}
        calls = lines_of(stage.app.screen.query_one("#file-calls", FileCalls))
        assert [row.split()[0] for row in calls] == ["~09:00:07"]


async def test_files_and_the_calls_on_them(recording: Saver) -> None:
    """Each file is a row with its marks and counts; below are the calls on the selected one."""
    async with opened(recording(SESSION)) as (app, pilot):
        # A row shows the path relative to the cwd, marks, actions, lines added and removed, and the time.
        rows = [" ".join(row.split()) for row in lines_of(app.pane("files"))]
        assert rows == [
            "/etc/hosts ! outside cwd read 09:00:06",
            "src/wheel.py ! edited without reading edited +4 −2 09:00:05",
            "src/mill.py ! reverted read · edited ×2 +8 −4 09:00:04",
            "README.md read 09:00:03",
        ]
        # The columns of the files have headings above them, which do not scroll; a low list has none.
        for size, is_shown in (((120, 40), True), ((120, 22), True), ((120, 9), False)):
            await pilot.resize_terminal(*size)
            rows = [strip.text for strip in app.screen._compositor.render_strips()]
            heading = next((row for row in rows if "last call" in row), "")
            assert ("actions" in heading and " lines " in heading) is is_shown
            if is_shown:
                files = rows[rows.index(heading) + 1]
                assert heading.index("actions") == files.index("read")
                assert heading.index("file") == files.index(app.pane("files").draw(0, 50).text[1:4])
        # `s` toggles the order: newest first or by name. The title shows it, and the selection stays.
        await pilot.resize_terminal(120, 30)
        await app.again(pilot, files_box(app.feed))
        await pilot.press("j")
        assert names(app) == ["/etc/hosts", "src/wheel.py", "src/mill.py", "README.md"]
        await pilot.press("s")
        assert names(app) == ["/etc/hosts", "README.md", "src/mill.py", "src/wheel.py"]
        assert app.pane("files").cursor == 3
        assert "4 files · by name" in app.pane("files").title
        await pilot.press("s")
        assert app.pane("files").cursor == 1
        assert "newest first" in app.pane("files").title
        # Each call shows its time, sign, phrase and duration; the title shows the marks of the file.
        await app.again(pilot, files_box(app.feed))
        await pilot.press("j", "j")
        await pilot.pause()
        rows = [" ".join(row.split()) for row in lines_of(app.pane("file-calls"))]
        assert rows == [
            "09:00:01 ✓ #1 Read file · 20 lines 0.1 s",
            "09:00:02 ✓ #2 Edited file · +4 −2 0.1 s",
            "09:00:04 ✓ #4 Edited file · +4 −2 0.1 s",
        ]
        assert app.pane("file-calls").title == "src/mill.py · last changed by #4 · reverted"
        # Enter moves to the calls of the file; enter there closes the screen with the selected call.
        await app.again(pilot, files_box(app.feed))
        await pilot.press("j", "j", "enter")
        assert app.focused is app.pane("file-calls")
        await pilot.press("G", "enter")
        await eventually(pilot, lambda: app.given, "a call")
        assert [each.call.number for each in app.given] == [4]
        # A click selects a row, and a double click opens it.
        await app.again(pilot, files_box(app.feed))
        await pilot.click("#files", offset=(6, 3))
        assert app.pane("files").cursor == 2
        await pilot.click("#files", offset=(6, 3), times=2)
        await eventually(pilot, lambda: app.focused is app.pane("file-calls"), "its calls")
        # Esc goes from the calls to the files and from there closes; `q` and `F` close at once.
        for keys in (("escape",), ("q",), ("i",), ("enter", "escape", "escape"), ("tab", "q")):
            with case(keys):
                await app.again(pilot, files_box(app.feed))
                await pilot.press(*keys)
                await eventually(pilot, lambda: app.given, "the end")
                assert app.given == [None]


@pytest.mark.system
async def test_it_opens_on_the_file_of_a_failing_line(recording: Saver) -> None:
    """`F` on a failing line selects the last change of its file before the failure, and names both."""
    printed = "E   assert 4 == 3\n\nsrc/mill.py:12: AssertionError\n1 failed in 0.1s"
    args: dict[str, object] = {"command": "pytest"}
    result = {"failure": {"exitCode": 1, "stdout": printed}}
    red = started("t", "shell", args, BEGAN_MS + 6500) + ended("t", "shell", args, result, BEGAN_MS + 6600)
    lines = SESSION + red + edit(8, f"{CWD}/src/mill.py", "a", "c") + edit(9, f"{CWD}/src/wheel.py")
    async with whole(recording(lines), (120, 40)) as stage:
        await stage.press("e", "3", "exclamation_mark", "i", "4")
        await stage.until(lambda: isinstance(stage.app.screen, SessionBox), "the files")
        await stage.shows("src/mill.py:12 · last changed by #4 before #7")
        assert isinstance(stage.app.focused, FileCalls)
        await stage.press("enter")
        assert stage.chosen == "src/mill.py"
        assert stage.calls.chosen is not None
        assert stage.calls.chosen.number == 4
        await stage.press("2", "g", "i")
        await stage.shows("src/mill.py · last changed by #8")
        assert isinstance(stage.app.focused, FileList)


@pytest.mark.system
async def test_rows_fit_at_every_width(recording: Saver) -> None:
    """At any width a row fits and shows the end of the path and the start of the mark, as far as it can."""
    async with opened(recording(SESSION)) as (app, pilot):
        # At any width a row fits and shows the end of the path and the start of the mark.
        for width in (38, 60, 80, 120, 200):
            with case(width):
                await pilot.resize_terminal(width, 20)
                pane = app.pane("files")
                room = pane.scrollable_content_region.width
                rows = [pane.draw(y, room).text for y in range(pane.line_count())]
                assert max(map(len, rows)) <= room
                assert "wheel.py" in rows[1]
                assert "! edited" in rows[1]
        # In a terminal too small for a row, as much of the row as fits is drawn.
        for size in ((20, 8), (8, 4), (3, 2)):
            with case(size):
                await pilot.resize_terminal(*size)
                await pilot.press("j", "enter", "j", "escape", "s")
                assert all(lines_of(app.pane("files")))


async def test_it_grows_while_it_is_open(recording: Saver) -> None:
    """A file that is touched moves to the top with its marks; what is selected stays selected."""
    path = recording(SESSION)
    async with opened(path, follow=True) as (app, pilot):
        # A file that is touched while the screen is open moves to the top; the selected file stays selected.
        await pilot.press("j")
        with path.open("ab") as file:
            file.write(edit(7, f"{CWD}/new.py"))
        app.feed.advance()
        await eventually(pilot, lambda: names(app)[0] == "new.py", "the new file")
        files = app.pane("files")
        assert isinstance(files, FileList)
        assert files.chosen is not None
        assert files.chosen.shown == "src/wheel.py"
        assert files.scroll_y == 0
        # While the newest file is selected, a newer one at the top becomes the selected one.
        path = recording(SESSION)
        await show(app, pilot, path, follow=True)
        with path.open("ab") as file:
            file.write(edit(7, f"{CWD}/new.py"))
        app.feed.advance()
        app.opened.sync()
        assert app.pane("files").cursor == 0
        assert app.pane("file-calls").title.startswith("new.py")
        # The mark `reverted` is updated with each further edit of the file.
        path = recording(SESSION)
        await show(app, pilot, path, follow=True)
        for number, before, after, is_back in ((7, "a", "c", False), (8, "c", "a", True)):
            with path.open("ab") as file:
                file.write(edit(number, f"{CWD}/src/mill.py", before, after))
            app.feed.advance()
            while app.opened.sync():
                pass
            assert ("reverted" in "".join(lines_of(app.pane("files")))) is is_back


async def test_other_sessions(recording: Saver) -> None:
    """Without files a line says so; of many only the visible are compared, and names of files cannot act."""
    async with opened(recording(init())) as (app, pilot):
        # A session that touched no file shows one line, which adds that shell commands are not tracked.
        assert (
            "no files yet; changes by shell commands are not listed" in app.pane("files").render_line(0).text
        )
        await pilot.press("enter", "j", "s")
        assert app.focused is app.pane("files")
        # In a session with a thousand files, only the contents of the visible ones are compared.
        data = init() + b"".join(edit(number, f"{CWD}/{number}.py", "x", "x") for number in range(1000))
        await show(app, pilot, recording(data))
        marked = [row for row in lines_of(app.pane("files")) if "reverted" in row]
        assert 0 < len(marked) <= app.pane("files").size.height
        assert app.pane("files").scroll_y == 0
        # Markup and escape sequences in a file name are shown as text.
        await show(app, pilot, recording(init() + call(1, "read", f"{CWD}/[b]\x1b[31m\n.py")))
        assert "[b]␛[31m␊.py" in lines_of(app.pane("files"))[0]
        shown = [strip.text for strip in app.screen._compositor.render_strips()]
        assert any("─ [b]␛[31m␊.py ─" in row for row in shown)
