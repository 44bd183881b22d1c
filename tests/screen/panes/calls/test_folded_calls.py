"""Similar consecutive calls are one row, which opens, closes and keeps its selection."""

from __future__ import annotations

from tests.builders.screen.app import viewport
from tests.builders.screen.call_table import read, reads, rows_of, tables
from tests.builders.screen.lines import CWD, append, ended, init, shell, started
from tests.conftest import Saver


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
