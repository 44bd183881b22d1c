"""The columns of the table: heading, numbers, short names, and targets that show what differs."""

from __future__ import annotations

import re

from tests.builders.screen.app import PaneApp, bundled, lines_of
from tests.builders.screen.call_table import read, rows_of, tables
from tests.builders.screen.lines import CWD, append, ended, init, shell, started
from tests.conftest import Saver, case


def call(number: int, tool: str, result: object = None, **args: object) -> bytes:
    """Return the two lines of a call that succeeded."""
    call_id = f"made-{number}"
    return started(call_id, tool, dict(args)) + ended(call_id, tool, dict(args), {"success": result or {}})


def screen_rows(app: PaneApp) -> list[str]:
    """Return the rows of the terminal."""
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
        # Each row begins with the number of its call; a narrow pane leaves the numbers out.
        path = recording(init() + b"".join(shell(n, n % 2) for n in range(12)))
        _, table = await show(path, (60, 20))
        assert [row[:6] for row in lines_of(table)] == [f" {n:>2} {'✗✓'[n % 2]} " for n in range(1, 13)]
        _, table = await show(path, (44, 20))
        assert lines_of(table)[0].startswith(" ✓ shell")
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
