"""The detail of a call is read back from the recording, and tells what it was given and gave back."""

from __future__ import annotations

import pytest

from agentwatch.screen.detail.from_blocks import pretty
from tests.builders.screen.app import bundled, lines_of, viewport
from tests.builders.screen.call_detail import looks_of, shown
from tests.builders.screen.lines import CWD, append, ended, init, shell, started
from tests.conftest import Saver


async def test_arguments_and_output_of_a_command(recording: Saver) -> None:
    """A command's detail holds its action, id, exit code, arguments, and all that it printed."""
    args: dict[str, object] = {"command": "make lint", "timeout": 30000}
    failure = {"failure": {"exitCode": 2, "stdout": "checking\n\n  2 errors", "stderr": "make: *** [lint]"}}
    data = init() + started("toolu_7", "shell", args) + ended("toolu_7", "shell", args, failure)
    async with shown(recording(data)) as (_, detail, _):
        lines = lines_of(detail)
        assert lines[0] == "Ran terminal command make lint (failed: exit 2)"
        assert "1.5 s" in lines[1]
        assert lines[2] == "✗ exit 2"
        assert lines[-1] == "call_id toolu_7"
        at = lines.index("── stdout")
        assert lines[at + 1 : at + 4] == ["checking", "", "  2 errors"]
        assert lines[lines.index("── stderr") + 1] == "make: *** [lint]"
        assert any("make lint" in line for line in lines[1:])
        assert any("30000" in line for line in lines)


async def test_the_payload_is_read_back_from_the_file(recording: Saver) -> None:
    """What a call gave back stays on disk until it is looked at: the lines are those of the file."""
    path = recording(init() + shell(1, 0, "needle of the file") + shell(2))
    async with shown(path, 1) as (feed, detail, _):
        path.write_bytes(path.read_bytes().replace(b"needle", b"NEEDLE"))
        detail.show_call(feed.session.calls[0])
        assert "NEEDLE of the file" in lines_of(detail)


async def test_a_call_that_ends_is_told_anew(recording: Saver) -> None:
    """While a call runs its arguments are shown; when it has ended, its output as well."""
    path = recording(init() + shell(1, None))
    async with shown(path, follow=True) as (feed, detail, _):
        assert lines_of(detail)[0] == "Ran terminal command echo 1 (running)"
        result = {"success": {"exitCode": 0, "stdout": "one"}}
        append(path, ended("call-1", "shell", {"command": "echo 1"}, result))
        feed.advance()
        detail.sync()
        lines = lines_of(detail)
        assert lines[0] == "Ran terminal command echo 1"
        assert lines[lines.index("── stdout") + 1] == "one"


async def test_an_error_is_shown_once(recording: Saver) -> None:
    """Why a call failed stands in the detail in full, and not twice."""
    args: dict[str, object] = {"path": f"{CWD}/x.py"}
    reason = "The text occurs twice.\nIt must occur once."
    data = init() + started("a", "edit", args) + ended("a", "edit", args, {"error": {"error": reason}})
    async with shown(recording(data)) as (_, detail, _):
        lines = lines_of(detail)
        assert lines.count("It must occur once.") == 1
        assert looks_of(detail, "It must") == {"failed"}


def tokens(text: str) -> str:
    """Return JSON without any blanks."""
    return "".join(text.split())


async def test_raw_is_the_line_of_the_recording(recording: Saver) -> None:
    """Raw, both lines of the call stand as recorded, each member in a line, and their places."""
    start, end = shell(1).splitlines(keepends=True)
    async with shown(recording(init() + start + end)) as (_, detail, _):
        told = lines_of(detail)
        detail.toggle_raw()
        raw = lines_of(detail)
        text = "".join(row.text for row in (detail.draw(y, 66) for y in range(detail.line_count())))
        assert tokens(start.decode()) in tokens(text)
        assert tokens(end.decode()) in tokens(text)
        assert '      "args": {' in raw
        assert raw[0] == f"started · byte {len(init())} · {len(start) - 1} bytes"
        detail.toggle_raw()
        assert lines_of(detail) == told


async def test_many_lines_are_limited_and_said(recording: Saver) -> None:
    """Of a very long output the beginning is shown, and how much is left out."""
    output = "\n".join(f"out {n}" for n in range(50_000))
    async with shown(recording(init() + shell(1, 0, output))) as (feed, detail, _):
        lines = lines_of(detail)
        assert 10_000 < len(lines) < 50_000
        assert "out 9999" in lines
        [said] = [line for line in lines if line.startswith("… ")]
        shown_outputs = sum(line.startswith("out ") for line in lines)
        assert shown_outputs + int(said.split()[1].replace(",", "")) == 50_000
        ended_at = feed.session.calls[0].ended
        assert ended_at is not None
        assert f"byte {ended_at.offset}" in said
        assert "command: echo 1" in lines


async def test_one_enormous_line_is_limited(recording: Saver) -> None:
    """A line of megabytes does not become ten thousands of rows."""
    async with shown(recording(init() + shell(1, 0, "x" * 3_000_000))) as (_, detail, _):
        assert 100 < detail.line_count() < 1_000
        assert "2,980,000 more characters" in " ".join(lines_of(detail))
        detail.toggle_raw()
        assert 100 < detail.line_count() < 1_000
        assert "more bytes, from byte" in " ".join(lines_of(detail))


async def test_long_lines_are_wrapped_by_columns(recording: Saver) -> None:
    """A long line goes on in the next row, nothing of it is lost, and wide characters stay whole."""
    output = "東京の潮位" * 30
    async with shown(recording(init() + shell(1, 0, output)), size=(41, 30)) as (_, detail, pilot):
        for width in (41, 24, 60):
            await pilot.resize_terminal(width, 30)
            await pilot.pause()
            room = detail.scrollable_content_region.width
            rows = [detail.draw(y, room) for y in range(detail.line_count())]
            assert max(row.cell_length for row in rows) <= room
            assert output in "".join(row.text for row in rows)


async def test_another_call_is_shown_from_its_beginning(recording: Saver) -> None:
    """Whoever chooses another call sees its first line, wherever the last one was scrolled to."""
    output = "\n".join(map(str, range(200)))
    async with shown(recording(init() + shell(1, 0, output) + shell(2, 0, output))) as (feed, detail, pilot):
        await pilot.press("G")
        assert viewport(detail)[0] != "Ran terminal command echo 1"
        detail.show_call(feed.session.calls[1])
        await pilot.pause()
        assert viewport(detail)[0] == "Ran terminal command echo 2"


async def test_growth_elsewhere_leaves_the_detail_where_it_is(recording: Saver) -> None:
    """A detail that is read is not moved by what the session brings."""
    output = "\n".join(map(str, range(200)))
    path = recording(init() + shell(1, 0, output))
    async with shown(path, follow=True) as (feed, detail, pilot):
        await pilot.press("pagedown", "down")
        seen = viewport(detail)
        append(path, shell(2, 0, output))
        feed.advance()
        detail.sync()
        await pilot.pause()
        assert viewport(detail) == seen
        assert not detail.border_subtitle


async def test_every_call_of_every_recording_has_a_detail() -> None:
    """Whatever a call gave back, its detail begins with its action and can be shown raw."""
    for name in ("demo", "failures", "rejected", "unfinished", "unknown", "hostile", "wide", "two-runs"):
        async with shown(bundled(name)) as (feed, detail, _):
            for call in feed.session.calls:
                detail.show_call(call)
                assert lines_of(detail)[0].startswith(call.phrase)
                detail.toggle_raw()
                assert lines_of(detail)[0].startswith(("started · byte", "ended · byte"))
                detail.toggle_raw()


@pytest.mark.parametrize("columns", [5, 6, 8, 12, 40])
async def test_combining_marks_without_a_letter(recording: Saver, columns: int) -> None:
    """A line that begins with marks that take no column can be shown in a pane of any width."""
    output = "\u0300\u0301\u0302\u0303" * 2 + "letters after marks"
    async with shown(recording(init() + shell(1, 0, output)), size=(columns, 10)) as (_, detail, _):
        rows = "".join(detail.draw(y, 100).text for y in range(detail.line_count()))
        assert "lettersaftermarks" in rows.replace(" ", "")


async def test_out_of_sight_nothing_is_read(recording: Saver) -> None:
    """A call's lines are read when its detail is looked at, not before."""
    async with shown(recording(init() + shell(1, 0, "one") + shell(2, 0, "two"))) as (feed, detail, pilot):
        detail.display = False
        await pilot.pause()
        detail.show_call(feed.session.calls[1])
        assert lines_of(detail)[0] == "Ran terminal command echo 1"
        detail.display = True
        await pilot.pause()
        assert lines_of(detail)[0] == "Ran terminal command echo 2"


async def test_down_scrolls_where_there_is_no_branch(recording: Saver) -> None:
    """In a text down and up move by a line; a branch that left the view is no longer chosen."""
    output = "\n".join(map(str, range(200)))
    async with shown(recording(init() + shell(1, 0, output)), size=(70, 12)) as (_, detail, pilot):
        first = viewport(detail)
        await pilot.press("down", "down")
        assert viewport(detail)[0] == first[2]
        await pilot.press("up")
        assert viewport(detail)[0] == first[1]


@pytest.mark.parametrize(
    "text", ['{"a": [1, {"b": "x, {y}: \\"z"}], "c": {}, "d": []}', '{"a": "cut off', "}}]] , :: {", ""]
)
def test_pretty_changes_no_token(text: str) -> None:
    """A line of JSON, whole or cut off, is broken between its tokens only."""
    assert tokens(pretty(text)) == tokens(text)


def test_pretty_gives_each_member_a_line() -> None:
    """Members stand in lines of their own, two columns deeper than what they are in."""
    assert pretty('{"a":[1,2],"b":{}}') == '{\n  "a": [\n    1,\n    2\n  ],\n  "b": {}\n}'
