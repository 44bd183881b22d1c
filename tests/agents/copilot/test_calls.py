"""Copilot's calls: targets, outcomes, exit codes, output, blocks and questions."""

from typing import Any

from agentwatch.agents.copilot.agent import AGENT
from agentwatch.agents.fields import Salvaged
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
from agentwatch.session.events import Outcome, Permission, PlanEntry, PlanStatus, ToolEnded, ToolProgress
from tests.agents.copilot.lines import ended, failed, line, message, passing, request, start, started, user
from tests.builders.agents.decoded import events_of, session_of
from tests.conftest import case

AT = {"timestamp": "1970-01-01T00:00:00Z"}
DIFF = "\ndiff --git a/w/a b/w/a\n--- a/w/a\n+++ b/w/a\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n"
VIEWED = "\ndiff --git a/w/a b/w/a\n--- a/w/a\n+++ b/w/a\n@@ -1,2 +1,2 @@\n one\n two\n"
PATCH = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: b\n+z\n*** End Patch"


def test_a_tool_has_its_kind_and_target() -> None:
    """Arguments may be an object or any text; a server's tool may have two names. Steps are counted from 0
    in each turn and for each agent.
    """
    cases: list[tuple[str, Any, str, str, str | None]] = [
        ("bash", {"command": "make\ntest"}, "execute", "Ran terminal command", "make\ntest"),
        ("powershell", '{"command":"ls"}', "execute", "Ran terminal command", "ls"),
        ("view", {"path": "/w/a.py"}, "read", "Read file", "a.py"),
        ("create", {"path": "/w/a.py"}, "edit", "Created new file", "a.py"),
        ("edit", {"path": "/x/a.py"}, "edit", "Edited file", "/x/a.py"),
        ("str_replace_editor", {"command": "view", "path": "/w/a"}, "read", "Read file", "a"),
        ("str_replace_editor", {"command": "str_replace", "path": "/w/a"}, "edit", "Edited file", "a"),
        ("apply_patch", PATCH, "edit", "Edited file", "a, b"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Delete File: c"}, "delete", "Deleted file", "c"),
        ("grep", {"pattern": "x"}, "search", "Searched files", "x"),
        ("glob", {"pattern": "*"}, "search", "Found files", "*"),
        ("web_fetch", {"url": "https://e.org"}, "fetch", "Fetched web page", "https://e.org"),
        ("task", {"description": "Count", "prompt": "p"}, "delegate", "Ran subagent", "Count"),
        ("update_todo", {"todos": ""}, "plan", "Updated to-do list", None),
        ("report_intent", {"intent": "Look"}, "other", "Used tool", "report_intent Look"),
        ("read_bash", {"shellId": "1", "delay": 5}, "other", "Used tool", "read_bash 1"),
        ("skill", "free text", "other", "Used tool", "skill free text"),
        ("stop_bash", None, "other", "Used tool", "stop_bash"),
    ]
    for name, arguments, kind, action, target in cases:
        with case((name, arguments, kind)):
            call = session_of(AGENT, start(), started("c", name, arguments)).calls[0]
            assert (call.tool, call.kind, call.phrase, call.target) == (name, kind, action, target)
    own = {"mcpServerName": "github", "mcpToolName": "get_issue"}
    call = session_of(AGENT, started("c", "github-get_issue", {"n": 1}, **own)).calls[0]
    assert (call.tool, call.kind, call.phrase, call.target) == (
        *("github-get_issue", "mcp", "Called MCP tool", "github get_issue"),
    )
    bare = session_of(AGENT, started("c", "ping", mcpServerName="s")).calls[0]
    assert bare.target == "s ping"
    lines = [
        *(user("a"), started("1", "ls", turnId="0"), started("2", "ls", turnId="0")),
        *(started("3", "ls", turnId="0", parentToolCallId="1"), user("b"), started("4", "ls", turnId="0")),
        started("5", "ls"),
    ]
    groups = [call.group for call in session_of(AGENT, *lines).calls]
    assert groups[0] == groups[1]
    assert len(set(groups)) == 4
    assert groups[4] is None


def test_a_call_has_its_facts_exit_code_and_reason() -> None:
    """The fields of the end, its blocks or Copilot's last line say how a call ended."""
    # `success` is true for a command that failed. The code has its own field, a block, or Copilot's last
    # line; a line that is too large may lack it.
    cases: list[tuple[str, dict[str, Any], str, int | None]] = [
        ("x\n<shellId: 0 completed with exit code 3>", {"shellExecution": {"exitCode": 3}}, "failed", 3),
        ("x", {"shellExecution": {"exitCode": 0}}, "succeeded", 0),
        ("x\n<shellId: 0 completed with exit code 3>", {}, "failed", 3),
        ("x\n<shellId: 0 completed with exit code 0>\n", {}, "succeeded", 0),
        ("<exited with exit code 1>", {}, "failed", 1),
        ("<detached command with shellId: 7 completed with exit code -1>", {}, "failed", -1),
        ("<exited with exit code 1>\nmore", {}, "succeeded", None),
        ("<exited with exit code x>", {}, "succeeded", None),
        ("exited with exit code 1", {}, "succeeded", None),
        ("<command started in background with shellId: 7>", {}, "returned", None),
        ("<command started in detached background with shellId: 7>", {}, "returned", None),
        (
            "x\n<command with shellId: 7 is still running after 30 seconds. Use stop_bash.>",
            {},
            "returned",
            None,
        ),
        ("x\n<command with id: 7 exited with exit code 2>", {}, "failed", 2),
        ("x", {"success": False}, "failed", None),
        ("x", {"success": None}, "returned", None),
        ("", {"success": False, "shellExecution": {"exitCode": 0}}, "failed", 0),
    ]
    for content, more, outcome, code in cases:
        with case((content, more, outcome)):
            lines = [started("c", "bash", {"command": "x"}), ended("c", content, **more)]
            call = session_of(AGENT, *lines).calls[0]
            assert (call.outcome, call.exit_code) == (outcome, code)
            assert call.note == ("in the background" if outcome == "returned" and "<" in content else None)
    ends = {"bash": "returned", "view": "succeeded"}
    for name, outcome in ends.items():
        end = Salvaged(ended("c", "x" * 100))
        events = events_of(AGENT, started("c", name), end)
        assert [event.outcome for event in events if isinstance(event, ToolEnded)] == [outcome]
    known = Salvaged(ended("c", "x", shellExecution={"exitCode": 0}))
    assert getattr(events_of(AGENT, started("c", "bash"), known)[-1], "outcome", None) is Outcome.SUCCEEDED
    blocks = [{"type": "text"}, {"type": "shell_exit", "exitCode": 4}]
    line_of = ended("c") | {"data": {"toolCallId": "c", "success": True, "result": {"contents": blocks}}}
    assert session_of(AGENT, started("c", "bash"), line_of).calls[0].exit_code == 4
    text = ended("c", "<exited with exit code 4>")
    assert session_of(AGENT, started("c", "view"), text).calls[0].outcome == "succeeded"
    asked = ended("c", "Agent started in background with agent_id: x-1. Use read_agent.")
    assert session_of(AGENT, started("c", "task"), asked).calls[0].outcome == "returned"
    # A refusal and an interruption have codes of their own.
    further: list[tuple[dict[str, Any], str, str]] = [
        (failed("c", "Path already exists"), "failed", "Path already exists"),
        (failed("c", "no", "denied"), "rejected", "no"),
        (failed("c", "no", "rejected"), "rejected", "no"),
        (failed("c", "stopped", "cancelled"), "cancelled", "stopped"),
        (ended("c", "disk full", success=False), "failed", "disk full"),
        (ended("c", success=False), "failed", "the tool failed"),
        (ended("c", success=False, error="plain"), "failed", "plain"),
    ]
    for other_end, other_outcome, error in further:
        with case((other_end, other_outcome)):
            call = session_of(AGENT, started("c", "create", {"path": "a"}), other_end).calls[0]
            assert (call.outcome, call.error) == (other_outcome, error)

    # The lines that were read, added and removed; an edit may have created its files.
    def result(content: str, detailed: str, **more: Any) -> dict[str, Any]:
        whole = {"content": content, "detailedContent": detailed}
        return line("tool.execution_complete", {"toolCallId": "c", "success": True, "result": whole, **more})

    def call_of(name: str, end: dict[str, Any]) -> Any:
        return session_of(AGENT, started("c", name, {"path": "a"}), end).calls[0]

    assert call_of("view", result("one\ntwo\n", VIEWED)).note == "2 lines"
    assert call_of("view", result("an image", "an image")).note is None
    edited = call_of("edit", result("ok", DIFF, fileEdits=[{"path": "/w/a", "kind": "edit"}]))
    assert (edited.lines_added, edited.lines_removed, edited.is_new_file) == (2, 1, False)
    made = call_of("edit", result("ok", DIFF, fileEdits=[{"path": "/w/a", "kind": "create"}]))
    assert (made.phrase, made.is_new_file) == ("Created new file", True)
    assert call_of("edit", result("ok", "ok")).lines_added is None


def test_open_calls_show_their_output_and_are_bounded() -> None:
    """The output of an open call grows, and the first calls are forgotten."""

    # Copilot repeats what it has written so far, or writes what is new; the same line may come twice. The
    # lines of a command's output are appended; partial results of the same command repeat them.
    def printed(words: object) -> dict[str, Any]:
        return line("tool.execution_partial_result", {"toolCallId": "c", "partialOutput": words})

    def output(*words: object) -> str | None:
        lines = [started("c", "bash"), *map(printed, words)]
        return session_of(AGENT, user("Go"), *lines, is_closed=False).calls[0].output

    assert output("a\n", "a\n", "a\nb\n") == "a\nb\n"
    assert output("a\n", "b\n", "c\n") == "a\nb\nc\n"
    assert output("a", None, []) == "a"
    assert events_of(AGENT, printed(""))[0] == ToolProgress("c", None, None)

    def other_printed(words: object, call_id: str = "c") -> list[dict[str, Any]]:
        repeated = {"toolCallId": call_id, "partialOutput": words}
        shown = passing("tool.shell_output", {"toolCallId": call_id, "stream": "stdout", "text": words})
        return [shown, *[passing("tool.execution_partial_result", repeated)] * 2]

    lines = [
        started("c", "bash"),
        *other_printed("a\n"),
        *other_printed("b\n"),
        passing("model.call_final_result"),
    ]
    seen = session_of(AGENT, user("Go"), *lines, is_closed=False)
    assert (seen.calls[0].output, seen.lines.unknown) == ("a\nb\n", 0)
    again = session_of(AGENT, user("Go"), *lines, ended("c"), *other_printed(None, "d"), is_closed=False)
    assert (again.calls[0].outcome, len(again.calls)) == ("succeeded", 1)
    # Of 1,100 calls, answers, outputs and questions the first are forgotten; huge ids are not kept.
    huge = "h" * 2000
    requests = [message("", *(request(f"c{n}", "bash") for n in range(1100)), request(huge, "bash"))]
    big = message("", request("big", "create", {"file_text": "x" * 20_000}), request("", "x"))
    outputs = [
        line("tool.execution_partial_result", {"toolCallId": f"c{n}", "partialOutput": "x"})
        for n in range(1100)
    ]
    outputs.append(line("tool.execution_partial_result", {"toolCallId": huge, "partialOutput": "x"}))
    asked = [
        line("permission.requested", {"requestId": f"r{n}", "permissionRequest": {"toolCallId": f"c{n}"}})
        for n in range(1100)
    ]
    asked.append(line("permission.requested", {"requestId": huge}))
    answers = [
        line(
            "permission.completed",
            {"requestId": f"r{n}", "toolCallId": f"c{n}", "result": {"kind": "denied"}},
        )
        for n in range(1100)
    ]
    ends = [ended(call_id) for call_id in ("c0", "c1099", "big", huge)]
    seen = session_of(AGENT, *requests, big, *outputs, *asked, *answers, *ends)
    assert [(call.tool, call.outcome) for call in seen.calls] == [
        ("", "succeeded"),
        ("bash", "rejected"),
        ("", "succeeded"),
        ("", "succeeded"),
    ]


def test_a_question_is_open_until_it_is_answered() -> None:
    """The answer says whether a person gave it."""
    # It names the tool and what it would act on; the answer says who gave it. Forms, inputs and the end
    # of the plan mode are questions too.
    asked = line(
        "permission.requested",
        {
            "requestId": "r",
            "permissionRequest": {"kind": "shell", "toolCallId": "c", "fullCommandText": "rm x\ny"},
        },
        **AT,
    )
    assert events_of(AGENT, started("c", "bash"), asked)[1] == Permission(
        "bash", None, at_ms=0, key="r", call_id="c", target="rm x\ny"
    )
    seen = session_of(AGENT, user("Go"), started("c", "bash"), asked, is_closed=False)
    assert seen.questions.oldest is not None
    given = line("permission.completed", {"requestId": "r", "result": {"kind": "approved"}}, **AT)
    assert events_of(AGENT, asked, given)[1] == Permission("shell", "approved", None, 0, "r", "c")
    read = session_of(AGENT, user("Go"), started("c", "bash"), asked, given, is_closed=False)
    assert len(read.questions) == 0
    asks = {**started("c", "ask_user", {"question": "Which?\nA or B"}), **AT}
    question = Permission("ask_user", None, at_ms=0, key="c", call_id="c", target="Which?\nA or B")
    repeated = line("user_input.requested", {"requestId": "r", "question": "Which?", "toolCallId": "c"})
    assert events_of(AGENT, asks, repeated)[1:] == [question]
    seen = session_of(AGENT, user("Go"), asks, repeated, is_closed=False)
    assert len(seen.questions) == 1
    assert len(session_of(AGENT, user("Go"), asks, ended("c", "A"), is_closed=False).questions) == 0
    form = line("elicitation.requested", {"requestId": "r", "message": "Name?"}, **AT)
    plan = line("exit_plan_mode.requested", {"requestId": "p", "summary": "Do it"}, **AT)
    answers = [
        line("elicitation.completed", {"requestId": "r", "action": "accept"}, **AT),
        line("exit_plan_mode.completed", {"requestId": "p", "selectedAction": "autopilot"}, **AT),
        line("user_input.completed", {"requestId": "?"}, **AT),
    ]
    assert events_of(AGENT, form, plan, *answers) == [
        Permission("elicitation", None, at_ms=0, key="r", target="Name?"),
        Permission("exit_plan_mode", None, at_ms=0, key="p", target="Do it"),
        Permission("elicitation", "accept", None, 0, "r"),
        Permission("exit_plan_mode", "autopilot", None, 0, "p"),
        Permission("permission", "answered", None, 0, "?"),
    ]
    # A rule answers by itself; without a source, a person did. A refused call is rejected, and a question
    # without a call names a path, an address or a tool.
    cases: list[tuple[dict[str, Any], str, str | None, bool]] = [
        ({"result": {"kind": "approved-for-session"}}, "approved for session", None, False),
        ({"result": {"kind": "approved"}, "decisionSource": "user"}, "approved", None, False),
        ({"result": {"kind": "approved"}, "decisionSource": "rule"}, "approved", None, True),
        ({"result": {"kind": "approved", "decisionSource": "auto"}}, "approved", None, True),
        ({"result": {"kind": "denied-by-rules"}}, "denied by rules", None, True),
        (
            {"result": {"kind": "denied-interactively-by-user", "feedback": "not now"}},
            *("denied interactively by user", "not now", False),
        ),
        ({"kind": "approved"}, "approved", None, False),
        ({}, "answered", None, False),
    ]
    for data, answer, reason, is_automatic in cases:
        with case((data, answer, reason)):
            found = events_of(AGENT, line("permission.completed", {"requestId": "r", **data}, **AT))
            assert found == [Permission("permission", answer, reason, 0, "r", is_automatic=is_automatic)]
    asked = line("permission.requested", {"requestId": "r", "permissionRequest": {"toolCallId": "c"}})
    for kind, outcome in (
        *(("denied-by-rules", "rejected"), ("denied-interactively-by-user", "rejected")),
        *(("cancelled", "cancelled"), ("approved", "succeeded")),
    ):
        other_answer = line("permission.completed", {"requestId": "r", "result": {"kind": kind}})
        seen = session_of(AGENT, started("c", "bash"), asked, other_answer, ended("c", "x"))
        assert (seen.calls[0].outcome, seen.calls[0].exit_code) == (outcome, None)
    further: list[tuple[dict[str, Any], str, str | None]] = [
        ({"kind": "write", "fileName": "/w/a", "diff": "x"}, "write", "/w/a"),
        ({"kind": "url", "url": "https://e.org"}, "url", "https://e.org"),
        ({"kind": "mcp", "serverName": "github", "toolName": "get"}, "get", "github get"),
        ({"kind": "mcp", "serverName": "github"}, "mcp", "github"),
        ({"kind": "custom-tool", "toolName": "mine"}, "mine", None),
        ({}, "permission", None),
    ]
    for request_of, subject, target in further:
        with case((request_of, subject)):
            data = {"permissionRequest": request_of, "resolvedByHook": True}
            assert events_of(AGENT, line("permission.requested", data, **AT)) == [
                Permission(subject, None, at_ms=0, target=target, is_automatic=True)
            ]


def blocks(of_line: dict[str, Any]) -> list[Block]:
    return list(AGENT.blocks(of_line, "c"))


def result(**fields: Any) -> dict[str, Any]:
    return line("tool.execution_complete", {"toolCallId": "c", "success": True, "result": fields})


def test_a_call_is_divided_into_blocks() -> None:
    """Texts of several lines follow the short arguments. A result is a diff, a content, output, a page, or
    why it failed; data is named with its size.
    """
    assert blocks(started("c", "create", {"path": "a", "file_text": "1\n2", "remark": "x\ny", "no": ""})) == [
        FieldsBlock("arguments", {"path": "a"}),
        ContentBlock("1\n2"),
        TextBlock("remark", "x\ny"),
    ]
    assert blocks(started("c", "apply_patch", "*** Begin Patch\n*** End Patch")) == [
        TextBlock("patch", "*** Begin Patch\n*** End Patch")
    ]
    described = started("c", "bash", {"command": "ls", "description": "List files"})
    assert blocks(described) == [
        TextBlock("description", "List files"),
        FieldsBlock("arguments", {"command": "ls"}),
    ]
    todos = started("c", "update_todo", {"todos": "- [x] Read"})
    assert blocks(todos) == [PlanBlock((PlanEntry("Read", PlanStatus.COMPLETED),))]
    assert blocks(result(content="ok", detailedContent=DIFF)) == [ChangeBlock(DIFF.lstrip("\n"))]
    assert blocks(result(content="one\ntwo\n", detailedContent=VIEWED)) == [ContentBlock("one\ntwo\n")]
    assert blocks(ended("c", "x", shellExecution={"exitCode": 0})) == [OutputBlock("stdout", "x")]
    assert blocks(ended("c", "x\n<exited with exit code 0>")) == [
        OutputBlock("stdout", "x\n<exited with exit code 0>")
    ]
    assert blocks(ended("c", "", shellExecution={})) == blocks(ended("c")) == []
    assert blocks(result(content="x", detailedContent="# Skill\ntext")) == [MarkdownBlock("# Skill\ntext")]
    assert blocks(failed("c", "no")) == [ErrorBlock("no")]
    older = line("tool.execution_complete", {"toolCallId": "c", "result": "plain", "error": "why"})
    assert blocks(older) == [ErrorBlock("why"), ContentBlock("plain")]
    contents = [
        {"type": "image", "data": "AAA=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"blob": "AAAA", "uri": "x"}},
        {"type": "text", "text": "x"},
    ]
    left_out = [{"type": "image", "mimeType": "image/jpeg", "byteLength": 5000}]
    assert blocks(result(contents=contents, binaryResultsForLlm=left_out, structuredContent={"a": 1})) == [
        BinaryBlock("image/png", 2),
        BinaryBlock("binary", 3),
        BinaryBlock("image/jpeg", 5000),
        FieldsBlock("result", {"structuredContent": {"a": 1}}),
    ]
    edits = [{"path": "a", "kind": "edit"}]
    assert blocks(ended("c", fileEdits=edits)) == [FieldsBlock("result", {"fileEdits": edits})]
