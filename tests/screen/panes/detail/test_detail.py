"""The detail of a call is read back from the recording and shows its arguments and its result."""

import pytest

from agentwatch.screen.panes.detail.from_blocks import pretty
from agentwatch.text.signs import SIGNS
from tests.builders.screen.app import bundled, lines_of, viewport
from tests.builders.screen.call_detail import details, styles_of
from tests.builders.screen.lines import CWD, append, ended, init, shell, started
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


async def test_a_command_has_its_output_and_its_facts(recording: Saver) -> None:
    """A command's detail shows the command, its output, its outcome and its verdict, as they become known."""
    async with details() as (show, _):
        # A command's detail shows the command, its output, its outcome, and the other fields folded.
        args: dict[str, object] = {"command": "make lint", "timeout": 30000}
        failure = {
            "failure": {"exitCode": 2, "stdout": "checking\n\n  2 errors", "stderr": "make: *** [lint]"}
        }
        data = init() + started("toolu_7", "shell", args) + ended("toolu_7", "shell", args, failure)
        _, detail = await show(recording(data))
        lines = lines_of(detail)
        assert lines[:4] == ["$ make lint", "checking", "", "  2 errors"]
        assert lines[4:7] == ["", "── stderr", "make: *** [lint]"]
        assert lines[7] == "✗ exit 2 · 1.5 s · limit 30.0 s · started 09:00:00"
        assert lines[8:] == ["make: red (pattern) · make failed", "▸ 3 more fields"]
        assert styles_of(detail, "make: red") == {"failed"}
        # A verdict by the exit code says so; a command without a verdict has no line for it.
        args = {"command": "make lint"}
        silent = {"success": {"exitCode": 0, "stdout": ""}}
        data = init() + started("m", "shell", args) + ended("m", "shell", args, silent) + shell(2)
        _, detail = await show(recording(data))
        assert "make: green (exit) · make succeeded" in lines_of(detail)
        assert "failed" not in styles_of(detail, "make: green")
        _, detail = await show(recording(data), 1)
        assert not any("green" in line for line in lines_of(detail))
        # A call's payload is read from the file when its detail is shown, not kept in memory.
        path = recording(init() + shell(1, 0, "needle of the file") + shell(2))
        feed, detail = await show(path, 1)
        path.write_bytes(path.read_bytes().replace(b"needle", b"NEEDLE"))
        detail.show_call(feed.session.calls[0])
        assert "NEEDLE of the file" in lines_of(detail)
        # A running call's detail shows its arguments; once the call has ended, its output too.
        path = recording(init() + shell(1, None))
        feed, detail = await show(path, follow=True)
        assert lines_of(detail)[:2] == ["$ echo 1", "◐ running · started 09:00:00"]
        result = {"success": {"exitCode": 0, "stdout": "one"}}
        append(path, ended("call-1", "shell", {"command": "echo 1"}, result))
        feed.advance()
        detail.sync()
        lines = lines_of(detail)
        assert lines[:2] == ["$ echo 1", "one"]
        assert lines[2].startswith("✓ exit 0")
        # The reason of a failure is in the detail in full, and only once.
        args = {"path": f"{CWD}/x.py"}
        reason = "The text occurs twice.\nIt must occur once."
        data = init() + started("a", "edit", args) + ended("a", "edit", args, {"error": {"error": reason}})
        _, detail = await show(recording(data))
        lines = lines_of(detail)
        assert lines.count("It must occur once.") == 1
        assert styles_of(detail, "It must") == {"failed"}
        # The raw view shows both recorded lines of the call, one member per line, with their byte offsets.
        start, end = shell(1).splitlines(keepends=True)
        _, detail = await show(recording(init() + start + end))
        formatted = lines_of(detail)
        detail.toggle_raw()
        raw = lines_of(detail)
        text = "".join(row.text for row in (detail.draw(y, 66) for y in range(detail.line_count())))
        assert tokens(start.decode()) in tokens(text)
        assert tokens(end.decode()) in tokens(text)
        assert '      "args": {' in raw
        assert raw[0] == f"started · byte {len(init())} · {len(start) - 1} bytes"
        detail.toggle_raw()
        assert lines_of(detail) == formatted


def tokens(text: str) -> str:
    """Return JSON text without whitespace."""
    return "".join(text.split())


async def test_a_long_output_is_limited(recording: Saver) -> None:
    """Of a very long output or line a part is shown, with the number of what is left out."""
    async with details() as (show, pilot):
        # A very long output is cut after its first lines, and the number of lines left out is shown.
        output = "\n".join(f"out {n}" for n in range(50_000))
        feed, detail = await show(recording(init() + shell(1, 0, output)))
        lines = lines_of(detail)
        assert 10_000 < len(lines) < 50_000
        assert "out 9999" in lines
        [notice] = [line for line in lines if line.startswith("… ")]
        shown_outputs = sum(line.startswith("out ") for line in lines)
        assert shown_outputs + int(notice.split()[1].replace(",", "")) == 50_000
        ended_at = feed.session.calls[0].ended
        assert ended_at is not None
        assert f"byte {ended_at.offset}" in notice
        assert lines[0] == "$ echo 1"
        # A line of 3 MB takes fewer than 1,000 rows if it is wrapped, also raw; the rest is counted.
        _, detail = await show(recording(init() + shell(1, 0, "x" * 3_000_000)))
        assert detail.line_count() < 10
        await pilot.press("w")
        assert 100 < detail.line_count() < 1_000
        assert "2,980,000 more characters" in " ".join(lines_of(detail))
        detail.toggle_raw()
        assert 100 < detail.line_count() < 1_000
        assert "more bytes, starting at byte" in " ".join(lines_of(detail))
        # A long line wraps at any width without losing text, and wide characters are not split.
        output = "東京の潮位" * 30
        _, detail = await show(recording(init() + shell(1, 0, output)), size=(41, 30))
        await pilot.press("w")
        for width in (41, 24, 60):
            await pilot.resize_terminal(width, 30)
            await pilot.pause()
            room = detail.scrollable_content_region.width
            rows = [detail.draw(y, room) for y in range(detail.line_count())]
            assert max(row.cell_length for row in rows) <= room
            assert output in "".join(row.text for row in rows).replace("↳ ", "")
        # A line that begins with zero-width combining marks can be shown in a pane of any width.
        for columns in (12, 5, 6, 8, 40):
            with case(columns):
                output = "\u0300\u0301\u0302\u0303" * 2 + "letters after marks"
                _, detail = await show(recording(init() + shell(1, 0, output)), size=(columns, 10))
                await pilot.press("w")
                text = "".join(detail.draw(y, 100).text for y in range(detail.line_count()))
                assert "lettersaftermarks" in text.replace("↳", "").replace(" ", "")


async def test_the_detail_stays_or_begins_anew(recording: Saver) -> None:
    """Another call is shown from its beginning; new lines move nothing, and a hidden detail reads nothing."""
    async with details() as (show, pilot):
        # A newly selected call is shown from its first line, however far the previous one was scrolled.
        output = "\n".join(map(str, range(200)))
        feed, detail = await show(recording(init() + shell(1, 0, output) + shell(2, 0, output)))
        await pilot.press("G")
        assert viewport(detail)[0] != "$ echo 1"
        detail.show_call(feed.session.calls[1])
        await pilot.pause()
        assert viewport(detail)[0] == "$ echo 2"
        # New lines in the session do not move the detail.
        output = "\n".join(map(str, range(200)))
        path = recording(init() + shell(1, 0, output))
        feed, detail = await show(path, follow=True)
        await pilot.press("pagedown", "down")
        seen = viewport(detail)
        append(path, shell(2, 0, output))
        feed.advance()
        detail.sync()
        await pilot.pause()
        assert viewport(detail) == seen
        assert "below" not in str(detail.border_subtitle)
        # A hidden detail reads nothing; the call's lines are read once it becomes visible.
        feed, detail = await show(recording(init() + shell(1, 0, "one") + shell(2, 0, "two")))
        detail.display = False
        await pilot.pause()
        detail.show_call(feed.session.calls[1])
        assert lines_of(detail)[0] == "$ echo 1"
        detail.display = True
        await pilot.pause()
        assert lines_of(detail)[0] == "$ echo 2"
        # In a detail without branches, down and up scroll by a line.
        output = "\n".join(map(str, range(200)))
        _, detail = await show(recording(init() + shell(1, 0, output)), size=(70, 12))
        first = viewport(detail)
        await pilot.press("down", "down")
        assert viewport(detail)[0] == first[2]
        await pilot.press("up")
        assert viewport(detail)[0] == first[1]


@pytest.mark.system
async def test_every_call_of_every_recording_has_a_detail() -> None:
    """Every call of the bundled recordings has a detail that ends with its facts, and a raw view."""
    async with details() as (show, _):
        for name in ("demo", "failures", "rejected", "unfinished", "unknown", "hostile", "wide", "two-runs"):
            feed, detail = await show(bundled(name))
            assert feed.session.calls
            for call in feed.session.calls:
                detail.show_call(call)
                assert any(line.startswith(SIGNS[call.outcome]) for line in lines_of(detail)[-4:-1])
                assert lines_of(detail)[-1].startswith("▸ ")
                assert f"#{call.number} " in str(detail.border_title)
                detail.toggle_raw()
                assert lines_of(detail)[0].startswith(("started · byte", "ended · byte"))
                detail.toggle_raw()


def test_pretty_changes_no_token() -> None:
    """A line of JSON, whole or cut off, is broken between tokens only."""
    for text in ('{"a": [1, {"b": "x, {y}: \\"z"}], "c": {}, "d": []}', '{"a": "cut off', "}}]] , :: {", ""):
        with case(text):
            assert tokens(pretty(text)) == tokens(text)


def test_pretty_gives_each_member_a_line() -> None:
    """Each member is on its own line, indented two columns deeper than its parent."""
    assert pretty('{"a":[1,2],"b":{}}') == '{\n  "a": [\n    1,\n    2\n  ],\n  "b": {}\n}'
