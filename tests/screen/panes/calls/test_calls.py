"""The table of calls: its rows, its columns, and rows of several calls that open and close."""

import re

import pytest

from tests.builders.screen.app import PaneApp, bundled, eventually, lines_of, opened, viewport
from tests.builders.screen.call_table import NARROW, read, reads, rows_of, tables
from tests.builders.screen.lines import CWD, append, ended, init, result, shell, started
from tests.conftest import Saver, case


async def test_a_row_shows_its_call(recording: Saver) -> None:
    """A row shows sign, tool, target, note and duration of its call, drawn from its current state."""
    async with tables() as (show, pilot):
        # A row shows sign, tool, target, outcome note and duration.
        _, table = await show(bundled("failures"), NARROW)
        await eventually(pilot, lambda: "make failed" in rows_of(table)[0], "the verdict")
        rows = [row.split() for row in rows_of(table)]
        assert rows[0] == ["✗", "shell", "make", "lint", "✗", "make", "failed", "2.3", "s"]
        assert [row[:2] for row in rows] == [
            ["✗", "shell"],
            ["✗", "shell"],
            ["✗", "edit"],
            ["✗", "shell"],
            ["✗", "shell"],
            ["✗", "mcp"],
        ]
        # Each outcome has its own sign, so that it can be read without colour.
        for name, signs in (
            ("rejected", "⊘⊘⊘"),
            ("unfinished", "✓◌"),
            ("parallel", "✓"),
            ("hostile", "✓✗✓✓⊘↵"),
        ):
            with case(f"{name}, {signs}"):
                _, table = await show(bundled(name))
                assert "".join(row[1] for row in rows_of(table)) == signs
        # A running call's clock is the time since its start arrived, computed when the row is drawn.
        path = recording(init() + shell(1, None))
        path.with_suffix(".times").write_text("0 1000\n")
        feed, table = await show(path, NARROW, follow=True)
        clocks = []
        for now_ms in (1000, 1042, 2500, 62_000, 3_734_000):
            table.tick(now_ms)
            clocks.append(rows_of(table)[0].split("running")[1].strip())
        assert clocks == ["0:00", "0:00", "0:01", "1:01", "1:02:13"]
        append(path, ended("call-1", "shell", {"command": "echo 1"}, {"success": {"exitCode": 0}}))
        feed.advance()
        table.sync(9_000_000)
        assert rows_of(table)[0].split() == ["✓", "shell", "echo", "1", "1.5", "s"]
        # A call without both times of one clock has no duration, and shows a dash.
        args: dict[str, object] = {"command": "true"}
        alone = ended("a", "shell", args, {"success": {"exitCode": 0}})
        _, table = await show(recording(init() + alone + shell(2, None)), NARROW, follow=True)
        assert [row.split()[-1] for row in rows_of(table)] == ["–", "–"]
        # A row shows the lines that an edit changed; a row of several edits shows their sum.
        args = {"path": f"{CWD}/a.py"}
        change = {"success": {"linesAdded": 9, "linesRemoved": 1, "beforeFullFileContent": "x"}}
        edits = [started(f"e{n}", "edit", args) + ended(f"e{n}", "edit", args, change) for n in range(2)]
        _, table = await show(recording(init() + edits[0] + shell(1) + b"".join(edits)), follow=True)
        assert " +9 −1 " in rows_of(table)[0]
        twice = edits[0] + edits[1]
        _, table = await show(recording(init() + twice), follow=True)
        assert " ▸ a.py ×2 " in rows_of(table)[0]
        assert " +18 −2 " in rows_of(table)[0]
        # Each call that did not succeed has a word for its outcome besides sign and colour, or its reason.
        args = {"command": "x"}
        unsuccessful = [
            started(f"c{n}", "shell", args) + ended(f"c{n}", "shell", args, {name: {"error": "Ω"}})
            for n, name in enumerate(("error", "rejected"))
        ]
        path = recording(init() + b"".join(unsuccessful) + shell(3, 7) + shell(4, None))
        _, table = await show(path, follow=True)
        words = (" Ω ", "rejected", "exit 7", "running")
        assert all(word in row for word, row in zip(words, rows_of(table), strict=True))
        # The calls of one model step are bracketed at the start of their rows.
        _, table = await show(bundled("demo"), (70, 30))
        marks = {row.split()[2]: row[0] for row in rows_of(table)}
        step = ("tidepool/nearest.py", "tests/test_nearest.py", "\\.seconds\\b")
        corners = "".join(row[0] for row in rows_of(table) if any(name in row for name in step))
        assert corners == "┌│└ "
        assert marks["**/*.py"] == " "
        # Copying the selected call gives its line of the text format.
        _, table = await show(recording(init() + shell(1, 2) + shell(2) + result("")))
        await pilot.press("k")
        assert table.copied()[1] == "Ran terminal command echo 1 (failed: exit 2)"


async def test_keys_and_clicks_move_the_cursor(recording: Saver) -> None:
    """The cursor follows the newest call; keys move it by a row, a page or to an end, a click to a row."""
    async with tables() as (show, pilot):
        # The cursor moves to each new call until the user moves it up, and again after End.
        path = recording(init() + b"".join(shell(n) for n in range(20)))
        feed, table = await show(path, follow=True)

        def come(first: int, count: int) -> None:
            append(path, b"".join(shell(n) for n in range(first, first + count)))
            feed.advance()
            table.sync(None)

        def chosen() -> str | None:
            return table.chosen.target if table.chosen else None

        assert chosen() == "echo 19"
        come(20, 2)
        assert chosen() == "echo 21"
        await pilot.press("k")
        assert chosen() == "echo 20"
        seen = viewport(table)
        come(22, 5)
        await pilot.pause()
        assert chosen() == "echo 20"
        assert viewport(table) == seen
        assert str(table.border_subtitle) == "5 new below ▾"
        await pilot.press("G")
        assert chosen() == "echo 26"
        come(27, 30)
        await pilot.pause()
        assert chosen() == "echo 56"
        assert "echo 56" in viewport(table)[-1]
        # A page key moves the cursor by one row less than the viewport.
        path = recording(init() + b"".join(shell(n) for n in range(30)))
        _, table = await show(path)
        await pilot.press("pageup", "pageup")
        assert table.cursor == 29 - 2 * 8
        await pilot.press("pagedown")
        assert table.cursor == 29 - 8
        await pilot.press("home", "end")
        assert table.cursor == 29
        # A click selects the row under the mouse.
        path = recording(init() + b"".join(shell(n) for n in range(30)))
        _, table = await show(path)
        await pilot.press("g")
        await pilot.click(table, offset=(8, 5))
        assert table.cursor == 3
        # A click below the last row changes nothing.
        _, table = await show(recording(init() + shell(1) + shell(2)))
        await pilot.press("g")
        await pilot.click(table, offset=(8, 8))
        assert table.cursor == 0
        # The cursor moves by a row, to the first and to the last, and stops at both.
        for keys, row in (("g", 0), ("gj", 1), ("gjjk", 1), ("gG", 29), ("k", 28), ("gk", 0), ("j", 29)):
            with case(f"{keys}, {row}"):
                path = recording(init() + b"".join(shell(n) for n in range(30)))
                _, table = await show(path)
                await pilot.press(*keys)
                assert table.cursor == row
                assert any(f"echo {row} " in line for line in viewport(table))


@pytest.mark.system
async def test_a_second_click_opens_however_late(recording: Saver) -> None:
    """A second click on a row does what enter does, also if it is not a double click."""
    path = recording(init() + b"".join(shell(n) for n in range(30)))
    async with opened(path, follow=True) as stage:
        await stage.pilot.click(stage.calls, offset=(8, 5))
        await stage.until(lambda: stage.focus == "calls", "the calls")
        await stage.pilot.pause(0.6)
        await stage.pilot.click(stage.calls, offset=(8, 5))
        await stage.until(lambda: stage.focus == "detail", "the detail")


async def test_failures_are_found_in_both_directions(recording: Saver) -> None:
    """`choose_failure` goes to the failures in time, from the newest, and says what became of each."""
    async with tables() as (show, _):
        # `choose_failure` selects the next or previous failure, around the ends, and says what became of it.
        codes = [1 if n in (3, 7, 12) else 0 for n in range(20)]
        path = recording(init() + b"".join(shell(n, code) for n, code in enumerate(codes)))
        _, table = await show(path)
        rows = []
        for step in (1, 1, -1, -1, -1, 1):
            found = table.choose_failure(step)
            rows.append((found, table.cursor))
        assert rows == [
            (f"failure {place} of 3 · not tried again", cursor)
            for place, cursor in ((3, 12), (1, 3), (3, 12), (2, 7), (1, 3), (2, 7))
        ]
        # From a call that has not failed, it is the next one on that side, and after all of them the newest.
        for row, step, cursor in ((5, 1, 7), (5, -1, 3), (15, 1, 12), (15, -1, 12), (1, -1, 3), (1, 1, 3)):
            table.choose(row)
            table.choose_failure(step)
            assert (row, step, table.cursor) == (row, step, cursor)
        # A rejected call and an unfinished one are not failures, as in the header.
        _, table = await show(bundled("hostile"))
        for _ in range(2):
            assert table.choose_failure(-1).startswith("failure 1 of 1")
            assert table.cursor == 1

        # Red tests, a search that found nothing, and what was tried again or not, each in its place in time.
        def ran(number: int, command: str, code: int, printed: str = "") -> bytes:
            args: dict[str, object] = {"command": command}
            body = {"exitCode": code, "stdout": printed}
            outcome = {"failure" if code else "success": body}
            return started(f"c-{number}", "shell", args) + ended(f"c-{number}", "shell", args, outcome)

        red = "1 failed, 4 passed in 0.31s"
        calls = (
            *(("grep -rn mill src", 1, ""), ("make lint", 2, "bad"), ("make lint", 0, "")),
            *(("pytest tests/a.py", 1, red), ("pytest", 0, "5 passed in 0.31s"), ("make docs", 2, "bad")),
            *(("git push", 1, "rejected"), ("git push", 1, "rejected"), ("pytest | tail -3", 0, red)),
        )
        path = recording(init() + b"".join(ran(n, *call) for n, call in enumerate(calls, 1)))
        _, table = await show(path)
        assert [table.choose_failure(1) for _ in range(8)] == [
            "#9 · tests still red",
            "failure 1 of 6 · no match",
            "failure 2 of 6 · fixed by #3",
            "failure 3 of 6 · fixed by #5",
            "failure 4 of 6 · not tried again",
            "failure 5 of 6 · tried again in #8",
            "failure 6 of 6 · not tried again",
            "#9 · tests still red",
        ]
        table.filter_by("make")
        assert table.choose_failure(-1) == "failure 1 of 2 shown · fixed by #3"


async def test_a_row_fits_its_pane(recording: Saver) -> None:
    """A row is as wide as the pane; of what is too long, the part that tells calls apart stays."""
    async with tables() as (show, _):
        # A path that is too long loses whole folders from its middle, never its file name.
        path: dict[str, object] = {"path": f"{CWD}/one/two/three/four/five/six/seven/eight/nine/ten/name.py"}
        call = started("a", "read", path) + ended("a", "read", path, {"success": {"totalLines": 4}})
        _, table = await show(recording(init() + call), (56, 10))
        row = rows_of(table)[0]
        assert " one/two/…/ten/name.py " in row
        # A URL that is too long loses its middle, so that pages of one host can be told apart.
        page: dict[str, object] = {"url": "https://tides.example.org/glossary/of/words/mean-low-water"}
        call = started("a", "webFetch", page) + ended(
            "a", "webFetch", page, {"success": {"markdown": "# Page"}}
        )
        _, table = await show(recording(init() + call), (56, 10))
        assert " https://…/words/mean-low-water " in rows_of(table)[0]
        # A path of wide characters is cut by columns, and its row is as wide as the others.
        path = {"path": f"{CWD}/{'東京' * 30}.md"}
        call = started("a", "read", path) + ended("a", "read", path, {"success": {"totalLines": 4}})
        _, table = await show(recording(init() + call + shell(2)), (56, 10))
        width = table.scrollable_content_region.width
        assert {table.draw(y, width).cell_length for y in range(2)} == {width}
        assert "京.md" in rows_of(table)[0]
        # A command that is too long keeps its beginning.
        args: dict[str, object] = {"command": "grep -rn " + "needle " * 20}
        call = started("a", "shell", args) + ended("a", "shell", args, {"success": {"exitCode": 0}})
        _, table = await show(recording(init() + call), (56, 10))
        row = rows_of(table)[0]
        assert "grep -rn needle" in row
        assert "…" in row
        assert row.endswith("1.5 s")
        # The outcome note gets shorter with the width, and is dropped in a narrow pane.
        args = {"command": "make the whole of it"}
        reason = {"error": {"error": "No space left on the device"}}
        data = init() + started("a", "shell", args) + ended("a", "shell", args, reason)
        notes = []
        for width in (90, 50, 32):
            _, table = await show(recording(data), (width, 10))
            row = rows_of(table)[0]
            assert "make the" in row
            notes.append(row.partition("No space")[1] + row.partition("No space")[2])
        assert notes[0].startswith("No space left")
        assert notes[2] == ""
        # Every rendered row is as wide as the pane; from 16 columns, so is every drawn line.
        for width in (1, 3, 10, 20, 40, 64, 200):
            with case(width):
                _, table = await show(bundled("demo"), (width + 4, 12))
                room = table.scrollable_content_region.width
                assert {table.render_line(y).cell_length for y in range(5)} == {room}
                if width > 15:
                    assert {table.draw(y, room).cell_length for y in range(table.line_count())} == {room}
        # The time strip is shown in a terminal of 60 columns or more (a pane of 56), and in no narrower one.
        for width, is_drawn in ((120, True), (60, True), (59, False), (40, False)):
            _, table = await show(bundled("demo"), (width, 30))
            assert any(set(row) & set("▏▎▍▌▋▊▉█▐▕") for row in rows_of(table)) is is_drawn
        # The heading has its row before the pane is scrolled to its end, in panes with and without a heading.
        for height in (30, 12, 9):
            _, table = await show(bundled("demo"), (70, height))
            assert table.following
            assert table.at_end()


@pytest.mark.system
async def test_no_word_is_cut() -> None:
    """`1 failed` and `rejected` are whole at any width; counts of lines and matches are whole or absent. With
    40 columns the number of the call leaves room for the exit code only.
    """
    async with opened(bundled("demo"), (160, 40)) as stage:
        await stage.press("2")
        for width in (160, 120, 110, 100, 80, 60, 40):
            with case(width):
                await stage.pilot.resize_terminal(width, 40)
                await stage.shows("✗ 1 failed" if width > 40 else "exit 1", "calls")
                rows = lines_of(stage.calls)
                assert any("rejected" in row for row in rows)
                for row in rows:
                    words = row.split()
                    assert not any(
                        word.startswith(("line", "match", "reje")) and "…" in word for word in words
                    ), row


def call(number: int, tool: str, result: object = None, **args: object) -> bytes:
    """Return the two lines of a call that succeeded."""
    call_id = f"made-{number}"
    return started(call_id, tool, dict(args)) + ended(call_id, tool, dict(args), {"success": result or {}})


def screen_rows(app: PaneApp) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


async def test_columns_have_headings(recording: Saver) -> None:
    """Each column has its heading where the pane is high enough, and is as wide as its cells need."""
    async with tables() as (show, pilot):
        # Each column has its heading, in the column where its cells begin or end.
        _, table = await show(bundled("demo"), (100, 24))
        assert isinstance(pilot.app, PaneApp)
        heading, first = screen_rows(pilot.app)[1:3]
        assert heading.split()[1:6] == ["#", "tool", "target", "result", "time"]
        row = next(row for row in screen_rows(pilot.app) if "20 lines" in row)
        assert heading.index("tool") == row.index("read")
        assert heading.index("target") == row.index("tidepool/nearest.py")
        assert heading.index("result") + len("result") == row.index("20 lines") + len("20 lines")
        assert heading.index("time") + len("time") == row.index(" s ") + len(" s")
        assert "▏ 58.9 s" in heading
        assert " 1 ✓" in first
        await pilot.press("G")
        assert screen_rows(pilot.app)[1] == heading
        assert table.line_count() == 14
        # A pane of fewer than 10 rows shows calls only, and the heading comes back with the rows.
        _, _ = await show(bundled("demo"), (100, 24))
        app = pilot.app
        assert isinstance(app, PaneApp)
        for rows, is_shown in ((9, False), (10, True), (5, False)):
            await pilot.resize_terminal(100, rows)
            await pilot.pause()
            assert ("target" in screen_rows(app)[1]) is is_shown
        # Each row begins with the number of its call, at every width.
        path = recording(init() + b"".join(shell(n, n % 2) for n in range(12)))
        for width in (100, 60, 44, 30, 20):
            with case(width):
                _, table = await show(path, (width, 20))
                starts = [row[:6] for row in lines_of(table)]
                assert starts == [f" {n:>2} {'✗✓'[n % 2]} " for n in range(1, 13)]
        # The column of the tools grows with the longest name, and no further.
        path = recording(init() + read(1, "a.py"))
        feed, table = await show(path, follow=True)
        assert rows_of(table)[0].startswith(" ✓ read a.py ")
        append(path, call(1, "updateTodos") + call(2, "webFetch", url="https://a.b") + shell(3))
        feed.advance()
        table.sync(None)
        starts = [row[:13].rstrip() for row in rows_of(table)]
        assert starts == [" ✓ read  a.py", " ✓ todos", " ✓ fetch http", " ✓ shell echo"]


async def test_targets_show_what_differs(recording: Saver) -> None:
    """Targets leave out what repeats, show what differs, and stay apart from the result."""
    async with tables() as (show, _):
        # The target of an unknown tool does not repeat the name that the tool column shows.
        path = recording(init() + call(1, "teleport", destination="Mars") + call(2, "beam"))
        _, table = await show(path)
        assert [row.split()[:3] for row in rows_of(table)] == [
            ["✓", "teleport", "Mars"],
            ["✓", "beam", "1.5"],
        ]
        # The table leaves out `cd DIR &&`; what is copied contains it.
        path = recording(init() + call(1, "shell", command="cd '/a b/c' && cd d && pytest -q"))
        _, table = await show(path)
        assert rows_of(table)[0].split()[2:4] == ["pytest", "-q"]
        assert table.copied()[1] == "Ran terminal command cd '/a b/c' && cd d && pytest -q"
        # Commands that share a long beginning lose it, and show where they differ.
        command = "python -m pytest --no-header tests/integration/test_{}.py -q"
        names = ("alpha", "beta", "gamma")
        calls = [call(n, "shell", command=command.format(name)) for n, name in enumerate(names)]
        _, table = await show(recording(init() + b"".join(calls)), (56, 20))
        for name, row in zip(names, rows_of(table), strict=True):
            assert row.startswith(" ✓ shell python -m ")
            assert f" …test_{name}.py -q " in row
        # What is known about a to-do list stands where other calls have their target.
        todos = [{"id": "1", "content": "one", "status": "TODO_STATUS_COMPLETED"}]
        args: dict[str, object] = {"todos": todos}
        todo_call = started("a", "updateTodos", args) + ended(
            "a", "updateTodos", args, {"success": {"todos": todos}}
        )
        _, table = await show(recording(init() + todo_call), (60, 12))
        assert "todos 1 of 1 done " in rows_of(table)[0]
        # Paths with the same file name in other folders show the folder, however narrow the pane is.
        for width in (24, 30, 40, 60, 90):
            with case(width):
                paths = [f"packages/{name}/src/lib/index.ts" for name in ("alpha", "beta", "gamma")]
                edits = [call(n, "edit", path=f"{CWD}/{path}") for n, path in enumerate(paths)]
                _, table = await show(recording(init() + b"".join(edits)), (width, 20))
                assert len({" ".join(row.split()[:3]) for row in rows_of(table)}) == 3
        # At least two blanks separate a target from its result, even if the target is cut.
        edit = ended("a", "edit", {"path": f"{CWD}/{'long/' * 9}name.py"}, {"success": {"linesAdded": 3}})
        path = recording(init() + edit)
        for width in range(58, 64):
            _, table = await show(path, (width, 12))
            assert re.search(r"name\.py {2,}\+3 ", rows_of(table)[0])


async def test_consecutive_reads_are_one_row(recording: Saver) -> None:
    """Similar consecutive calls are one row with their names or count, which opens and closes."""
    async with tables() as (show, pilot):
        # Consecutive reads are one row with the file names; enter opens it into its calls, and closes it.
        path = recording(init() + shell(1) + reads("src/a.py", "src/b.py", "c.md") + shell(2))
        _, table = await show(path)
        assert "read" in rows_of(table)[1]
        assert " ▸ 3 files: a.py, b.py, c.md " in rows_of(table)[1]
        await pilot.press("g", "j", "enter")
        assert [row.split()[2:4] for row in rows_of(table)] == [
            *(["echo", "1"], ["▾", "3"], ["src/a.py", "4"], ["src/b.py", "4"], ["c.md", "4"], ["echo", "2"])
        ]
        await pilot.press("j", "j")
        assert table.chosen is not None
        assert table.chosen.target == "src/b.py"
        await pilot.press("k", "k", "enter")
        assert len(rows_of(table)) == 3
        # When a fold closes, earlier rows fill the space.
        path = recording(
            init() + b"".join(map(shell, range(12))) + reads(*(f"{n}.py" for n in range(30))) + shell(50)
        )
        _, table = await show(path)
        await pilot.press("k", "enter")
        table.settle_at(12)
        assert "▾" in viewport(table)[0]
        await pilot.press("enter")
        assert all(viewport(table))
        # When a file was read twice, the row counts reads, and names each file once.
        _, table = await show(recording(init() + reads("a.py", "b.py", "a.py")))
        assert " ▸ 3 reads: a.py, b.py " in rows_of(table)[0]
        # A repeated call is one row with its count, which is visible however long the target is.
        args: dict[str, object] = {"command": "make " + "all " * 40}
        one = b"".join(
            started(f"c{n}", "shell", args) + ended(f"c{n}", "shell", args, {"success": {"exitCode": 2}})
            for n in range(12)
        )
        for width in (100, 50, 38):
            _, table = await show(recording(init() + one), (width, 10))
            [row] = rows_of(table)
            assert row.startswith(" ✗ shell")
            assert " ▸ make" in row
            assert "… ×12 " in row


async def test_the_selected_call_stays_when_folds_change(recording: Saver) -> None:
    """When calls fold or a fold grows, the cursor stays on its call and the viewport does not move."""
    async with tables() as (show, pilot):
        # When calls fold into one row, the cursor stays on its call and the viewport does not move.
        args: dict[str, object] = {"path": f"{CWD}/d.py"}
        head = init() + reads("a.py", "b.py") + started("d", "read", args)
        path = recording(head + b"".join(shell(n) for n in range(30)))
        feed, table = await show(path, follow=True)
        await pilot.press(*"k" * 15)
        was, seen = table.chosen, viewport(table)
        assert was is not None
        append(path, ended("d", "read", args, {"success": {"totalLines": 4}}))
        feed.advance()
        table.sync(None)
        await pilot.pause()
        assert "3 files" in rows_of(table)[0]
        assert table.chosen is was
        assert viewport(table) == seen
        assert f"{was.target} " in rows_of(table)[table.cursor]
        # A new call in a fold becomes the selected one only while the end is followed.
        path = recording(init() + shell(1) + reads("a.py", "b.py", "c.py"))
        feed, table = await show(path, follow=True)
        targets = []
        for number, keys in ((3, ()), (4, ("g", "j")), (5, ("k", "j"))):
            await pilot.press(*keys)
            table.following = table.following and number == 3
            append(path, read(number, f"{number}.py"))
            feed.advance()
            table.sync(None)
            targets.append(table.chosen and table.chosen.target)
        assert targets == ["3.py", "3.py", "4.py"]
        # The cursor stays on an open fold while calls are added.
        path = recording(init() + shell(1) + reads("a.py", "b.py", "c.py") + shell(2))
        feed, table = await show(path, follow=True)
        await pilot.press("k", "enter")
        append(path, shell(3))
        feed.advance()
        table.sync(None)
        assert table.cursor == 1
        assert "▾" in rows_of(table)[1]
