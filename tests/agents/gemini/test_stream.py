"""Gemini's stream: turns, tools, blocks, and how its lines are recognised."""

import json
from typing import Any

from agentwatch.agents import Decoder, LineRole
from agentwatch.agents.gemini.agent import AGENT
from agentwatch.agents.gemini.chat import call_blocks, part_blocks
from agentwatch.agents.gemini.stream import argument_facts, shown_facts, tool_named
from agentwatch.agents.registry import detect
from agentwatch.agents.tool import NO_FACTS, Facts, Phrase
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
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus, TextEnded, ToolKind
from tests.builders.agents.decoded import outcomes, session_of
from tests.builders.formats.gemini import (
    AT,
    AT_MS,
    DONE,
    INIT,
    LINES,
    USER,
    delta,
    ended,
    failure,
    notice,
    one,
    use,
    whole,
)
from tests.conftest import case

DENIED = "Tool execution denied by policy."


def test_a_run_has_its_facts_and_text() -> None:
    """The init, the prompt, the deltas and the result make the run."""
    found = whole(delta("I'll "), delta("do it."), DONE)
    run = found.run
    assert (run.session_id, run.model, run.prompt, run.turns) == ("s-1", "gemini-2.5-flash", "Do it.", 1)
    assert (found.text, found.outcome, run.duration_ms) == ("I'll do it.", "succeeded", 671)
    assert (run.tokens.input, run.tokens.cached, run.tokens.output) == (29923, 21000, 224)
    assert run.usage is not None
    assert "models" not in run.usage
    assert run.text_matches_result is None
    # A message that repeats the deltas before it ends them; any other is new text.
    found = whole(delta("A"), delta("B"), use("glob"), ended(), delta("C"), DONE)
    assert [str(entry.content) for entry in found.transcript if entry.kind == "answer"] == ["AB", "C"]
    assert found.text == "ABC"
    decoder = Decoder(AGENT)
    events = [decoder.decode(json.dumps(each).encode()) for each in (delta("A"), delta("B"))]
    assert len(events) == 2
    copy = delta("AB") | {"delta": False}
    assert type(decoder.decode(json.dumps(copy).encode())[0]) is TextEnded
    assert whole(delta("A"), copy, delta("C"), DONE).text == "AABC"
    assert whole(delta("A"), delta("A") | {"delta": False}, delta("A"), DONE).text == "AA"


def test_the_outcome_of_a_call() -> None:
    """The agent's word stands, also for a call without a name."""
    # The agent's word stands, also for a command that exited with 3; a rule's refusal is a rejection, an
    # unknown status is counted. All calls of a batch start before the first ends, in any order.
    call = one(use("run_shell_command", command="exit 3\n"), ended(output="boom"))
    assert (call.outcome, call.exit_code, call.note) == (Outcome.SUCCEEDED, None, None)
    assert (call.kind, call.phrase, call.target) == (ToolKind.EXECUTE, "Ran terminal command", "exit 3")
    assert (call.started_ms, call.ended_ms) == (AT_MS, AT_MS)
    assert not AGENT.traits.has_exit_codes
    cases: list[tuple[dict[str, Any], Outcome, str | None]] = [
        (failure("file_not_found"), Outcome.FAILED, "No."),
        (failure("permission_denied"), Outcome.FAILED, "No."),
        (failure("tool_not_registered"), Outcome.FAILED, "No."),
        (failure("policy_violation"), Outcome.REJECTED, "No."),
        (
            failure("x", "Tool execution denied by policy."),
            Outcome.REJECTED,
            "Tool execution denied by policy.",
        ),
        (failure("x", "[Operation Cancelled] Esc"), Outcome.CANCELLED, "[Operation Cancelled] Esc"),
        ({"status": "cancelled", "output": "Esc"}, Outcome.CANCELLED, "Esc"),
        ({"status": "error", "output": "No."}, Outcome.FAILED, "No."),
        ({"status": "error", "error": "No."}, Outcome.FAILED, "No."),
        ({"status": "error", "error": {"type": "unknown"}}, Outcome.FAILED, "unknown"),
        ({"status": "error"}, Outcome.FAILED, None),
        ({"status": None, "error": "No."}, Outcome.FAILED, "No."),
        ({"status": None}, Outcome.RETURNED, "came back without a status"),
        ({"status": "paused"}, Outcome.RETURNED, "unknown status paused"),
        ({"status": "success", "error": "No."}, Outcome.SUCCEEDED, None),
    ]
    for fields, outcome, error in cases:
        with case((fields, outcome)):
            call = one(use("read_file", path="a"), ended(**fields))
            assert (call.outcome, call.error) == (outcome, error)
    assert whole(use("glob"), ended(status="paused")).lines.unknown == 1
    found = whole(use("run_shell_command", command="sleep 9"))
    assert (found.outcome, outcomes(found), found.never_completed) == ("unfinished", {"c-1": "unfinished"}, 1)
    lines = [use("glob", "a"), use("read_file", "b"), ended("b"), ended("a", **failure("x"))]
    assert outcomes(whole(*lines)) == {"a": "failed", "b": "succeeded"}
    other = [*LINES[:5], LINES[6], LINES[5], *LINES[7:]]
    assert outcomes(session_of(AGENT, *other)) == outcomes(session_of(AGENT, *LINES))
    # The agent makes a call's id of the tool's name; older versions have a name for display. Of 1,001
    # open calls, the arguments of the oldest are forgotten.
    further: list[tuple[str, str]] = [
        ("read_file__read_file_1795208170605_1", "read_file"),
        ("run_shell_command_1779363358754_1", "run_shell_command"),
        ("replace-1770507872133-32d31f85c46908", "replace"),
        ("a__b__a__b_1_2", "a__b"),
        ("tool_1", ""),
        ("_1_2", ""),
        ("", ""),
    ]
    for call_id, name in further:
        with case(call_id):
            found = whole(ended(call_id))
            assert [call.tool for call in found.calls] == [name]
            assert found.completed_without_started == 1
    line = use("x", "glob__glob_1_2", pattern="*")
    del line["tool_name"]
    assert one(line).tool == "glob"
    lines = [use("write_todos", f"c-{number}", todos=[]) for number in range(1001)]
    found = whole(*lines, ended("c-0"), ended("c-1"))
    assert [found.calls[number].outcome for number in range(2)] == ["succeeded", "succeeded"]
    assert found.calls[0].tool == "write_todos"
    tool = tool_named("list_issues", "list_issues (my hub MCP Server)")
    assert (tool.kind, tool.target({})) == (ToolKind.MCP, "my hub list_issues")
    assert tool_named("list_issues", "Issues").kind is ToolKind.OTHER


def test_the_outcome_of_a_run() -> None:
    """The status decides; the last error, of 4,096 characters at most, is the reason, and a duration of 0 is
    unknown. The model with the most tokens was used. Each init starts a run.
    """
    cases: list[tuple[dict[str, Any], str, str | None]] = [
        (
            {"status": "error", "error": {"type": "FatalTurnLimitedError", "message": "Too long"}},
            "failed",
            "Too long",
        ),
        ({"status": "error", "error": {"type": "FatalCancellationError", "message": "x"}}, "cancelled", "x"),
        ({"status": "error", "error": {"type": "E"}}, "failed", "E"),
        ({"status": "error", "error": "boom"}, "failed", "boom"),
        ({"status": "cancelled"}, "cancelled", None),
        ({"status": "odd"}, "failed", None),
        ({"error": "boom"}, "failed", "boom"),
        ({}, "succeeded", None),
    ]
    for fields, outcome, result in cases:
        with case((fields, outcome)):
            found = whole({"type": "result", "timestamp": AT} | fields)
            assert (found.outcome, found.run.result) == (outcome, result)
    assert whole(notice("Bad key"), notice("careful", "warning")).last_error == "Bad key"
    assert whole(notice("Bad key", None)).last_error == "Bad key"
    assert whole(notice("")).last_error == "error without a message"
    found = whole(notice("empty response"), DONE | {"status": "error"})
    assert (found.outcome, found.run.result) == ("failed", "empty response")
    again = whole(notice("x"), DONE, USER, DONE | {"status": "error"})
    assert again.run.result is None
    found = whole(DONE | {"status": "error", "error": {"message": "x" * 50_000}})
    assert found.run.result == "x" * 4095 + "…"
    assert whole(DONE | {"status": "error", "stats": {"duration_ms": 0}}).run.duration_ms is None
    assert whole(DONE | {"stats": {"duration_ms": 0}}).run.duration_ms == 0
    models = {"flash": {"total_tokens": 5}, "pro": {"total_tokens": 50}, "odd": 1, "": {}}
    assert (
        session_of(AGENT, INIT | {"model": "auto"}, DONE | {"stats": {"models": models}}).run.model == "pro"
    )
    assert (
        session_of(AGENT, INIT | {"model": "flash"}, DONE | {"stats": {"models": models}}).run.model
        == "flash"
    )
    found = session_of(AGENT, INIT, USER, use("glob"), notice("x"), INIT, USER, ended(), DONE)
    assert len(found.runs) == 2
    assert [(call.run, call.tool, call.outcome) for call in found.calls] == [
        (1, "glob", "unfinished"),
        (2, "", "succeeded"),
    ]


DIFF = "Index: a\n--- a\n+++ a\n@@ -1,1 +1,2 @@\n-x\n+y\n+z"


def blocks(line: dict[str, Any]) -> list[Block]:
    return list(AGENT.blocks(line, ""))


def test_a_tool_has_its_phrase_and_blocks() -> None:
    """Each tool is described by its arguments."""
    # Each tool is described by its arguments, which have the lines of a new file or of one replacement;
    # what the agent shows has those of a change.
    cases: list[tuple[str, dict[str, Any], str, str]] = [
        ("read_file", {"file_path": "a"}, "read", "Read file a"),
        ("read_file", {"absolute_path": "/a"}, "read", "Read file /a"),
        ("read_many_files", {"include": ["a", "b", 1]}, "read", "Read file a, b"),
        ("read_many_files", {"paths": ["a"]}, "read", "Read file a"),
        ("write_file", {"file_path": "a"}, "edit", "Created new file a"),
        ("replace", {"file_path": "a"}, "edit", "Edited file a"),
        ("run_shell_command", {"command": "ls\npwd"}, "execute", "Ran terminal command ls\npwd"),
        ("list_directory", {"dir_path": "."}, "search", "Listed directory ."),
        ("list_directory", {"path": "/"}, "search", "Listed directory /"),
        ("glob", {"pattern": "*"}, "search", "Found files *"),
        ("search_file_content", {"pattern": "x"}, "search", "Searched files x"),
        ("grep_search", {"pattern": "x"}, "search", "Searched files x"),
        ("google_web_search", {"query": "q"}, "search", "Searched the web q"),
        ("web_fetch", {"prompt": "Read https://e.org now"}, "fetch", "Fetched web page https://e.org"),
        ("web_fetch", {"prompt": "Read it"}, "fetch", "Fetched web page Read it"),
        ("web_fetch", {"url": "u"}, "fetch", "Fetched web page u"),
        ("web_fetch", {}, "fetch", "Fetched web page None"),
        ("write_todos", {}, "plan", "Updated to-do list None"),
        ("delegate_to_agent", {"agent_name": "a", "objective": "o"}, "delegate", "Ran subagent a o"),
        ("codebase_investigator", {}, "delegate", "Ran subagent None"),
        ("mcp_github_list_issues", {}, "mcp", "Called MCP tool github list_issues"),
        ("github__list", {}, "mcp", "Called MCP tool github list"),
        ("save_memory", {"fact": "f"}, "other", "Used tool save_memory f"),
        ("ask_user", {"questions": [1]}, "other", "Used tool ask_user"),
        ("discovered_tool_x", {"name": "n"}, "other", "Used tool discovered_tool_x n"),
        ("mcp_x", {}, "other", "Used tool mcp_x"),
        ("__x", {}, "other", "Used tool __x"),
    ]
    for name, arguments, kind, action in cases:
        with case((name, arguments, kind)):
            tool = tool_named(name)
            target, _ = tool.described(arguments)
            assert (tool.kind, f"{tool.phrase} {target}") == (ToolKind(kind), action)
    further: list[tuple[str, dict[str, Any], Facts]] = [
        ("write_file", {"content": "a\nb\n"}, Facts(note="2 lines")),
        ("write_file", {"content": "a\nb"}, Facts(note="2 lines")),
        ("write_file", {}, NO_FACTS),
        ("replace", {"old_string": "a\nb", "new_string": "a\nc\nd"}, Facts(lines_added=2, lines_removed=1)),
        ("replace", {"old_string": "a", "new_string": "b", "allow_multiple": True}, NO_FACTS),
        ("replace", {"old_string": "a", "new_string": "b", "expected_replacements": 2}, NO_FACTS),
        ("replace", {"old_string": "a", "new_string": 1}, NO_FACTS),
        ("replace", {"old_string": None, "new_string": "a"}, NO_FACTS),
        ("glob", {}, NO_FACTS),
    ]
    for name, arguments, facts in further:
        with case((name, arguments)):
            assert argument_facts(name, arguments) == facts
    facts = argument_facts("replace", {"old_string": "", "new_string": "a\nb\n"})
    assert (facts.phrase, facts.note, facts.is_new_file, facts.lines_added) == (
        Phrase.CREATED,
        "2 lines",
        True,
        2,
    )
    others: list[tuple[str, object, Facts]] = [
        ("glob", "Found 3 files.", Facts(note="Found 3 files")),
        ("read_file", "", NO_FACTS),
        ("grep_search", "a\nb", NO_FACTS),
        ("grep_search", "x" * 61, NO_FACTS),
        ("run_shell_command", "ok", NO_FACTS),
        ("write_file", {}, NO_FACTS),
        ("write_file", None, NO_FACTS),
        ("replace", {"fileDiff": DIFF, "originalContent": "x"}, Facts(None, Phrase.EDITED, False, 2, 1)),
        ("replace", {"fileDiff": DIFF}, Facts(None, Phrase.EDITED, False, 2, 1)),
        (
            "write_file",
            {"fileDiff": DIFF, "originalContent": None},
            Facts("2 lines", Phrase.CREATED, True, 2, 1),
        ),
        (
            "write_file",
            {"fileDiff": DIFF, "originalContent": ""},
            Facts("2 lines", Phrase.CREATED, True, 2, 1),
        ),
        ("write_file", {"fileDiff": DIFF, "isNewFile": True}, Facts("2 lines", Phrase.CREATED, True, 2, 1)),
    ]
    for name, shown, facts in others:
        with case((name, shown)):
            assert shown_facts(tool_named(name), shown, NO_FACTS) == facts
    todos = [{"description": "a", "status": "completed"}, {"description": "b", "status": "?"}, 1]
    found = whole(use("write_todos", todos=todos), ended())
    assert [entry.text for entry in found.plan] == ["a", "b", ""]
    assert [entry.status for entry in found.plan][:2] == [PlanStatus.COMPLETED, PlanStatus.PENDING]
    assert whole(use("write_todos", todos=todos), ended(status="error")).plan == ()
    assert whole(use("write_todos", todos="x"), ended()).plan == ()
    # A replacement is a diff, a written file its content; a command has its description and output, a
    # failure its reason. A page is Markdown, data has a type and a size.
    line = use("replace", file_path="a.py", old_string="a\nb", new_string="a\nc", instruction="i")
    change, rest = blocks(line)
    assert change == ChangeBlock("@@ -1,2 +1,2 @@\n a\n-b\n+c")
    assert rest == FieldsBlock("arguments", {"file_path": "a.py", "instruction": "i"})
    line = use("write_file", file_path="a", content="x\n")
    assert blocks(line) == [ChangeBlock(None, after="x\n"), FieldsBlock("arguments", {"file_path": "a"})]
    assert blocks(use("write_file", file_path="a", content=1)) == [
        FieldsBlock("arguments", {"file_path": "a", "content": 1})
    ]
    line = use("run_shell_command", command="ls\npwd", description="List", dir="")
    assert blocks(line) == [TextBlock("description", "List"), TextBlock("command", "ls\npwd")]
    line = ended("run_shell_command__run_shell_command_1_2", output="a")
    assert blocks(line) == [OutputBlock("stdout", "a")]
    line = use("write_todos", todos=[{"description": "a", "status": "in_progress"}])
    assert blocks(line) == [PlanBlock((PlanEntry("a", PlanStatus.IN_PROGRESS),))]
    assert blocks(ended(**failure("x"), output="more")) == [ErrorBlock("No."), ContentBlock("more")]
    assert blocks(ended(**failure("x"), output="No.")) == [ErrorBlock("No.")]
    assert blocks(ended(status="error", error="No.")) == [ErrorBlock("No.")]
    assert blocks(ended()) == []
    contents: list[tuple[str, Block]] = [
        ("read_file", ContentBlock("x")),
        ("web_fetch", MarkdownBlock("x")),
        ("google_web_search", MarkdownBlock("x")),
        ("glob", ContentBlock("x")),
        ("replace", TextBlock("message", "x")),
        ("write_todos", TextBlock("message", "x")),
    ]
    for other_name, block in contents:
        with case(other_name):
            assert blocks(ended(f"{other_name}__{other_name}_1_2", output="x")) == [block]
    # A chat has the arguments beside the result, so that the first line that was read is known.
    result = [{"functionResponse": {"response": {"output": "x"}}}]
    for arguments, first in (({"start_line": 5}, 5), ({"offset": 5}, 6), ({"offset": -5}, 1), ({}, 1)):
        with case(arguments):
            call = {"id": "c", "name": "read_file", "args": arguments, "result": result, "status": "success"}
            assert [*call_blocks({"toolCalls": [call]}, "c")][-1] == ContentBlock("x", first)
    data = {"inlineData": {"mimeType": "image/png", "data": "QUJD" + "QQ=="}}
    response = {
        "functionResponse": {"parts": [data, 1, {"inlineData": {"data": 1}}, {"inlineData": {"x": 1}}]}
    }
    assert list(part_blocks([data, "x", response])) == [
        BinaryBlock("image/png", 4),
        BinaryBlock("image/png", 4),
        BinaryBlock("binary", None),
        BinaryBlock("binary", None),
    ]


def test_a_line_is_recognised_and_has_its_role() -> None:
    """Each type has its own keys; a line without Gemini's fields is not Gemini's, and unknown types and
    roles are counted. The init and the prompt start a run.
    """
    cases: list[dict[str, Any]] = [
        INIT,
        USER,
        delta("x"),
        use("glob"),
        ended(),
        notice("x"),
        DONE,
        DONE | {"status": "error"},
    ]
    for line in cases:
        with case(line):
            assert detect(line, is_first=False) is AGENT
    further: list[dict[str, Any]] = [
        {"type": "init"},
        USER | {"session_id": "s"},
        USER | {"message": {}},
        {"type": "tool_use", "sessionID": "s", "timestamp": AT, "part": {}},
        {"type": "tool_use", "timestamp": 1, "tool_id": "x", "tool_name": "x"},
        {"type": "result", "timestamp": AT, "sessionId": "s", "exitCode": 0},
        {"type": "result", "timestamp": AT, "status": []},
        {"type": "result", "timestamp": AT, "status": "odd"},
        {"type": "error", "timestamp": AT},
        {"type": "weather", "timestamp": AT},
    ]
    for line in further:
        with case(line):
            assert not AGENT.recognises(line)
    lines = [INIT, USER, delta("x"), use("glob"), ended(), notice("x"), DONE]
    start, call, other = LineRole.START, LineRole.CALL, LineRole.OTHER
    assert [AGENT.role(line) for line in lines] == [start, start, other, call, call, other, other]
    others: list[tuple[dict[str, Any], int]] = [
        ({"type": "weather"}, 1),
        (USER | {"content": 1}, 1),
        (delta("x") | {"content": None}, 1),
        (delta("x") | {"role": "system"}, 1),
        (delta("x") | {"role": "model"}, 0),
        (delta("x") | {"content": [{"text": "x"}, {}]}, 0),
    ]
    for line, unknown in others:
        with case(line):
            assert whole(line).lines.unknown == unknown
