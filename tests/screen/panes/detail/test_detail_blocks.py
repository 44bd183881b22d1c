"""Each kind of block in the detail has its own display: diffs, files, trees and lists."""

from __future__ import annotations

import pytest

from tests.builders.screen.app import lines_of, opened
from tests.builders.screen.call_detail import details, styles_of
from tests.builders.screen.lines import CWD, ended, init, shell, started
from tests.conftest import Saver

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
