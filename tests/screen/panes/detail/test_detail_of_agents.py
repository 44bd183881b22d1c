"""What other agents report about a call: its output so far, several files, binary results, its parent."""

from __future__ import annotations

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
from tests.builders.screen.app import lines_of, opened
from tests.builders.screen.call_detail import details
from tests.builders.subagents import TWO_SUBAGENTS, begins, ends
from tests.conftest import case

pytestmark = pytest.mark.slow

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
