"""A row of a shell call shows the verdict of its tests, which is read when the row is drawn."""

import json
from functools import partial

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.screen.panes.calls.pane import CallTable, VerdictCache
from agentwatch.session.blocks import Block
from agentwatch.session.call import Place
from tests.builders.screen.app import bundled, eventually
from tests.builders.screen.call_table import rows_of, tables
from tests.builders.screen.lines import append, ended, init, shell, started
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

RED, GREEN = "..F..\n1 failed, 4 passed in 0.31s\n", "17 passed in 0.31s\n"


def run_of_tests(number: int, output: str, exit_code: int = 0, stream: str = "stdout") -> bytes:
    """Return a shell call that ran `pytest`."""
    call_id, args = f"tests-{number}", {"command": f"pytest -q tests/test_{number}.py"}
    result = {"success": {"exitCode": exit_code, stream: output}}
    return started(call_id, "shell", dict(args)) + ended(call_id, "shell", dict(args), result)


def style_of(table: CallTable, words: str) -> str | None:
    """Return the name of the style in which words stand in the first row."""
    [piece] = [each for each in table.draw(0, table.scrollable_content_region.width) if words in each.text]
    names = ("failed", "succeeded", "unfinished", "muted")
    return next((name for name in names if table.line_style(name) == piece.style), None)


def has_words(table: CallTable, words: str) -> bool:
    """Return whether the first row contains these words."""
    return f" {words}" in rows_of(table)[0]


async def test_only_what_is_drawn_is_read(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The outputs of the rows in view are read, each once, and of a large line only its end."""
    async with tables() as (show, pilot):
        # The outputs of the rows in view are read, each once; the others are not.
        read: list[int] = []
        blocks = Feed.blocks

        def counted(feed: Feed, place: Place, call_id: str) -> list[Block]:
            read.append(place.offset)
            return blocks(feed, place, call_id)

        monkeypatch.setattr(Feed, "blocks", counted)
        path = recording(init() + b"".join(run_of_tests(n, GREEN) for n in range(200)))
        _, table = await show(path, (90, 20))
        height = table.scrollable_content_region.height

        def in_view() -> bool:
            return all("17 passed" in table.render_line(y).text for y in range(height))

        await eventually(pilot, in_view, "the verdicts")
        assert len(read) == len(set(read)) <= height + 1
        await pilot.press("g")
        await eventually(pilot, in_view, "the verdicts at the top")
        await pilot.press("G")
        await eventually(pilot, in_view, "the verdicts at the end")
        assert len(read) == len(set(read)) <= 2 * (height + 1)

        # The verdict of a line over 1 MiB comes from its last 160 KiB, and the line is not decoded.
        def refuse(_: Feed, place: Place, call_id: str) -> list[Block]:
            raise AssertionError(place, call_id)

        monkeypatch.setattr(Feed, "blocks", refuse)
        noise = 'tests/"test_ä.py" \\ ......... [ 10%]\n' * 40_000
        for newline in ("\n", ""):
            path = recording(init() + run_of_tests(1, f"{noise}\x1b[31m{RED.rstrip()}\x1b[0m{newline}", 1))
            _, table = await show(path)
            await eventually(pilot, partial(has_words, table, "✗ 1 failed"), "the verdict")


@pytest.mark.system
async def test_the_cache_is_bounded(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache forgets the oldest verdicts, and a call that is drawn again is read again."""
    monkeypatch.setattr("agentwatch.screen.panes.calls.pane._MOST_KEPT", 10)
    path = recording(init() + b"".join(run_of_tests(n, GREEN) for n in range(30)))
    async with tables() as (show, pilot):
        feed, table = await show(path, (90, 8))
        cache = VerdictCache(feed, table, lambda: None)
        calls = feed.session.calls
        for call in (*calls, calls[0]):
            cache.get(call)
            await eventually(pilot, lambda call=call: cache.get(call), "the verdict")  # type: ignore[misc]
        assert len(cache._known) == 10


async def test_the_result_is_the_verdict(recording: Saver) -> None:
    """A call that ran tests shows their verdict, in the longest form that fits; others keep a note."""
    async with tables() as (show, pilot):
        # The demo's two runs of pytest show one failure, then none.
        _, table = await show(bundled("demo"), (90, 24))
        assert isinstance(table, CallTable)
        await eventually(pilot, lambda: "✓ 17 passed" in "".join(rows_of(table)), "the verdicts")
        assert "✗ 1 failed, 8 passed" in "".join(rows_of(table))
        # The result of a call that ran tests is their verdict, with a sign and in its colour.
        for output, exit_code, words, style in (
            (RED, 1, "✗ 1 failed, 4 passed", "failed"),
            (RED, 0, "✗ 1 failed, 4 passed", "failed"),
            (GREEN, 0, "✓ 17 passed", "succeeded"),
            (GREEN, 1, "✗ 17 passed, exit 1", "failed"),
            ("3 deselected in 0.01s\n", 0, "no tests ran", "unfinished"),
        ):
            with case(f"{output!r}, {exit_code}, {words!r}"):
                path = recording(init() + run_of_tests(1, output, exit_code) + shell(2))
                _, table = await show(path, (90, 12))
                await eventually(pilot, partial(has_words, table, words), words)
                assert "exit" not in rows_of(table)[0].replace(words, "")
                assert style_of(table, words) == style
        # A verdict is shown in its longest form that leaves room for the target, else the exit code.
        path = recording(init() + run_of_tests(1, RED, 1) + shell(2))
        for width, words in ((70, "✗ 1 failed, 4 passed"), (48, "✗ 1 failed"), (39, "exit 1")):
            _, table = await show(path, (width, 12))
            await eventually(pilot, partial(has_words, table, words), words)
            assert "pytest" in rows_of(table)[0]
        # With room to spare, the verdict has its source, unless it names the exit code itself.
        for output, exit_code, words in (
            (RED, 0, "✗ 1 failed, 4 passed (pattern)"),
            ("3 deselected in 0.01s\n", 0, "no tests ran (pattern)"),
            (GREEN, 1, "✗ 17 passed, exit 1"),
        ):
            with case(f"{output!r}, {exit_code}, {words!r}"):
                path = recording(init() + run_of_tests(1, output, exit_code))
                _, table = await show(path, (130, 12))
                await eventually(pilot, partial(has_words, table, words), words)
        # The verdict of unittest, which writes to stderr, is shown.
        output = "Ran 5 tests in 0.001s\n\nOK (skipped=2)\n"
        _, table = await show(recording(init() + run_of_tests(1, output, stream="stderr")))
        await eventually(pilot, partial(has_words, table, "✓ 3 passed"), "the verdict")
        # An agent whose results are texts for the model gets verdicts too.
        use = {"type": "tool_use", "id": "t-1", "name": "Bash", "input": {"command": "pytest -q"}}
        result = {"type": "tool_result", "tool_use_id": "t-1", "content": RED}
        start = {"type": "system", "subtype": "init", "session_id": "s", "claude_code_version": "2.1.330"}
        messages = (
            {"type": "assistant", "session_id": "s", "message": {"id": "m", "content": [use]}},
            {"type": "user", "session_id": "s", "message": {"role": "user", "content": [result]}},
        )
        path = recording(b"".join(json.dumps(line).encode() + b"\n" for line in (start, *messages)))
        _, table = await show(path, (90, 12))
        await eventually(pilot, partial(has_words, table, "✗ 1 failed, 4 passed"), "the verdict")
        # A running call has no verdict; it gets one when it ends.
        begun, ended_line = run_of_tests(1, RED, 1).splitlines(keepends=True)
        path = recording(init() + begun)
        feed, table = await show(path, (90, 12), follow=True)
        assert " running " in rows_of(table)[0]
        append(path, ended_line)
        feed.advance()
        table.sync(None)
        await eventually(pilot, partial(has_words, table, "✗ 1 failed"), "the verdict")
        # A failure without a verdict keeps its exit code, and a green line does not hide another failure.
        args: dict[str, object] = {"command": "pytest"}
        aborted = {"failure": {"aborted": True, "stdout": GREEN}}
        path = recording(
            init()
            + shell(1, 2)
            + started("a", "shell", args)
            + ended("a", "shell", args, aborted)
            + run_of_tests(2, RED)
        )
        _, table = await show(path, (90, 12))
        await eventually(pilot, lambda table=table: "1 failed" in rows_of(table)[2], "the verdict")  # type: ignore[misc]
        assert " exit 2 " in rows_of(table)[0]
        assert " aborted " in rows_of(table)[1]
        assert "failed" not in rows_of(table)[1]
