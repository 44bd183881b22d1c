"""The detail shows what happened first, everything once, and copies what it leads with."""

from __future__ import annotations

import pytest

from tests.builders.screen.app import lines_of, opened
from tests.builders.screen.call_detail import shown
from tests.builders.screen.lines import CWD, ended, init, result, shell, started
from tests.conftest import Saver

pytestmark = pytest.mark.slow


@pytest.mark.system
@pytest.mark.parametrize(
    ("keys", "words", "text"),
    [
        ("", "copied #1's output, 3 lines", "one\ntwo\nthree"),
        ("r", "copied #1's raw lines, ", '{\n  "type"'),
    ],
)
async def test_y_copies_the_output_and_names_it(recording: Saver, keys: str, words: str, text: str) -> None:
    """`y` in the detail copies the output, or the raw lines, and the message names what was copied."""
    args: dict[str, object] = {"command": "make"}
    outcome = {"failure": {"exitCode": 1, "stdout": "one\ntwo\n", "stderr": "three\n"}}
    async with opened(recording(init() + ended("c", "shell", args, outcome) + result())) as stage:
        await stage.press("3", *keys, "y")
        await stage.shows(words)
        assert text in stage.app.clipboard


@pytest.mark.system
async def test_y_copies_the_chosen_branch(recording: Saver) -> None:
    """`y` copies the value of the selected branch of a tree."""
    call = started("c", "mcp", {"args": {"filter": {"state": ["open"]}}})
    async with opened(recording(init() + call), follow=True) as stage:
        await stage.press("3", "j", "y")
        await stage.shows("copied #1's filter, 5 lines")
        assert stage.app.clipboard == '{\n  "state": [\n    "open"\n  ]\n}'


async def test_nothing_is_shown_twice(recording: Saver) -> None:
    """A failure's reason, the path in the title and an argument that the result repeats stand there once."""
    args: dict[str, object] = {"path": f"{CWD}/x.py", "offset": 7}
    error = {"error": {"error": "No such file: x.py", "offset": 7}}
    async with shown(recording(init() + started("r", "read", args) + ended("r", "read", args, error))) as (
        _,
        detail,
        pilot,
    ):
        await pilot.press("j", "space")
        text = "\n".join(lines_of(detail))
        assert text.count("No such file") == 1
        assert text.count("offset: 7") == 1
        assert f"{CWD}/x.py" not in text
        assert "▾ 2 more fields" in text
        assert "call_id: r" in text


@pytest.mark.parametrize(
    ("tool", "outcome"),
    [
        ("task", {"rejected": {"reason": "Not allowed.\n" + "why\n" * 1200}}),
        ("shell", {"failure": {"stderr": "Not allowed.\n" + "why\n" * 1200}}),
    ],
)
async def test_a_long_reason_is_shown_once(recording: Saver, tool: str, outcome: dict[str, object]) -> None:
    """A reason of over 4,096 characters, of which the session keeps the beginning, stands there once."""
    async with shown(recording(init() + ended("c", tool, {"command": "x"}, outcome))) as (_, detail, _):
        assert "\n".join(lines_of(detail)).count("Not allowed.") == 1


async def test_an_edit_and_a_read_begin_with_their_content(recording: Saver) -> None:
    """The diff or the content comes first, then the facts in one line, then the other fields in one line."""
    args: dict[str, object] = {"path": f"{CWD}/x.py", "streamContent": "one\ntwo\n"}
    success = {
        "success": {"diffString": "@@ -1 +1 @@\n-a\n+b", "linesAdded": 1, "linesRemoved": 1, "size": 9}
    }
    async with shown(recording(init() + started("e", "edit", args) + ended("e", "edit", args, success))) as (
        _,
        detail,
        pilot,
    ):
        assert lines_of(detail) == [
            "@@ -1 +1 @@",
            "1   - a",
            "  1 + b",
            "✓ +1 −1 · 1.5 s · started 09:00:00",
            "▸ 5 more fields",
        ]
        await pilot.press("j", "space")
        assert lines_of(detail)[4:] == [
            "▾ 5 more fields",
            "  ▸ streamContent: 2 lines",
            "    linesAdded: 1",
            "    linesRemoved: 1",
            "    size: 9",
            "    call_id: e",
        ]


async def test_a_command_of_several_lines_is_whole(recording: Saver) -> None:
    """A command of several lines is shown with all its lines, and a shell without output says so."""
    args: dict[str, object] = {"command": "cd src &&\nmake"}
    call = started("c", "shell", args) + ended("c", "shell", args, {"success": {"exitCode": 0}})
    async with shown(recording(init() + call)) as (_, detail, _):
        assert lines_of(detail)[:4] == [
            "$ cd src &&",
            "make",
            "no output",
            "✓ exit 0 · 1.5 s · started 09:00:00",
        ]


async def test_an_mcp_call_shows_its_arguments_and_its_content(recording: Saver) -> None:
    """The arguments of an MCP tool are a tree above what it returned; the names of the tool are folded."""
    args: dict[str, object] = {"providerIdentifier": "tracker", "toolName": "get", "args": {"number": 118}}
    success = {"success": {"content": [{"text": {"text": "Release build fails"}}]}}
    async with shown(recording(init() + started("m", "mcp", args) + ended("m", "mcp", args, success))) as (
        _,
        detail,
        _,
    ):
        lines = lines_of(detail)
        assert lines[:2] == ["── arguments", "number: 118"]
        assert lines[lines.index("── content") + 1] == "Release build fails"
        assert lines[-1] == "▸ 3 more fields"


async def test_fields_nested_too_deeply_to_compare_are_shown(recording: Saver) -> None:
    """Arguments that the result repeats, nested 900 levels deep, do not end the program."""
    deep: dict[str, object] = {}
    for _ in range(900):
        deep = {"a": deep}
    args: dict[str, object] = {"command": "ls", "deep": deep}
    call = started("c", "shell", args) + ended("c", "shell", args, {"success": {"stdout": "x", "deep": deep}})
    async with shown(recording(init() + call)) as (_, detail, _):
        assert lines_of(detail)[-1].endswith("more fields")


@pytest.mark.system
async def test_y_copies_the_error_of_a_call_without_output(recording: Saver) -> None:
    """`y` copies the reason of a failure if there is no output, and the whole detail if there is neither."""
    fail = ended("e", "edit", {"path": f"{CWD}/x.py"}, {"error": {"error": "It occurs\ntwice."}})
    async with opened(recording(init() + fail + shell(2) + result())) as stage:
        await stage.press("2", "g", "3", "y")
        await stage.shows("copied #1's error, 2 lines")
        assert stage.app.clipboard == "It occurs\ntwice."
        await stage.press("J", "y")
        await stage.shows("copied #2's detail, ")
        assert stage.app.clipboard.startswith("$ echo 2")
