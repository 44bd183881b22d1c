"""Tool calls in the Agent Client Protocol."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.session.actions import action
from agentwatch.session.call import Call
from tests.builders.formats.acp import (
    CWD,
    SESSION,
    called,
    changed,
    opening,
    permission,
    prompt,
    request,
    response,
    stopped,
    update,
    words,
)
from tests.builders.lines import session
from tests.conftest import case

DIRECT = opening() + prompt()


def only(*lines: bytes) -> Call:
    """Return the only call of a turn."""
    [found] = session(DIRECT, *lines).calls
    return found


def test_a_call_is_described_by_its_fields() -> None:
    """Phrase and target come from the kind, the arguments, the places and the title."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"kind": "read", "locations": [{"path": f"{CWD}/a.txt"}]}, "Read file a.txt"),
        ({"kind": "read", "rawInput": {"file_path": "/etc/hosts"}}, "Read file /etc/hosts"),
        ({"kind": "read", "title": "the notes"}, "Read file the notes"),
        ({"kind": "edit", "locations": [{"path": "a"}, {"path": "b"}, {}]}, "Edited file a, b"),
        ({"kind": "delete", "rawInput": {"path": "a"}}, "Deleted file a"),
        ({"kind": "move", "locations": [{"path": "a"}]}, "Used tool move a"),
        ({"kind": "search", "rawInput": {"pattern": "TODO"}}, "Searched files TODO"),
        ({"kind": "search", "name": "Glob", "rawInput": {"pattern": "*.py"}}, "Found files *.py"),
        ({"kind": "search", "name": "ls", "rawInput": {"path": CWD}}, "Listed directory ."),
        ({"kind": "search", "name": "list", "title": "src"}, "Listed directory src"),
        ({"kind": "search", "title": "."}, "Searched files ."),
        ({"kind": "execute", "rawInput": {"command": "make\ntest"}}, "Ran terminal command make"),
        ({"kind": "execute", "rawInput": {"cmd": ["ls", "-l", 7]}}, "Ran terminal command ls -l"),
        ({"kind": "execute", "title": "`make`"}, "Ran terminal command make"),
        (
            {"kind": "execute", "title": "make [current working directory /x] (Build)"},
            "Ran terminal command make",
        ),
        ({"kind": "execute"}, "Ran terminal command"),
        ({"kind": "fetch", "rawInput": {"url": "https://a.b"}}, "Fetched web page https://a.b"),
        ({"kind": "fetch", "rawInput": {"query": "tides"}}, "Searched the web tides"),
        ({"kind": "think", "title": "Consider"}, "Used tool think Consider"),
        ({"kind": "switch_mode", "rawInput": {"plan": "Go"}}, "Used tool switch_mode Go"),
        ({"title": "Do things"}, "Used tool other Do things"),
        ({"title": "Shell"}, "Used tool Shell"),
        ({"name": "mcp__docs__find"}, "Called MCP tool docs find"),
        ({"title": "docs find", "_meta": {"is_mcp_tool_call": True}}, "Called MCP tool other"),
        ({"_meta": {"claudeCode": {"toolName": "mcp__docs__find"}}}, "Called MCP tool docs find"),
        ({"_meta": {"toolName": "scan"}}, "Used tool scan"),
        ({"rawInput": {"todos": []}, "title": "x"}, "Updated to-do list"),
        (
            {"rawInput": {"description": "Look", "prompt": "x", "subagent_type": "explore"}},
            "Ran subagent Look",
        ),
        ({"rawInput": '{"city": "Oslo"}', "kind": "other"}, "Used tool other Oslo"),
        ({"rawInput": 7, "locations": 7, "content": 7, "kind": 7, "title": 7}, "Used tool other"),
    ]
    for fields, shown in cases:
        with case(fields):
            assert action(only(called(status="completed", **fields))) == shown


def test_an_update_replaces_what_it_contains() -> None:
    """Opencode announces a call with the tool's name as its title, and sends the arguments later."""
    found = only(
        called(title="read", kind="read", status="pending", rawInput={}),
        changed(status="in_progress", title="read", rawInput={"filePath": f"{CWD}/a.txt"}),
        changed(status="completed", title="a.txt"),
    )
    assert (found.tool, found.target, found.path) == ("read", "a.txt", f"{CWD}/a.txt")
    assert found.arguments_place == found.described
    assert found.described != found.started
    titled = only(
        called(kind="execute", title="x", status="pending"), changed(title="make"), changed(status="failed")
    )
    assert titled.target == "make"


def test_a_title_with_arguments_is_no_name() -> None:
    """A title is the tool's name only where the call has no arguments yet, or no kind."""
    assert only(called(title="Makefile", kind="read", status="in_progress")).tool == "read"
    assert only(called(title="bash", kind="execute", status="pending", rawInput={"cwd": "/"})).tool == "bash"


def test_the_end_of_a_call_decides() -> None:
    """The status decides, and an exit code other than 0 is a failure; a text is no result."""
    cases: list[tuple[dict[str, Any], str, str | None, int | None]] = [
        ({"status": "completed"}, "succeeded", None, None),
        ({"status": "completed", "rawOutput": {"exitCode": 0}}, "succeeded", None, 0),
        ({"status": "completed", "rawOutput": {"exitCode": 3}}, "failed", "exit 3", 3),
        ({"status": "completed", "rawOutput": {"exit_code": 3}}, "failed", "exit 3", 3),
        ({"status": "completed", "rawOutput": {"metadata": {"exit": 3}}}, "failed", "exit 3", 3),
        ({"status": "completed", "_meta": {"terminal_exit": {"exit_code": 3}}}, "failed", "exit 3", 3),
        ({"status": "completed", "rawOutput": '{"exitCode": 3}'}, "succeeded", None, None),
        ({"status": "completed", "rawOutput": {"isError": True, "message": "no"}}, "failed", "no", None),
        ({"status": "completed", "rawOutput": {"isError": True}}, "failed", "the tool says so", None),
        ({"status": "failed"}, "failed", None, None),
        ({"status": "failed", "content": words("gone")}, "failed", "gone", None),
        ({"status": "failed", "content": words("```\ngone\n```")}, "failed", "gone", None),
        ({"status": "failed", "content": words("```x```")}, "failed", "```x```", None),
        ({"status": "failed", "rawOutput": {"error": "gone"}}, "failed", "gone", None),
        ({"status": "failed", "rawOutput": {"error": {"message": "gone"}}}, "failed", "gone", None),
        ({"status": "failed", "rawOutput": "gone"}, "failed", "gone", None),
        ({"status": "cancelled"}, "cancelled", None, None),
        ({"status": "rejected", "content": words("no")}, "rejected", "no", None),
        (
            {"status": "failed", "_meta": {"claudeCode": {"toolResponse": {"decisionReasonType": "rule"}}}},
            "rejected",
            None,
            None,
        ),
        ({"status": "in_progress"}, "unfinished", None, None),
        ({"status": 7}, "unfinished", None, None),
    ]
    for fields, outcome, error, code in cases:
        with case((fields, outcome, error)):
            found = only(called(kind="execute", status="pending"), changed(**fields), stopped())
            assert (found.outcome, found.error, found.exit_code) == (outcome, error, code)


def test_the_exit_code_of_claude_code_is_in_its_output() -> None:
    """Its adapter reports 1 for every failure; the output begins with the real exit code."""
    found = only(
        called(kind="execute", status="pending"),
        changed(_meta={"terminal_output_delta": {"data": "Exit code 42\nno"}}),
        changed(status="failed", _meta={"terminal_exit": {"exit_code": 1}}),
        changed(status="completed"),
    )
    assert (found.outcome, found.exit_code, found.error) == ("failed", 42, "exit 42")
    assert only(called(kind="execute", status="failed", content=words("Exit code x"))).exit_code is None


def test_an_exit_code_in_the_result_of_another_tool_is_none() -> None:
    """The fields of a web page or of an MCP tool's result are no exit code."""
    assert only(called(kind="fetch", status="completed", rawOutput={"exit": 3})).exit_code is None


def test_the_terminal_of_a_call_has_its_command_and_exit_code() -> None:
    """A call may only refer to a terminal, which the agent has asked its client for."""
    terminal = [{"type": "terminal", "terminalId": "t-1"}]
    lines = request("terminal/create", 5, sessionId=SESSION, command="make", args=["test", 7])
    lines += response(5, {"terminalId": "t-1"}) + called(kind="execute", status="pending", content=terminal)
    lines += request("terminal/wait_for_exit", 6, sessionId=SESSION, terminalId="t-1")
    assert (
        only(lines, response(6, {"exitCode": None, "signal": "KILL"}), changed(status="failed")).exit_code
        is None
    )
    found = only(lines, response(6, {"exitCode": 2}), changed(status="completed"))
    assert (found.target, found.exit_code, found.outcome) == ("make test", 2, "failed")
    lines += request("terminal/output", 7, sessionId=SESSION, terminalId="t-1")
    found = only(
        lines, response(7, {"output": "x", "exitStatus": {"exitCode": 0}}), changed(status="completed")
    )
    assert (found.exit_code, found.outcome) == (0, "succeeded")


def test_a_diff_has_its_counts() -> None:
    """The lines that a diff adds and removes are counted, unless there are too many to compare."""
    cases: list[tuple[str | None, str, dict[str, Any], str]] = [
        ("a\nb\n", "a\nc\n", {}, "Edited file a.py (+1 -1)"),
        ("a\nb\nc\nd\n", "x\nb\nc\ny\nz\n", {}, "Edited file a.py (+3 -2)"),
        (None, "a\nb", {}, "Created new file a.py (2 lines)"),
        ("", "a\n", {"_meta": {"kind": "add"}}, "Created new file a.py (1 line)"),
        ("", "a\n", {"_meta": {"kind": "modify"}}, "Edited file a.py (+1 -0)"),
        ("a\n" * 900, "b\n" * 900, {}, "Edited file a.py"),
    ]
    for old, new, more, shown in cases:
        with case((old, new, more)):
            diff = {"type": "diff", "path": f"{CWD}/a.py", "oldText": old, "newText": new, **more}
            found = only(called(kind="edit", status="pending"), changed(status="completed", content=[diff]))
            assert action(found) == shown
            assert (
                action(
                    only(called(kind="edit", content=[diff], status="pending"), changed(status="completed"))
                )
                == shown
            )
            failed = only(called(kind="edit", status="failed", content=[diff]))
            assert (failed.lines_added, failed.phrase) == (None, "Edited file")


def test_opencode_says_whether_a_file_is_new() -> None:
    """The result of a write has no diff, but whether the file existed, or the counts of its diff."""
    write = called(kind="edit", status="pending", rawInput={"filePath": "a", "content": "x\ny\n"})
    new = only(write, changed(status="completed", rawOutput={"metadata": {"exists": False}}))
    assert action(new) == "Created new file a (2 lines)"
    counts = {"metadata": {"exists": True, "filediff": {"additions": 4, "deletions": 1}}}
    assert action(only(write, changed(status="completed", rawOutput=counts))) == "Edited file a (+4 -1)"


def test_the_output_of_an_open_call_is_its_progress() -> None:
    """What a command has printed is shown while it runs: all of it, or what was added."""
    start = called(kind="execute", status="in_progress")
    lines = start + changed(status="in_progress", content=words("one"))
    [found] = session(DIRECT, lines, is_over=False).calls
    assert found.output == "one"
    more = changed(_meta={"terminal_output": {"data": "a"}}) + changed(
        _meta={"terminal_output": {"data": "b"}}
    )
    [found] = session(DIRECT, start, more, is_over=False).calls
    assert found.output == "ab"


def test_the_to_do_list_of_a_call_is_the_plan() -> None:
    """A call with a to-do list among its arguments updates the plan."""
    todos = [{"content": "Measure", "status": "completed"}, 7]
    read = session(DIRECT, called(rawInput={"todos": todos}, status="completed"))
    assert [entry.text for entry in read.plan] == ["Measure", ""]


def test_a_late_update_changes_nothing() -> None:
    """An update of a call that has ended is understood, and the first end counts."""
    read = session(
        DIRECT, called(status="completed", kind="read"), changed(status="failed"), changed(title="x")
    )
    assert [call.outcome for call in read.calls] == ["succeeded"]


def test_an_end_without_a_start_is_counted() -> None:
    """An update that ends a call which no line has announced adds it, and counts as an orphan."""
    read = session(DIRECT, changed(status="completed", kind="read"))
    assert (len(read.calls), read.completed_without_started) == (1, 1)


@pytest.mark.system
def test_many_open_calls_are_bounded() -> None:
    """Thousands of open calls and permissions are read; the oldest are forgotten, not the newest."""
    names = [f"c-{number}" for number in range(2000)]
    lines = b"".join(called(name, status="pending", kind="read") + permission(name, name) for name in names)
    ends = b"".join(changed(name, status="completed") for name in names)
    read = session(DIRECT, lines, ends, update("plan", entries=[]))
    assert len(read.calls) == 2000
    assert {call.outcome for call in read.calls} == {"succeeded"}
