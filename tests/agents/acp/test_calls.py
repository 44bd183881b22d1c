"""Calls of the Agent Client Protocol: their updates, their blocks, and the permissions they need."""

import json
from typing import Any

import pytest

from agentwatch.agents import Decoder, LineRole
from agentwatch.agents.acp.calls import changed_lines
from agentwatch.agents.registry import agent_named
from agentwatch.session.actions import action
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.session.call import Call
from agentwatch.session.events import FormatDetected, PlanEntry, PlanStatus
from agentwatch.session.transcript import Kind
from tests.builders.formats.acp import (
    CWD,
    SESSION,
    called,
    changed,
    chose,
    chunk,
    opening,
    permission,
    prompt,
    refused,
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
    [found] = session(DIRECT, *lines).calls
    return found


def test_open_calls_end_once_and_are_bounded() -> None:
    """An open call reports what it does, has one end, and its update replaces what it contains."""
    # Opencode announces a call with the tool's name as its title, and sends the arguments later. A title
    # is the name only where the call has no arguments yet, or no kind.
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
    assert only(called(title="Makefile", kind="read", status="in_progress")).tool == "read"
    assert only(called(title="bash", kind="execute", status="pending", rawInput={"cwd": "/"})).tool == "bash"
    # What a command has printed is shown while it runs; a to-do list in the arguments updates the plan.
    start = called(kind="execute", status="in_progress")
    lines = start + changed(status="in_progress", content=words("one"))
    [found] = session(DIRECT, lines, is_over=False).calls
    assert found.output == "one"
    more = changed(_meta={"terminal_output": {"data": "a"}}) + changed(
        _meta={"terminal_output": {"data": "b"}}
    )
    [found] = session(DIRECT, start, more, is_over=False).calls
    assert found.output == "ab"
    todos = [{"content": "Measure", "status": "completed"}, 7]
    read = session(DIRECT, called(rawInput={"todos": todos}, status="completed"))
    assert [entry.text for entry in read.plan] == ["Measure", ""]
    # A later update changes nothing; an end that no line has announced is an orphan.
    read = session(
        DIRECT, called(status="completed", kind="read"), changed(status="failed"), changed(title="x")
    )
    assert [call.outcome for call in read.calls] == ["succeeded"]
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


def test_the_end_of_a_call_decides() -> None:
    """The status and the exit code decide the outcome, wherever the agent writes them."""
    # The status decides. An exit code other than 0 is a failure. A text does not count as a result.
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
    # In the first words of Claude Code's output, in the terminal that a call refers to, and not among the
    # fields of a web page.
    found = only(
        called(kind="execute", status="pending"),
        changed(_meta={"terminal_output_delta": {"data": "Exit code 42\nno"}}),
        changed(status="failed", _meta={"terminal_exit": {"exit_code": 1}}),
        changed(status="completed"),
    )
    assert (found.outcome, found.exit_code, found.error) == ("failed", 42, "exit 42")
    assert only(called(kind="execute", status="failed", content=words("Exit code x"))).exit_code is None
    assert only(called(kind="fetch", status="completed", rawOutput={"exit": 3})).exit_code is None
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
    # A refused call is rejected, and a cancelled one cancelled, if it fails or has no end; one that says
    # completed has completed.
    further: list[tuple[str | None, str | None, str]] = [
        ("yes", "failed", "failed"),
        ("always", "completed", "succeeded"),
        ("no", "failed", "rejected"),
        ("no", "completed", "succeeded"),
        ("no", None, "rejected"),
        (None, "failed", "cancelled"),
        (None, None, "unfinished"),
        ("other", "failed", "failed"),
    ]
    for option, status, outcome in further:
        with case((option, status)):
            end = changed(status=status) if status else b""
            read = session(DIRECT, permission(kind="edit"), chose(option), end, stopped())
            [call] = read.calls
            assert call.outcome == outcome
            assert call.has_result is (status is not None or option is None)
            assert len(read.questions) == 0
    cancel = request("session/cancel", sessionId=SESSION)
    start = called(kind="execute", status="in_progress", rawInput={"command": "sleep 9"})
    assert only(start, cancel, changed(status="failed"), stopped("cancelled")).outcome == "cancelled"
    done = only(start, cancel, changed(status="completed"), stopped("cancelled"))
    assert action(done) == "Ran terminal command sleep 9 (after the cancel)"
    assert only(start, changed(status="failed"), cancel).outcome == "failed"
    remark = "\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"
    for output, code, outcome in [
        (remark, None, "cancelled"),
        (remark, 0, "succeeded"),
        ("", None, "succeeded"),
    ]:
        with case((output, code)):
            stopped_call = changed(
                status="completed", rawOutput={"output": output, "metadata": {"exit": code}}
            )
            assert only(start, cancel, stopped_call, stopped("cancelled")).outcome == outcome
            assert only(start, stopped_call, stopped("end_turn")).outcome == "succeeded"


def test_other_ways_to_ask_wait_for_the_user() -> None:
    """Its message is asked until the response, in both of its forms, has the action and what was entered. In
    version 2, `requires_action` asks until the state changes, unless a request says what is asked. A
    client that cannot ask answers with an error; one that only answers is understood too. The only line
    before the end of a call may be the request for permission.
    """
    ask = request("elicitation/create", 7, sessionId=SESSION, mode="form", message="Which branch?")
    read = session(DIRECT, ask, is_over=False)
    assert read.questions.oldest is not None
    assert read.questions.oldest.words == "question Which branch?"
    entered = {"branch": "main", "tags": ["a", "b"], "deep": True, "depth": 3, "odd": {}}
    words = "question accepted: main, a, b, true, 3, an object"
    cases: list[tuple[dict[str, object], str]] = [
        ({"action": "accept", "content": {}}, "question accepted"),
        ({"action": "accept", "content": entered}, words),
        ({"action": {"action": "accept", "content": entered}}, words),
        ({"action": "decline"}, "question declined"),
        ({"action": {"action": "cancel"}}, "question cancelled"),
        ({}, "question answered"),
    ]
    for result, noted in cases:
        with case(result):
            read = session(DIRECT, ask, response(7, result), stopped())
            notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
            assert notes == ["asks: question Which branch?", noted]
    waits, runs = (update("state_update", state=state) for state in ("requires_action", "running"))
    idle = update("state_update", state="idle", stopReason="end_turn")
    ask = permission(kind="execute", title="make")
    question = request("elicitation/create", 7, sessionId=SESSION, message="Why?")
    further: dict[str, tuple[tuple[bytes, ...], list[str]]] = {
        "waits": ((waits, waits), ["your action"]),
        "runs again": ((waits, runs, runs), []),
        "has ended": ((waits, idle), []),
        "asks, then waits": ((ask, waits), ["execute make"]),
        "waits, then asks": ((waits, ask), ["execute make"]),
        "waits, then asks for input": ((waits, question), ["question Why?"]),
        "has another agent": ((waits, opening()), []),
    }
    for name, (lines, asked) in further.items():
        with case(name):
            read = session(DIRECT, *lines, is_over=False)
            oldest = read.questions.oldest
            assert ([] if oldest is None else [oldest.words]) == asked
            assert len(read.questions) == len(asked)
    other = permission("c-1", 0, "other", kind="execute", title="make")
    assert len(session(DIRECT, other, waits, is_over=False).questions) == 2
    read = session(DIRECT, permission(kind="edit"), refused(0, "no"), is_over=False)
    assert len(read.questions) == 0
    notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notes == ["asks: edit", "edit not answered"]
    assert session(opening(), chose("yes", 9)).lines.unknown == 0
    ask = permission(kind="execute", title="make", status="pending")
    read = session(DIRECT, ask, is_over=False)
    assert [(call.target, call.outcome) for call in read.calls] == [("make", "running")]
    oldest = read.questions.oldest
    assert oldest is not None
    assert (oldest.words, oldest.call_id) == ("execute make", "c-1")
    read = session(DIRECT, ask, chose("yes"), changed(status="completed"), stopped())
    assert [call.outcome for call in read.calls] == ["succeeded"]
    assert read.completed_without_started == 0
    notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notes == ["asks: execute make", "execute allowed"]


def test_cursor_has_methods_of_its_own() -> None:
    """Some ask the user, and the others report."""
    # A question and a plan wait for the user until they are answered; the other methods report.
    questions = [{"id": "q", "prompt": "Which one?"}, {"prompt": "Why?"}, 5]
    todos = [{"content": "A", "status": "pending"}]
    cases: list[tuple[bytes, str]] = [
        (request("cursor/ask_question", 7, toolCallId="c", questions=questions), "question Which one? Why?"),
        (request("cursor/ask_question", 7, toolCallId="c", title="Style"), "question Style"),
        (request("cursor/create_plan", 7, toolCallId="c", plan="# Plan\nDo", todos=todos), "plan # Plan"),
        (request("cursor/create_plan", 7, name="Migration"), "plan Migration"),
        (request("cursor/create_plan", 7), "plan"),
    ]
    for asks, name in cases:
        with case(name):
            read = session(DIRECT, asks, is_over=False)
            assert read.questions.oldest is not None
            assert (read.questions.oldest.words, read.lines.unknown) == (name, 0)
            for answer in (
                response(7, {"outcome": {"outcome": "accepted"}}),
                response(7, {"outcome": "skipped"}),
                refused(7, "no"),
            ):
                assert len(session(DIRECT, asks, answer, is_over=False).questions) == 0
    # They are the labels of what was chosen, or the reason why nothing was; unknown ids stay as they are.
    options = [{"id": "a", "label": "Postgres"}, {"id": "b", "label": "MySQL"}, {"id": 5}, 5]
    other = [{"id": "a", "label": "Yes"}]
    questions = [{"id": "q", "prompt": "Which?", "options": options}, {"id": "r", "options": other}, {}]
    ask = request("cursor/ask_question", 7, questions=questions)
    plan = request("cursor/create_plan", 7, name="Migration")
    answers = [
        {"questionId": "q", "selectedOptionIds": ["b", "a", "c"]},
        {"questionId": "r", "selectedOptionIds": ["a"]},
        {"selectedOptionIds": "a"},
        5,
    ]
    further: list[tuple[bytes, object, str]] = [
        (ask, {"outcome": {"outcome": "answered", "answers": answers}}, "answered: MySQL, Postgres, c, Yes"),
        (ask, {"outcome": {"outcome": "skipped", "reason": "later"}}, "skipped: later"),
        (ask, {"outcome": "skipped"}, "skipped"),
        (ask, {"outcome": {"outcome": "x" * 200}}, "x" * 100),
        (
            ask,
            {"outcome": {"outcome": "answered", "answers": answers[1:2] * 99}},
            f"answered: Yes{', Yes' * 63}",
        ),
        (plan, {"outcome": {"outcome": "rejected", "reason": "too long"}}, "rejected: too long"),
    ]
    for line, result, noted in further:
        with case(noted):
            read = session(DIRECT, line, response(7, result), stopped())
            notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
            assert notes[-1].removeprefix("question ").removeprefix("plan ") == noted
    read = session(DIRECT, ask, refused(7, "no"), stopped())
    assert [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE][
        -1
    ] == "question not answered"
    # To-do lists are merged or replaced, subagents are noted, and an unknown method is counted.
    first = request("cursor/update_todos", todos=[{"content": "A", "status": "pending"}], merge=False)
    more = request("cursor/update_todos", todos=[{"content": "B", "status": "completed"}], merge=True)
    tasks = [request("cursor/task", description="Look"), request("cursor/task", durationMs=5)]
    rest = [request("cursor/generate_image"), request("cursor/list_available_models", 9)]
    read = session(DIRECT, first, more, *tasks, *rest, request("cursor/weather"), stopped())
    assert [entry.text for entry in read.plan] == ["A", "B"]
    notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notes[:2] == ["subagent: Look", "subagent ended: no description"]
    assert (read.lines.unknown, read.outcome) == (1, "succeeded")


LONG = "one\ntwo"


def blocks(line: bytes) -> list[Block]:
    return Decoder(agent_named("acp")).blocks(line.rstrip())


def item(**content: Any) -> list[dict[str, Any]]:
    """Return the content of a call with one block."""
    return [{"type": "content", "content": content}]


def test_a_call_is_described_by_its_fields() -> None:
    """Its fields give the phrase, the counts of lines and the blocks."""
    # Phrase and target come from the kind, the arguments, the places and the title.
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
        ({"kind": "execute", "rawInput": {"command": "make\ntest"}}, "Ran terminal command make ⏎ +1 line"),
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
    # The lines that a diff adds and removes are counted by the shortest edit, unless the texts differ too
    # much. Opencode's write has no diff, but says whether the file existed.
    others: list[tuple[str | None, str, dict[str, Any], str]] = [
        ("a\nb\n", "a\nc\n", {}, "Edited file a.py (+1 -1)"),
        ("a\nb\nc\nd\n", "x\nb\nc\ny\nz\n", {}, "Edited file a.py (+3 -2)"),
        (None, "a\nb", {}, "Created new file a.py (2 lines)"),
        ("", "a\n", {"_meta": {"kind": "add"}}, "Created new file a.py (1 line)"),
        ("", "a\n", {"_meta": {"kind": "modify"}}, "Edited file a.py (+1 -0)"),
        ("a\n" * 900, "b\n" * 900, {}, "Edited file a.py"),
    ]
    for old, new, more, shown in others:
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
    further: list[tuple[str, str, tuple[int, int] | None]] = [
        ("", "", (0, 0)),
        ("a", "a\n", (0, 0)),
        ("", "a\nb\n", (2, 0)),
        ("a\nb\nc", "a\nc", (0, 1)),
        ("a\nb\nc\nd\ne", "b\nx\nd\ne\nf", (2, 2)),
        ("\n".join("ab" * 500), "\n".join("ba" * 500), (1, 1)),
        ("x\n" * 300, "y\n" * 300, None),
        ("a\n" + "x\n" * 150_000 + "b\n", "b\n" + "x\n" * 150_000 + "a\n", (2, 2)),
        ("p\n" + "x\ny\n" * 60_000 + "q", "q\n" + "y\nx\n" * 60_000 + "p", None),
    ]
    for old, new, counts in further:
        with case((old, new)):
            assert changed_lines(old, new) == counts
    write = called(kind="edit", status="pending", rawInput={"filePath": "a", "content": "x\ny\n"})
    made = only(write, changed(status="completed", rawOutput={"metadata": {"exists": False}}))
    assert action(made) == "Created new file a (2 lines)"
    figures = {"metadata": {"exists": True, "filediff": {"additions": 4, "deletions": 1}}}
    assert action(only(write, changed(status="completed", rawOutput=figures))) == "Edited file a (+4 -1)"
    # Arguments, texts, diffs, images and results are shown once each; a line about no call has no blocks.
    rest: list[tuple[dict[str, Any], list[Block]]] = [
        ({"rawInput": {"command": "make"}}, [FieldsBlock("arguments", {"command": "make"})]),
        ({"rawInput": {"description": "Build", "x": ""}}, [TextBlock("description", "Build")]),
        (
            {"rawInput": {"content": LONG, "note": LONG, "n": 1}},
            [FieldsBlock("arguments", {"n": 1}), ContentBlock(LONG), TextBlock("note", LONG)],
        ),
        (
            {"rawInput": {"todos": [{"content": "a", "status": "completed"}]}},
            [PlanBlock((PlanEntry("a", PlanStatus.COMPLETED),))],
        ),
        (
            {"content": [{"type": "diff", "path": "a", "oldText": "x", "newText": "y"}]},
            [ChangeBlock(None, "x", "y")],
        ),
        ({"content": [{"type": "diff", "path": "a", "newText": ""}]}, [ChangeBlock(None, None, "")]),
        ({"content": words("out"), "kind": "execute"}, [OutputBlock("stdout", "out")]),
        ({"content": words("out"), "kind": "fetch"}, [MarkdownBlock("out")]),
        ({"content": words("out"), "kind": "read"}, [ContentBlock("out")]),
        ({"content": words("out"), "status": "failed"}, [ErrorBlock("out")]),
        (
            {"content": item(type="image", data="eHh4", mimeType="image/png")},
            [BinaryBlock("image/png", 3)],
        ),
        ({"content": item(type="resource", resource={"blob": 7})}, [BinaryBlock("binary", None)]),
        ({"content": item(type="resource", resource={"text": "x"})}, [ContentBlock("x")]),
        ({"content": item(type="resource_link", uri="u", name="n")}, [TextBlock("n", "u")]),
        ({"content": item(type="resource", resource={"uri": "u"})}, [TextBlock("resource", "u")]),
        ({"content": [{"type": "terminal", "terminalId": "t"}, 7]}, []),
        ({"content": item(type="video")}, []),
        ({"_meta": {"terminal_output": {"data": "out"}}}, [OutputBlock("stdout", "out")]),
        ({"rawOutput": "done"}, [ContentBlock("done")]),
        ({"rawOutput": "done", "content": words("done")}, [ContentBlock("done")]),
        ({"rawOutput": [{"type": "text", "text": "done"}]}, [ContentBlock("done")]),
        ({"rawOutput": [{"type": "text", "text": "done"}], "content": words("x")}, [ContentBlock("x")]),
        ({"rawOutput": {"error": "no"}}, [ErrorBlock("no")]),
        ({"rawOutput": {"error": {"message": "no"}}}, [ErrorBlock("no")]),
        ({"rawOutput": {"error": "no"}, "content": words("no"), "status": "failed"}, [ErrorBlock("no")]),
        (
            {"rawOutput": {"stdout": "a", "stderr": "b", "exitCode": 1}},
            [OutputBlock("stdout", "a"), OutputBlock("stderr", "b"), FieldsBlock("result", {"exitCode": 1})],
        ),
        (
            {"rawOutput": {"output": "a", "metadata": {"diff": "@@", "x": 1}}},
            [ChangeBlock("@@"), ContentBlock("a"), FieldsBlock("result", {"metadata": {"x": 1}})],
        ),
        ({"rawOutput": {"output": "a", "content": "b"}}, [ContentBlock("a")]),
        ({"rawOutput": 7, "rawInput": 7, "content": 7}, []),
    ]
    for other_fields, other_shown in rest:
        with case(other_fields):
            assert blocks(changed(**other_fields)) == other_shown
            assert blocks(permission(**other_fields)) == other_shown
    assert blocks(chunk("x")) == []
    assert blocks(response(1, {})) == []
    assert blocks(request("session/request_permission", 1, options=[], subject={"toolCall": {}})) == []


def test_a_line_is_recognised_and_has_its_role() -> None:
    """Requests start a run, updates belong to calls, responses are neither; other lines of JSON-RPC are not
    the protocol's.
    """
    cases: list[tuple[bytes, LineRole]] = [
        (request("initialize", 0, protocolVersion=1), LineRole.START),
        (request("session/new", 1, cwd="/"), LineRole.START),
        (prompt(), LineRole.START),
        (called(), LineRole.CALL),
        (changed(), LineRole.CALL),
        (permission(), LineRole.CALL),
        (chunk("x"), LineRole.OTHER),
        (request("session/update"), LineRole.OTHER),
        (response(1, {"sessionId": "x"}), LineRole.OTHER),
        (request("session/cancel"), LineRole.OTHER),
    ]
    for line, role in cases:
        with case(line):
            assert Decoder(agent_named("acp")).role(line.rstrip()) is role
    further: list[tuple[bytes, str | None]] = [
        (request("initialize", 0, protocolVersion=1), "acp"),
        (response(0, {"protocolVersion": 1}), "acp"),
        (request("session/anything"), "acp"),
        (request("initialize", 0, protocolVersion="2025-06-18"), None),
        (response(0, {"protocolVersion": "2025-06-18"}), None),
        (request("tools/call", 1), None),
        (json.dumps({"method": "session/update"}).encode(), None),
        (json.dumps({"jsonrpc": "2.0", "method": 7}).encode(), None),
    ]
    for line, name in further:
        with case(line):
            events = Decoder().decode(line.rstrip())
            assert next((event.format for event in events if isinstance(event, FormatDetected)), None) == name
