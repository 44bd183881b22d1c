"""The facts of a result decide the outcome and the note of its call."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.analysis.integrity import integrity
from agentwatch.session.actions import action
from agentwatch.session.events import Outcome, Unknown
from agentwatch.session.session import calls_by_outcome
from tests.builders.lines import call, completed, event, events, init, session, started
from tests.conftest import case

OUTCOMES: list[tuple[str, Any, Outcome, str | None, int | None]] = [
    ("read", {"success": {"content": "x"}}, Outcome.SUCCEEDED, None, None),
    ("shell", {"success": {"exitCode": 0, "stdout": "x"}}, Outcome.SUCCEEDED, None, 0),
    ("shell", {"success": {"exitCode": 1}}, Outcome.FAILED, "exit 1", 1),
    ("shell", {"success": {"exitCode": "2"}}, Outcome.FAILED, "exit 2", 2),
    (
        "shell",
        {"isBackground": False, "failure": {"exitCode": 2, "stderr": "x"}},
        Outcome.FAILED,
        "exit 2",
        2,
    ),
    ("shell", {"failure": {"exitCode": 0, "signal": "SIGTERM"}}, Outcome.FAILED, "signal SIGTERM", 0),
    ("shell", {"failure": {"signal": "", "aborted": True}}, Outcome.FAILED, "aborted", None),
    ("shell", {"permissionDenied": {"error": "outside"}}, Outcome.FAILED, "outside", None),
    ("shell", {"permissionDenied": {}}, Outcome.FAILED, "permission denied", None),
    ("shell", {"spawnError": {"error": "ENOENT"}}, Outcome.FAILED, "ENOENT", None),
    ("shell", {"timeout": {}}, Outcome.FAILED, "timeout", None),
    ("shell", {"sandboxPolicy": {"type": "x"}, "timeout": {}}, Outcome.FAILED, "timeout", None),
    ("shell", {"sandboxPolicy": {"type": "x"}, "success": {"exitCode": 0}}, Outcome.SUCCEEDED, None, 0),
    ("shell", {"partialResult": {"stdout": "a"}}, Outcome.RETURNED, "partial result", None),
    ("shell", {"partialResult": {"exitCode": 3}}, Outcome.FAILED, "exit 3", 3),
    ("read", {"invalidFile": {}}, Outcome.FAILED, "invalid file", None),
    ("write", {"noSpace": {"path": "/a"}}, Outcome.FAILED, "no space", None),
    ("edit", {"readPermissionDenied": {}}, Outcome.FAILED, "read permission denied", None),
    ("edit", {"writePermissionDenied": {"error": "no"}}, Outcome.FAILED, "no", None),
    ("mcp", {"toolNotFound": {}}, Outcome.FAILED, "tool not found", None),
    ("mcp", {"serverNotFound": {"error": "s"}}, Outcome.FAILED, "s", None),
    ("mcp", {"approved": {}}, Outcome.RETURNED, "approved", None),
    ("read", {"fileNotFound": {}}, Outcome.FAILED, "file not found", None),
    ("read", {"error": {"errorMessage": "is a folder"}}, Outcome.FAILED, "is a folder", None),
    ("grep", {"error": {"error": "bad pattern"}}, Outcome.FAILED, "bad pattern", None),
    ("grep", {"error": "bad pattern"}, Outcome.FAILED, "bad pattern", None),
    ("webFetch", {"rejected": {"reason": "not now"}}, Outcome.REJECTED, "not now", None),
    ("shell", {"rejected": {"reason": "", "isReadonly": False}}, Outcome.REJECTED, None, None),
    ("mcp", {"success": {"content": [], "isError": False}}, Outcome.SUCCEEDED, None, None),
    (
        "mcp",
        {"success": {"content": [{"text": {"text": "403"}}], "isError": True}},
        Outcome.FAILED,
        "403",
        None,
    ),
    ("mcp", {"success": {"content": [], "isError": True}}, Outcome.FAILED, "the tool says so", None),
    ("read", {"deferred": {"until": "later"}}, Outcome.RETURNED, "unknown outcome deferred", None),
    ("read", {"isBackground": {}, "deferred": {}}, Outcome.RETURNED, "unknown outcome deferred", None),
    ("read", {"sandboxPolicy": {"a": 1}, "deferred": {}}, Outcome.RETURNED, "unknown outcome deferred", None),
    ("read", {"sandboxPolicy": {"a": 1}}, Outcome.RETURNED, "came back without a result", None),
    ("read", {}, Outcome.RETURNED, "came back without a result", None),
    ("read", None, Outcome.RETURNED, "came back without a result", None),
    ("read", "...", Outcome.RETURNED, "came back without a result", None),
]


def test_the_facts_decide_the_outcome() -> None:
    """Exit code and isError decide over the name of the variant; otherwise each variant has its outcome."""
    for tool, ending, outcome, error, exit_code in OUTCOMES:
        with case((tool, ending, outcome)):
            found = call(started(tool), completed(tool, result=ending))
            assert (found.outcome, found.error, found.exit_code) == (outcome, error, exit_code)


def test_the_name_of_an_unknown_variant_is_cut() -> None:
    """The reason of a call contains at most 100 characters of an unknown variant."""
    found = call(completed("read", result={"x" * 10_000: {}}))
    assert found.error == "unknown outcome " + "x" * 100


def test_a_function_may_return_anything() -> None:
    """A `function` may have any result: the call returned, and its line is known."""
    cases: list[Any] = ["sunny", "", 21, [1], {"degrees": 21}, {"deferred": {"until": 3}}, None]
    for given in cases:
        with case(given):
            function = {"name": "weather", "arguments": "{}", "result": given}
            read = session(
                init(), event("tool_call", "completed", call_id="c", tool_call={"function": function})
            )
            [found] = read.calls
            assert (found.outcome, read.lines.unknown) == (Outcome.RETURNED, 0)
            assert found.error == (None if given else "came back without a result")
            assert action(found) == "Used tool weather (returned)"


def test_the_result_of_a_function_may_have_a_variant() -> None:
    """A variant in the result of a `function` decides its outcome, as in that of any other tool."""
    function = {"name": "shell", "arguments": {"command": "make"}, "result": {"failure": {"exitCode": 2}}}
    found = call(event("tool_call", "completed", call_id="c", tool_call={"function": function}))
    assert action(found) == "Ran terminal command make (failed: exit 2)"


@pytest.mark.parametrize("tool", ["shell", "task"])
@pytest.mark.parametrize("is_beside", [True, False], ids=["beside", "inside"])
def test_what_runs_on_in_the_background_has_not_succeeded(tool: str, is_beside: bool) -> None:
    """A command or subagent that continues in the background returned: its outcome is not known yet."""
    success = {"exitCode": 0, "stdout": ""}
    ending = {"isBackground": True, "success": success}
    if not is_beside:
        ending = {"success": success | {"isBackground": True}}
    read = session(init(), started(tool), completed(tool, result=ending))
    [found] = read.calls
    assert (found.outcome, found.note, found.exit_code) == (Outcome.RETURNED, "in the background", None)
    assert action(found).endswith("(in the background)")
    assert (read.completed_without_started, read.never_completed) == (0, 0)
    ended = completed(tool, result={"isBackground": False, "success": success})
    assert call(started(tool), ended).outcome is Outcome.SUCCEEDED


def test_a_returned_call_is_paired() -> None:
    """A call without a known outcome has an end: it is paired and not counted as never completed."""
    read = session(init(), started("read"), completed("read"))
    assert (read.completed_without_started, read.never_completed) == (0, 0)
    assert calls_by_outcome(read) == {Outcome.RETURNED: 1}
    assert (integrity(read).paired, integrity(read).problems()) == (1, "")


def test_a_variant_that_is_unknown_counts_as_unknown() -> None:
    """A result variant of another version ends the call, and its line counts as unknown."""
    lines = (init(), started("read"), completed("read", result={"deferred": {}}))
    assert events(*lines)[1:] == [Unknown("result deferred of tool read")]
    assert session(*lines).lines.unknown == 1


def test_an_edit_without_a_file_before_creates_it() -> None:
    """An edit created the file if there was no file before; an empty file is a file."""
    cases: list[tuple[dict[str, Any], str, str | None]] = [
        ({"linesAdded": 19, "linesRemoved": 0, "afterFullFileContent": "x"}, "Created new file", "19 lines"),
        (
            {"linesAdded": 1, "linesRemoved": 0, "diffString": "--- /dev/null\n+++ b/a"},
            "Created new file",
            "1 line",
        ),
        ({"linesAdded": 1, "linesRemoved": 0, "beforeFullFileContent": "a\n"}, "Edited file", None),
        (
            {"linesAdded": 1, "linesRemoved": 0, "beforeFullFileContent": "", "afterFullFileContent": "x"},
            "Edited file",
            None,
        ),
        (
            {"linesAdded": 3, "linesRemoved": 1, "diffString": "--- /dev/null\n+++ b/a", "message": "m"},
            "Created new file",
            "3 lines",
        ),
        ({"linesAdded": 3, "linesRemoved": 1, "afterFullFileContent": "x"}, "Created new file", "3 lines"),
        ({"linesAdded": 3, "linesRemoved": 2, "afterFullFileContent": "x"}, "Edited file", None),
        (
            {"linesAdded": 3, "beforeFullFileContent": "a\n", "diffString": "--- /dev/null\n+++ b/a"},
            "Edited file",
            None,
        ),
        ({}, "Edited file", None),
    ]
    for success, phrase, note in cases:
        with case((success, phrase)):
            found = call(started("edit", path="a"), completed("edit", result={"success": success}, path="a"))
            assert (found.phrase, found.note) == (phrase, note)
            assert (found.lines_added, found.lines_removed) == (
                success.get("linesAdded"),
                success.get("linesRemoved"),
            )


def test_an_edit_that_failed_created_nothing() -> None:
    """Only a success can report a new file."""
    assert call(started("edit", path="a"), completed("edit", result={"error": {}})).phrase == "Edited file"


def test_the_note_of_a_success_is_a_count() -> None:
    """The note of a success is a count from its result, and None if the result has no count."""
    cases: list[tuple[str, dict[str, Any], str | None]] = [
        ("read", {"totalLines": 54}, "54 lines"),
        ("read", {"totalLines": 1}, "1 line"),
        ("read", {"totalLines": 6, "readRange": {"startLine": 1, "endLine": 6}}, "6 lines"),
        ("read", {"totalLines": 90, "readRange": {"startLine": 20, "endLine": 40}}, "lines 20-40 of 90"),
        ("read", {"contentBlobId": "b"}, None),
        ("write", {"linesCreated": 19}, "19 lines"),
        ("glob", {"totalFiles": 7, "files": []}, "7 files"),
        ("grep", {"workspaceResults": {"/w": {"content": {"totalMatchedLines": 3}}}}, "3 matches"),
        ("grep", {"workspaceResults": {"/w": {"files": {}}}}, None),
        ("ls", {"directoryTreeRoot": {"numFiles": 2}}, "2 files"),
        ("webSearch", {"references": [{}]}, "1 result"),
        ("readLints", {"fileDiagnostics": [], "totalFiles": 1, "totalDiagnostics": 3}, "3 diagnostics"),
        ("readLints", {"totalDiagnostics": 0}, "0 diagnostics"),
        ("updateTodos", {"todos": [{"status": "TODO_STATUS_COMPLETED"}, {"status": "x"}]}, "1 of 2 done"),
    ]
    for tool, success, note in cases:
        with case((tool, success)):
            assert call(completed(tool, result={"success": success})).note == note
