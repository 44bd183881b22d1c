"""Each kind of block in the detail has its own display, of every agent."""

from pathlib import Path
from typing import Any

import pytest

from agentwatch.session.blocks import BinaryBlock, FieldsBlock, FilesBlock
from agentwatch.session.events import (
    Event,
    Outcome,
    Prompt,
    RunStarted,
    ToolEnded,
    ToolKind,
    ToolProgress,
    Traits,
)
from tests.builders import claude_lines as claude
from tests.builders.made_agent import MadeSession
from tests.builders.payloads import HIDDEN
from tests.builders.screen.app import lines_of, opened
from tests.builders.screen.call_detail import details, styles_of
from tests.builders.screen.lines import CWD, ended, init, shell, started
from tests.builders.subagents import TWO_SUBAGENTS, begins, ends
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


async def test_each_block_has_its_display(recording: Saver) -> None:
    """A diff, a file, a list, a page and a subagent's message each have their own display."""
    async with details() as (show, pilot):
        # Added lines, removed lines and hunk headers have their own styles, signs and line numbers.
        diff = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n kept\n-old\n+new"
        args: dict[str, object] = {"path": f"{CWD}/x.py"}
        success = {"success": {"diffString": diff, "linesAdded": 1, "linesRemoved": 1}}
        _, detail = await show(recording(init() + ended("a", "edit", args, success)))
        lines = lines_of(detail)
        assert lines[:4] == ["@@ -1,2 +1,2 @@", "1 1   kept", "2   - old", "  2 + new"]
        assert styles_of(detail, "  2 + new") >= {"added"}
        assert styles_of(detail, "2   - old") >= {"removed"}
        assert styles_of(detail, "@@") == {"hunk"}
        # Copying the detail of an edit copies the diff, with its signs and without line numbers.
        diff = "@@ -1,2 +1,2 @@\n kept\n-old\n+new"
        success = {"success": {"diffString": diff}}
        _, detail = await show(recording(init() + ended("a", "edit", dict(READ), success)))
        assert detail.copied() == ("#1's diff", diff)
        # No character of a command, a diff, a file, a page or an output is hidden; CR LF ends its lines.
        hidden, shown = f"{HIDDEN[0]}\r\nx", f"{HIDDEN[1]}␍"
        diff = f"@@ -1 +1 @@\n-a\n+{hidden}"
        changed = ended("a", "edit", dict(READ), {"success": {"diffString": diff}})
        steps = {"conversationSteps": [{"assistantMessage": {"text": hidden}}]}
        said = ended("t", "task", {}, {"success": steps})
        command: dict[str, object] = {"command": hidden}
        ran = ended("c", "shell", command, {"success": {"exitCode": 0, "stdout": hidden}})
        for data, lines in (
            (init() + changed, ["@@ -1 +1 @@", "1   - a", f"  1 + {shown}"]),
            (reading(hidden), [f"1 {shown}", "2 x"]),
            (init() + said, [f"{shown} x"]),
            (init() + started("c", "shell", command) + ran, [f"$ {shown}", "x", HIDDEN[1], "x"]),
        ):
            with case(str(lines)):
                _, detail = await show(recording(data))
                assert lines_of(detail)[: len(lines)] == lines
        # Lines of a file show their line numbers in that file, and the colours of its language.
        data = reading("def f():\n    return 'x'\n", readRange={"startLine": 9})
        _, detail = await show(recording(data))
        assert lines_of(detail)[:2] == [" 9 def f():", "10     return 'x'"]
        styles = {segment.text: segment.style for segment in detail.draw(0, 66)}
        assert styles["def"] != styles["f"]
        # A file whose lines are too long to highlight in time is shown without colours.
        _, detail = await show(recording(reading("x = 'a';" * 4_000)))
        await pilot.press("w")
        assert {str(s.style) for s in [*detail.draw(10, 66)][1:]} == {str(detail.line_style("plain"))}
        # A to-do list returned as it was given is shown once, with its signs.
        todos: dict[str, object] = {"todos": [{"content": "Mend it", "status": "TODO_STATUS_IN_PROGRESS"}]}
        data = (
            init() + started("t", "updateTodos", todos) + ended("t", "updateTodos", todos, {"success": todos})
        )
        _, detail = await show(recording(data))
        lines = lines_of(detail)
        assert lines.count("◐ Mend it") == 1
        assert next(iter(detail.draw(lines.index("◐ Mend it"), 60))).style == detail.line_style(
            "plain"
        ) + detail.line_style("running")
        # Matches are listed under their file with line numbers; a subagent's message is rendered.
        match = {"lineNumber": 12, "content": "  x = 1"}
        found = {"content": {"matches": [{"file": "a.py", "matches": [match]}]}}
        grep = ended("g", "grep", {"pattern": "x"}, {"success": {"workspaceResults": {"/w": found}}})
        task = ended(
            "t", "task", {}, {"success": {"conversationSteps": [{"assistantMessage": {"text": "**Done.**"}}]}}
        )
        glob = ended("f", "glob", {"globPattern": "*"}, {"success": {"files": ["a", "b"]}})
        feed, detail = await show(recording(init() + grep + task + glob))
        assert lines_of(detail)[:2] == ["a.py", "12:  x = 1"]
        detail.show_call(feed.session.calls[1])
        assert lines_of(detail)[0] == "Done."
        detail.show_call(feed.session.calls[2])
        assert lines_of(detail)[:2] == ["a", "b"]
        # A fetched page shows its Markdown, and a web search lists its pages.
        page = {"url": "https://example.com", "markdown": "# Tides\n\nhigh"}
        pages = [{"title": "Tides", "url": "https://example.com/a", "chunk": "**High** at noon."}]
        fetch = ended("f", "webFetch", {"url": "https://example.com"}, {"success": page})
        search = ended("s", "webSearch", {"searchTerm": "tides"}, {"success": {"references": pages}})
        feed, detail = await show(recording(init() + fetch + search))
        assert lines_of(detail)[:3] == ["Tides", "", "high"]
        detail.show_call(feed.session.calls[1])
        assert lines_of(detail)[:3] == ["Tides", "https://example.com/a", "High at noon."]
        # Switching to a light theme recolours the code for a light background.
        _, detail = await show(recording(reading("def f(): pass")))
        row = lines_of(detail).index("1 def f(): pass")

        def keyword() -> object:
            return {s.text: s.style.color for s in detail.draw(row, 60) if s.style}["def"]

        dark = keyword()
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert keyword() != dark


READ: dict[str, object] = {"path": f"{CWD}/far.py"}


def reading(source: str, **fields: object) -> bytes:
    """Return a run with one call that read a file."""
    return init() + ended("r", "read", dict(READ), {"success": {"content": source, **fields}})


DEEP = {"alpha": {"beta": {"gamma": [1, 2]}}, "flat": "x"}


async def test_a_branch_folds_by_key_or_click(recording: Saver) -> None:
    """Keys select the visible branches and fold them, and so does a click."""
    async with details() as (show, pilot):
        # Down and up select the visible branches; enter or space folds and unfolds the selected one.
        data = init() + started("m", "mcp", {"args": {"deep": DEEP}})
        _, detail = await show(recording(data))
        before = lines_of(detail)
        assert "  ▸ alpha: 1 member" in before
        await pilot.press("j", "j", "space")
        opened_once = lines_of(detail)
        at = opened_once.index("  ▾ alpha: 1 member")
        assert opened_once[at + 1] == "    ▸ beta: 1 member"
        await pilot.press("enter")
        assert lines_of(detail) == before
        await pilot.press("k", "enter")
        assert "▸ deep: 2 members" in lines_of(detail)
        # A click on a branch folds it; a click on any other row does nothing.
        data = init() + started("m", "mcp", {"args": {"deep": DEEP}})
        _, detail = await show(recording(data))
        row = lines_of(detail).index("▾ deep: 2 members")
        await pilot.click(detail, offset=(3, row + 4))
        assert "▾ deep: 2 members" in lines_of(detail)
        await pilot.click(detail, offset=(3, row + 1))
        assert "▸ deep: 2 members" in lines_of(detail)


@pytest.mark.system
async def test_without_a_branch_space_pauses_the_moment(recording: Saver) -> None:
    """While no branch is selected, space in the detail pauses the moment."""
    async with opened(recording(init() + shell(1, None)), follow=True) as stage:
        await stage.press("3", "space")
        await stage.until(lambda: stage.app.screen.has_class("-earlier"), "the paused moment")


START: list[Event] = [RunStarted("made-format", "s"), Prompt("Do it.")]
EDIT, WORDS = ToolKind.EDIT, "Edited file"


async def test_the_output_so_far_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The detail of a running call shows its output so far, and new output as it arrives."""
    made = MadeSession(
        [
            *START,
            begins("c", "Bash", "make"),
            ToolProgress("c", None, "one\n"),
            ToolProgress("c", None, "two\n"),
        ]
    )
    made.use(monkeypatch)
    path = made.save(tmp_path / "x.ndjson")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]))
    async with opened(path, follow=True) as stage:
        shown_lines = lines_of(stage.pane("detail"))
        assert shown_lines[shown_lines.index("── output so far") + 1] == "one"
        assert "two" not in shown_lines
        await stage.append(lines[4])
        shown_lines = lines_of(stage.pane("detail"))
        at = shown_lines.index("── output so far")
        assert shown_lines[at + 1 : at + 3] == ["one", "two"]


async def test_what_other_agents_report_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit codes, several files, binary results, parents and changes are shown as each agent reports them."""
    async with details() as (show, _):
        # If the agent never reports exit codes, the detail of a command says so once the command has ended.
        with_code = ToolEnded("e", None, "Bash", ToolKind.EXECUTE, Outcome.FAILED, WORDS, exit_code=3)
        calls: list[Event] = [
            begins("c", "Bash", "make"),
            ends("c", "Bash"),
            with_code,
            begins("d", "Bash", "x"),
        ]
        words = "exit code: not reported by this agent"
        for has_exit_codes in (True, False):
            with case(has_exit_codes):
                made = MadeSession([*START, *calls])
                made.use(monkeypatch, Traits(has_exit_codes=has_exit_codes))
                path = made.save(tmp_path / "x.ndjson")
                _, detail = await show(path)
                assert (words in lines_of(detail)) is not has_exit_codes
                for call in (1, 2):
                    _, detail = await show(path, call)
                    assert words not in lines_of(detail)
        # A call that acts on several files shows all of them, once.
        ended = ToolEnded("c", None, "patch", EDIT, Outcome.SUCCEEDED, WORDS, True, "a.py", "a.py")
        ended = ended._replace(more_paths=("b.py", "c.py"))
        for is_listed in (False, True):
            listed = [FilesBlock(("a.py", "b.py", "c.py"))] if is_listed else []
            with case(is_listed):
                made = MadeSession([*START, ended], {"c": listed})
                made.use(monkeypatch, Traits(announces_calls=False))
                _, detail = await show(made.save(tmp_path / "x.ndjson"))
                shown_lines = lines_of(detail)
                assert [line for line in shown_lines if line.endswith(".py")] == ["a.py", "b.py", "c.py"]
                assert ("── 3 files" in shown_lines) is not is_listed
        # If the result is only a sentence, the detail shows the change or the plan, and folds the sentence.
        path = tmp_path / "x.ndjson"
        cases: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
            (
                "Edit",
                {"file_path": "a.py", "old_string": "one", "new_string": "two"},
                ["1   - one", "  1 + two"],
            ),
            ("Write", {"file_path": "a.py", "content": "one\ntwo\n"}, ["1 one", "2 two"]),
            ("TodoWrite", {"todos": [{"content": "Find it", "status": "completed"}]}, ["✓ Find it", ""]),
        )
        for name, arguments, drawn in cases:
            with case(name):
                path.write_bytes(
                    claude.written(
                        claude.init(), claude.call(name, **arguments), claude.answer("It is done.")
                    )
                )
                _, detail = await show(path)
                lines = [line.rstrip() for line in lines_of(detail)]
                at = lines.index(drawn[0])
                assert lines[at : at + 2] == drawn
                assert "It is done." not in lines
                assert any(line.startswith("▸ ") and line.endswith("more fields") for line in lines)
        # An image is shown by its type and size.
        made = MadeSession([*START, begins("c", "Read", "a.png"), ends("c", "Read")])
        made.blocks = {"c": [BinaryBlock("image/png", 12_300), FieldsBlock("result", {"kind": "image"})]}
        made.use(monkeypatch)
        _, detail = await show(made.save(tmp_path / "x.ndjson"))
        assert any(line.startswith("image/png, 12") for line in lines_of(detail))
        # The detail says which call started the subagent, or that its line is missing.
        made = MadeSession([*TWO_SUBAGENTS, begins("x", "Bash", "make", "gone")])
        made.use(monkeypatch)
        path = made.save(tmp_path / "x.ndjson")
        for call, words in (
            (2, "made by the subagent of call #1"),
            (5, "made by the subagent of a call that the recording does not contain"),
        ):
            _, detail = await show(path, call)
            assert words in lines_of(detail)
        _, detail = await show(path, 0)
        assert not any(line.startswith("made by") for line in lines_of(detail))
