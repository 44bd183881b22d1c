"""The facts of a result decide the outcome and the note of its call."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.events import Outcome, Unknown
from tests.builders.lines import call, completed, events, init, session, started

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
    ("read", {"deferred": {"until": "later"}}, Outcome.UNFINISHED, "unknown outcome deferred", None),
    ("read", {}, Outcome.UNFINISHED, "came back without a result", None),
    ("read", None, Outcome.UNFINISHED, "came back without a result", None),
]


@pytest.mark.parametrize(("tool", "ending", "outcome", "error", "exit_code"), OUTCOMES)
def test_the_facts_decide_the_outcome(
    tool: str, ending: Any, outcome: Outcome, error: str | None, exit_code: int | None
) -> None:
    """Exit code and isError decide over the name of the variant; otherwise each variant has its outcome."""
    found = call(started(tool), completed(tool, result=ending))
    assert (found.outcome, found.error, found.exit_code) == (outcome, error, exit_code)


def test_a_variant_that_is_unknown_counts_as_unknown() -> None:
    """A result variant of another version ends the call, and its line counts as unknown."""
    lines = (init(), started("read"), completed("read", result={"deferred": {}}))
    assert events(*lines)[1:] == [Unknown("result deferred of tool read")]
    assert session(*lines).lines.unknown == 1


@pytest.mark.parametrize(
    ("success", "phrase", "note"),
    [
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
        ({"linesAdded": 3, "linesRemoved": 1, "afterFullFileContent": "x"}, "Edited file", None),
        ({}, "Edited file", None),
    ],
)
def test_an_edit_without_a_file_before_creates_it(
    success: dict[str, Any], phrase: str, note: str | None
) -> None:
    """An edit created the file if there was no file before; an empty file is a file."""
    found = call(started("edit", path="a"), completed("edit", result={"success": success}, path="a"))
    assert (found.phrase, found.note) == (phrase, note)
    assert (found.lines_added, found.lines_removed) == (
        success.get("linesAdded"),
        success.get("linesRemoved"),
    )


def test_an_edit_that_failed_created_nothing() -> None:
    """Only a success can report a new file."""
    assert call(started("edit", path="a"), completed("edit", result={"error": {}})).phrase == "Edited file"


@pytest.mark.parametrize(
    ("tool", "success", "note"),
    [
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
        ("updateTodos", {"todos": [{"status": "TODO_STATUS_COMPLETED"}, {"status": "x"}]}, "1 of 2 done"),
    ],
)
def test_the_note_of_a_success_is_a_count(tool: str, success: dict[str, Any], note: str | None) -> None:
    """The note of a success is a count from its result, and None if the result has no count."""
    assert call(completed(tool, result={"success": success})).note == note
