"""Claude Code's calls: targets, results, plans, permissions, and blocks."""

from pathlib import Path
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.agents.claude.blocks import argument_blocks, blocks, result_blocks
from agentwatch.agents.claude.calls import TOOLS, mcp_tool, read_result, tool_named
from agentwatch.agents.registry import agent_named, answered_agents
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    TextBlock,
)
from agentwatch.session.events import (
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    PlanStatus,
    ToolEnded,
    ToolKind,
    ToolStarted,
)
from tests.builders.claude_lines import (
    CWD,
    Json,
    answer,
    assistant,
    call,
    events,
    init,
    line,
    result,
    say,
    user,
    written,
)
from tests.builders.lines import session
from tests.conftest import case

QUESTION = {"questions": [{"question": "Which database?"}]}
Use = tuple[str, dict[str, Any], str, str, str | None]
CLAUDES: list[Use] = [
    ("Bash", {"command": "pytest -q\nls"}, "execute", "Ran terminal command", "pytest -q\nls"),
    ("PowerShell", {"command": "dir"}, "execute", "Ran terminal command", "dir"),
    ("Read", {"file_path": f"{CWD}/a.py"}, "read", "Read file", "a.py"),
    ("Edit", {"file_path": "/etc/x"}, "edit", "Edited file", "/etc/x"),
    ("MultiEdit", {"file_path": f"{CWD}/a"}, "edit", "Edited file", "a"),
    ("Write", {"file_path": f"{CWD}/a"}, "edit", "Created new file", "a"),
    ("NotebookEdit", {"notebook_path": f"{CWD}/a.ipynb"}, "edit", "Edited file", "a.ipynb"),
    ("Glob", {"pattern": "**/*.py", "path": "/x"}, "search", "Found files", "**/*.py"),
    ("Grep", {"pattern": "tide"}, "search", "Searched files", "tide"),
    ("LS", {"path": CWD}, "search", "Listed directory", "."),
    ("Task", {"description": "Look", "prompt": "x"}, "delegate", "Ran subagent", "Look"),
    ("Agent", {"prompt": "x"}, "delegate", "Ran subagent", "x"),
    ("TodoWrite", {"todos": []}, "plan", "Updated to-do list", None),
    ("TaskCreate", {"subject": "Mend"}, "plan", "Updated to-do list", "Mend"),
    ("TaskUpdate", {"taskId": "3", "status": "completed"}, "plan", "Updated to-do list", "3"),
    ("TaskGet", {"taskId": "3"}, "plan", "Used tool", "TaskGet 3"),
    ("TaskGet", {}, "plan", "Used tool", "TaskGet"),
    ("WebSearch", {"query": "tide"}, "search", "Searched the web", "tide"),
    ("WebFetch", {"url": "https://x", "prompt": "y"}, "fetch", "Fetched web page", "https://x"),
    ("AskUserQuestion", QUESTION, "other", "Used tool", "AskUserQuestion Which database?"),
    ("AskUserQuestion", {}, "other", "Used tool", "AskUserQuestion"),
    ("ExitPlanMode", {"plan": "Mend it"}, "other", "Used tool", "ExitPlanMode Mend it"),
    ("BashOutput", {"bash_id": "b1"}, "other", "Used tool", "BashOutput b1"),
    ("KillShell", {"shell_id": "b1"}, "other", "Used tool", "KillShell b1"),
    ("Skill", {"skill": "review"}, "other", "Used tool", "Skill review"),
    ("ToolSearch", {"query": "tide"}, "other", "Used tool", "ToolSearch tide"),
    ("mcp__github__create_issue", {"title": "x"}, "mcp", "Called MCP tool", "github create_issue"),
    ("mcp__plugin_a_b__c__d", {}, "mcp", "Called MCP tool", "plugin_a_b c__d"),
    ("mcp__x", {}, "mcp", "Called MCP tool", "x"),
    ("ReadMcpResourceTool", {"server": "s", "uri": "u"}, "mcp", "Called MCP tool", "s u"),
    ("Beachcomb", {}, "other", "Used tool", "Beachcomb"),
]
QWENS: list[Use] = [
    ("read_file", {"file_path": f"{CWD}/a"}, "read", "Read file", "a"),
    ("write_file", {"file_path": f"{CWD}/a"}, "edit", "Created new file", "a"),
    ("edit", {"file_path": f"{CWD}/a"}, "edit", "Edited file", "a"),
    ("run_shell_command", {"command": "ls"}, "execute", "Ran terminal command", "ls"),
    ("grep_search", {"pattern": "x"}, "search", "Searched files", "x"),
    ("list_directory", {"path": CWD}, "search", "Listed directory", "."),
    ("todo_write", {"todos": []}, "plan", "Updated to-do list", None),
    ("web_fetch", {"url": "https://x"}, "fetch", "Fetched web page", "https://x"),
    ("mcp__sea__tide", {}, "mcp", "Called MCP tool", "sea tide"),
    ("save_memory", {"fact": "x"}, "other", "Used tool", "save_memory x"),
]
AMPS: list[Use] = [
    ("Bash", {"cmd": "ls"}, "execute", "Ran terminal command", "ls"),
    ("Bash", {"command": "ls"}, "execute", "Ran terminal command", "ls"),
    ("create_file", {"path": f"{CWD}/a"}, "edit", "Created new file", "a"),
    ("edit_file", {"path": f"{CWD}/a"}, "edit", "Edited file", "a"),
    ("glob", {"filePattern": "*"}, "search", "Found files", "*"),
    ("finder", {"query": "tide"}, "search", "Searched codebase", "tide"),
    ("oracle", {"task": "Think"}, "delegate", "Ran subagent", "Think"),
    ("read_web_page", {"url": "https://x"}, "fetch", "Fetched web page", "https://x"),
    ("mcp__sea__tide", {}, "mcp", "Called MCP tool", "sea tide"),
    ("mermaid", {"code": "x"}, "other", "Used tool", "mermaid x"),
]
FAMILYS: list[Use] = [
    ("Read", {"file_path": "/a"}, "read", "Read file", "/a"),
    ("read_file", {"file_path": "/a"}, "read", "Read file", "/a"),
    ("create_file", {"path": "/a"}, "edit", "Created new file", "/a"),
    ("mcp__sea__tide", {}, "mcp", "Called MCP tool", "sea tide"),
]
INITS = {
    "claude-code": [init()],
    "qwen": [{"type": "system", "subtype": "init", "cwd": CWD, "qwen_code_version": "0.15.10"}],
    "amp": [{"type": "system", "subtype": "init", "cwd": CWD, "tools": [], "mcp_servers": []}],
    "claude-family": [],
}
USES: list[tuple[str, str, dict[str, Any], str, str, str | None]] = [
    *(("claude-code", *use) for use in CLAUDES),
    *(("qwen", *use) for use in QWENS),
    *(("amp", *use) for use in AMPS),
    *(("claude-family", *use) for use in FAMILYS),
]


def test_a_tool_has_a_kind_a_phrase_and_a_target() -> None:
    """Each tool of each agent of the family is described by its main argument. The path is as the agent wrote
    it; only a name with the prefix is an MCP tool.
    """
    for agent, tool, arguments, kind, phrase, target in USES:
        with case((agent, tool, arguments)):
            (started,) = (
                event
                for event in events(*INITS[agent], call(tool, **arguments), agent=agent)
                if isinstance(event, ToolStarted)
            )
            assert (started.tool, started.kind, started.phrase, started.target) == (
                tool,
                kind,
                phrase,
                target,
            )
    found = events(init(), call("Read", file_path=f"{CWD}/a", timeout=9))[-1]
    assert (found.path, found.limit_ms, found.group, found.parent_call) == (f"{CWD}/a", 9, "msg_1", None)
    assert mcp_tool("Bash") is None
    assert tool_named("mcp__a__b").kind is ToolKind.MCP


OK, FAILED, REJECTED = Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED
REFUSED = "[Operation Cancelled] Reason: User did not allow tool call"
CANCELLED, RETURNED = Outcome.CANCELLED, Outcome.RETURNED
REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected"
QWENS_REFUSAL = 'Qwen Code requires permission to use "edit", but that permission was declined.'
OUTCOMES: list[tuple[str, Any, bool | None, Any, Outcome, str | None, int | None]] = [
    ("Bash", "x", None, None, OK, None, None),
    ("Bash", "x", False, {"stdout": "x", "interrupted": False}, OK, None, None),
    ("Bash", "x", False, {"stdout": "x", "exit_code": 0}, OK, None, 0),
    ("Bash", "x", False, {"stdout": "x", "exitCode": 2}, FAILED, "exit 2", 2),
    ("Bash", "Exit code 1\nboom", True, "Error: Exit code 1", FAILED, "exit 1", 1),
    ("PowerShell", "Exit code 127", True, None, FAILED, "exit 127", 127),
    ("Bash", "Exit code -1\nx", True, None, FAILED, "exit -1", -1),
    ("Bash", "Exit code x", True, None, FAILED, "Exit code x", None),
    ("Bash", "Exit code 99999999999999", True, None, FAILED, "exit 9999999999", 9999999999),
    ("Read", "Exit code 1", True, None, FAILED, "Exit code 1", None),
    ("Bash", [{"type": "text", "text": "Exit code 5\nx"}], True, None, FAILED, "exit 5", 5),
    ("Bash", "Exit code 1\nthis requires approval", True, None, FAILED, "exit 1", 1),
    ("Bash", "Command timed out after 2m", True, None, FAILED, "Command timed out after 2m", None),
    ("Read", "<tool_use_error>No such file</tool_use_error>", True, None, FAILED, "No such file", None),
    ("Bash", "", True, {"stderr": "boom"}, FAILED, "boom", None),
    ("Bash", "", True, None, FAILED, "the tool says so", None),
    ("TaskUpdate", "no", None, {"success": False, "error": "not found"}, FAILED, "not found", None),
    ("TaskUpdate", "no", None, {"success": False}, FAILED, "no", None),
    ("Bash", "x", None, {"is_error": True, "stderr": "x"}, FAILED, "x", None),
    ("Bash", "This command requires approval", True, None, REJECTED, "This command requires approval", None),
    ("Bash", "touch in '/x' needs approval.", True, None, REJECTED, "touch in '/x' needs approval.", None),
    ("Bash", "Command contains $() x", True, None, REJECTED, "Command contains $() x", None),
    ("Read", "Command contains $() x", True, None, FAILED, "Command contains $() x", None),
    ("Bash", "PreToolUse:Bash hook error: no", True, None, REJECTED, "PreToolUse:Bash hook error: no", None),
    ("Write", REFUSAL, True, "User rejected tool use", REJECTED, REFUSAL, None),
    ("Edit", QWENS_REFUSAL, True, None, REJECTED, QWENS_REFUSAL, None),
    ("Bash", "", False, {"interrupted": True}, CANCELLED, None, None),
    ("Bash", "x", True, {"interrupted": True}, CANCELLED, "x", None),
    ("Bash", "[Request interrupted by user]", True, None, CANCELLED, "[Request interrupted by user]", None),
    ("Bash", REFUSED, True, None, Outcome.REJECTED, REFUSED, None),
    ("Bash", "Command running in background with ID: x", None, None, RETURNED, None, None),
    ("Bash", "It was moved to the background (ID: x).", None, None, RETURNED, None, None),
    ("Bash", "x", None, {"backgroundTaskId": "x"}, RETURNED, None, None),
    ("Task", "x", None, {"isAsync": True, "status": "async_launched"}, RETURNED, None, None),
    ("Task", "x", None, {"status": "async_launched"}, RETURNED, None, None),
    ("Task", "x", None, {"status": "backgrounded", "outputFile": "/x"}, RETURNED, None, None),
    ("Task", "x", None, {"status": "teammate_spawned"}, RETURNED, None, None),
    ("Task", "[Request interrupted by user for tool use]", None, None, CANCELLED, None, None),
    ("Bash", "[Request interrupted by user for tool use]", None, None, OK, None, None),
    ("Task", "x", None, {"status": "completed"}, OK, None, None),
    ("Read", "Command running in background", None, None, OK, None, None),
]


NOTES: list[tuple[str, dict[str, Any], Any, Any, str | None, str]] = [
    ("Read", {}, "x", {"file": {"numLines": 9, "startLine": 1, "totalLines": 9}}, "9 lines", "Read file"),
    (
        "Read",
        {},
        "x",
        {"file": {"numLines": 9, "startLine": 4, "totalLines": 99}},
        "lines 4-12 of 99",
        "Read file",
    ),
    ("Read", {}, "x", {"file": {"numLines": 1}}, "1 line", "Read file"),
    ("Read", {}, "x", {"type": "image", "file": {"base64": "AA"}}, None, "Read file"),
    ("Write", {}, "x", {"type": "create", "content": "a\nb\n"}, "2 lines", "Created new file"),
    ("Write", {}, "x", {"type": "create", "content": 5}, None, "Created new file"),
    ("Write", {"content": "a\nb"}, "File created", None, "2 lines", "Created new file"),
    ("Write", {"content": "a"}, "The file x has been updated.", None, None, "Edited file"),
    ("Write", {}, "x", {"type": "update", "structuredPatch": []}, None, "Edited file"),
    ("Edit", {}, "x", {"oldString": "", "newString": "a", "originalFile": ""}, "1 line", "Created new file"),
    ("Edit", {}, "x", {"oldString": "a", "newString": "b", "originalFile": None}, None, "Edited file"),
    ("Glob", {}, "x", {"numFiles": 3}, "3 files", "Found files"),
    ("Grep", {}, "x", {"mode": "files_with_matches", "numFiles": 1}, "1 file", "Searched files"),
    ("Grep", {}, "x", {"mode": "count", "numMatches": 2}, "2 matches", "Searched files"),
    ("Grep", {}, "x", {"mode": "content", "numLines": 2}, "2 lines", "Searched files"),
    ("WebSearch", {}, "x", {"results": ["a", {"content": [{}, {}]}]}, "2 results", "Searched the web"),
    ("WebSearch", {}, "x", {"query": "x"}, None, "Searched the web"),
    ("TodoWrite", {}, "x", {"newTodos": [{"status": "completed"}, 5]}, "1 of 2 done", "Updated to-do list"),
    ("TodoWrite", {}, "x", {"newTodos": []}, None, "Updated to-do list"),
    ("Task", {}, "x", {"status": "completed", "totalToolUseCount": 3}, "3 calls", "Ran subagent"),
    ("Bash", {}, "x", {"backgroundTaskId": "b"}, "in the background", "Ran terminal command"),
]


def test_a_result_has_an_outcome_and_a_note() -> None:
    """The result decides how a call ended, and names its size."""
    # Amp's result may be an object with the exit code; Qwen Code gives none: its own `success` counts.
    content = '{"output":"boom","exitCode":2}'
    for agent, outcome, code in (("amp", "failed", 2), ("claude-code", "succeeded", None)):
        found = events(call("Bash", command="make"), answer(content), agent=agent)[-1]
        assert (found.outcome, found.exit_code) == (outcome, code)
    found = events(call("Bash", command="ls"), answer("{a}"), agent="amp")[-1]
    assert (found.outcome, found.exit_code) == ("succeeded", None)
    found = events(call("Read", path="/a"), answer(content), agent="amp")[-1]
    assert (found.outcome, found.exit_code) == ("succeeded", None)
    found = events(call("run_shell_command", command="exit 3"), answer("", is_error=False), agent="qwen")[-1]
    assert (found.outcome, found.exit_code) == ("succeeded", None)
    # Flags, texts and structured results decide the outcome, its reason and the exit code.
    for tool, content, is_error, structured, outcome, error, code in OUTCOMES:
        with case((tool, content, is_error)):
            block = {"content": content} if is_error is None else {"content": content, "is_error": is_error}
            found = read_result(TOOLS[tool], block, structured)
            assert (found.outcome, found.error, found.exit_code) == (outcome, error, code)
    # The note names the size of a result; the patch counts, or the arguments; a subagent's duration is
    # that which the agent measured.
    for tool, arguments, content, structured, note, phrase in NOTES:
        with case((tool, arguments, content)):
            fields = {} if structured is None else {"result": structured}
            ended = next(
                event
                for event in events(init(), call(tool, **arguments), answer(content, **fields))
                if isinstance(event, ToolEnded)
            )
            assert (ended.note, ended.phrase) == (note, phrase)
            assert ended.is_new_file == (phrase == "Created new file")
    patch = [{"lines": ["+a", "+b", "-c", " d"]}]
    edited = call("Edit", file_path="/x", old_string="a", new_string="b\nc\nd")
    for end, counts in ((answer("x", result={"structuredPatch": patch}), (2, 1)), (answer("x"), (3, 1))):
        ended = events(edited, end)[-1]
        assert (ended.lines_added, ended.lines_removed) == counts
    ended = events(call("Task", description="x"), answer("x", result={"totalDurationMs": 6869}))[-1]
    assert ended.duration_ms == 6869
    # A line that is too large may lack the outcome; an end without a start is a call without a name.
    data = written(answer("x" * 100))
    decoder = Decoder(agent_named("claude-code"))
    decoder.decode(written(call("Bash", command="ls")))
    other_ended = decoder.decode_oversize(data[:150], data[-100:], len(data))[-1]
    assert isinstance(other_ended, ToolEnded)
    assert (other_ended.call_id, other_ended.outcome) == ("t-1", RETURNED)
    other_ended = events(answer("x", "t-9"))[-1]
    assert (other_ended.call_id, other_ended.tool, other_ended.target, other_ended.outcome) == (
        "t-9",
        "",
        None,
        OK,
    )


STOPPED = user("[Request interrupted by user for tool use]")
ABORTED: Json = {"subtype": "error_during_execution", "is_error": True, "terminal_reason": "aborted_tools"}
NOT_RUN = answer(
    REFUSAL, is_error=True, tool_result_meta=[{"id": "t-1", "non_execution_kind": "user-rejected"}]
)
DENIALS = [{"tool_name": "Bash", "tool_use_id": "t-1"}]


def test_a_call_may_be_denied_or_interrupted() -> None:
    """Its result, the user's words or the end of the turn say why a call did not run."""
    # Its own text need not say so; a call of an earlier turn, and one that succeeded, is not corrected.
    cases: list[tuple[list[Json], Outcome]] = [
        ([answer("uses .NET methods", is_error=True), result(permission_denials=DENIALS)], REJECTED),
        ([answer(REFUSED[:10], is_error=True), result(permission_denials=DENIALS * 2)], REJECTED),
        ([answer("no", is_error=True), result(permission_denials=[{"tool_use_id": "t-2"}, 5])], FAILED),
        ([answer("no", is_error=True), result(), result(permission_denials=DENIALS)], FAILED),
        ([answer("ok"), result(permission_denials=DENIALS)], OK),
    ]
    for lines, outcome in cases:
        with case(lines):
            found = session(written(init(), call("Bash", command="ls"), *lines))
            assert [each.outcome for each in found.calls] == [outcome]
            assert {key: count for key, count in found.ended_by_outcome.items() if count} == {outcome: 1}
            assert found.calls.as_ended(found.calls[0]).outcome is (
                FAILED if outcome is REJECTED else outcome
            )
    # The text is that of a refusal; the end of the turn says whether the call was refused before it ran.
    further: list[tuple[list[Json], Outcome]] = [
        ([STOPPED, result(**ABORTED, permission_denials=[])], CANCELLED),
        ([result(**ABORTED)], CANCELLED),
        ([STOPPED, result(subtype="error_during_execution", is_error=True)], CANCELLED),
        ([STOPPED, result(**ABORTED, permission_denials=DENIALS)], REJECTED),
        ([STOPPED, init()], CANCELLED),
        ([STOPPED], CANCELLED),
        ([say("I see."), result("I see.")], REJECTED),
        ([result("I see.")], REJECTED),
        ([], REJECTED),
    ]
    for later, outcome in further:
        with case(later):
            for refused in (NOT_RUN, answer(REFUSAL, is_error=True)):
                (later_found,) = session(written(init(), call("Bash"), refused, *later)).calls
                assert later_found.outcome is outcome
    # The field, the user's words or the structured result decide, whatever the text is.
    others: list[tuple[object, Outcome]] = [
        ("permission-rule", REJECTED),
        ("automode-blocked", REJECTED),
        ("user-rejected", REJECTED),
        ("interrupted", CANCELLED),
        ("cancelled", CANCELLED),
        (None, FAILED),
        (5, FAILED),
    ]
    for kind, outcome in others:
        with case(kind):
            metas = [
                5,
                {"id": "t-2", "non_execution_kind": "cancelled"},
                {"id": "t-1", "non_execution_kind": kind},
            ]
            further_found = events(call("Bash"), answer("Not here.", is_error=True, tool_result_meta=metas))
            assert further_found[-1].outcome is outcome
    words = f"{REFUSAL} To tell you how to proceed, the user said:\nUse make."
    assert events(call("Bash"), answer(words, is_error=True))[-1].outcome is REJECTED
    words = "The user wants to clarify these questions."
    other_found = events(
        call("AskUserQuestion"), answer(words, is_error=True, result="User rejected tool use")
    )
    assert (other_found[-1].outcome, other_found[-1].error) == (REJECTED, words)
    assert events(call("Bash"), answer("x", is_error=True, result="Error: x"))[-1].outcome is FAILED


def ask(key: str = "r-1", **fields: Any) -> Json:
    """Return a question whether a tool may be used."""
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "rm -rf build"}}
    return line("control_request", request_id=key, request={**request, "tool_use_id": "t-1", **fields})


def reply(key: str = "r-1", **response: Any) -> Json:
    """Return the answer to a question."""
    return line("control_response", response={"subtype": "success", "request_id": key, "response": response})


def test_a_permission_prompt_is_answered() -> None:
    """A question is open until it is answered, and a denied call is rejected."""
    # The question names the tool and its target; an answer allows, denies or withdraws. Requests of the
    # program itself are none.
    found = session(written(init(), call("Bash", command="rm -rf build"), ask()), is_over=False)
    assert found.questions.oldest is not None
    assert found.questions.oldest.words == "Bash rm -rf build"
    found = session(written(init(), call("Bash"), ask(), reply(behavior="allow")), is_over=False)
    assert (found.questions.oldest, found.questions.count) == (None, 1)
    found = session(written(init(), call("Bash"), ask(), answer("x")), is_over=False)
    assert found.questions.oldest is None
    for line_of_answer, answer_word in [
        (reply(behavior="allow"), "allowed"),
        (reply(behavior="deny", message="No."), "denied"),
        (reply(), "answered"),
        (line("control_cancel_request", request_id="r-1"), "withdrawn"),
    ]:
        with case((line_of_answer, answer_word)):
            seen = events(ask(decision_reason="outside"), line_of_answer)
            assert seen[0] == Permission(
                "Bash", None, "outside", key="r-1", call_id="t-1", target="rm -rf build"
            )
            assert (seen[1].subject, seen[1].answer, seen[1].key) == ("Bash", answer_word, "r-1")
    assert events(ask(subtype="interrupt"), reply("r-2"), ask("r" * 2000)) == []
    assert events(line("control_request", request_id="r-1"), line("control_response")) == []
    asked = ask(tool_name="Write", input={"file_path": f"{CWD}/a.py"}, tool_use_id=None)
    assert (events(init(), asked)[-1].target, events(init(), asked)[-1].call_id) == ("a.py", None)
    # Its answer, a line about the denial, or the result of the turn says so, whatever its own result
    # says. A denial that names no call refuses none.
    further_found = events(
        call("Bash"), ask(), reply(behavior="deny", message="No."), answer("No.", is_error=True)
    )
    assert (further_found[-1].outcome, further_found[-1].error) == ("rejected", "No.")
    for is_error in [True, None]:
        with case(is_error):
            denied = line(
                "system", "permission_denied", tool_use_id="t-1", tool_name="Bash", message="A rule."
            )
            other_found = events(call("Bash", command="ls"), denied, answer("No.", is_error=is_error))
            (asked,) = [each for each in other_found if type(each).__name__ == "Permission"]
            assert (asked.subject, asked.answer, asked.reason, asked.is_automatic) == (
                "Bash",
                "denied",
                "A rule.",
                True,
            )
            assert isinstance(other_found[-1], ToolEnded)
            assert (other_found[-1].outcome, other_found[-1].error) == (REJECTED, "No.")
    denials = [{"tool_name": "Bash", "tool_use_id": "t-1"}, {"tool_name": "Bash", "tool_use_id": "t-77"}, 5]
    other_seen = session(written(init(), call("Bash", command="ls"), result("x", permission_denials=denials)))
    assert [(each.call_id, each.outcome) for each in other_seen.calls] == [("t-1", "rejected")]
    denial = line("system", subtype="permission_denied", tool_name="Bash", message="No.")
    unnamed = events(call("Bash"), denial, answer("No.", is_error=True))
    assert (unnamed[-1].outcome, unnamed[-1].error) == ("failed", "No.")
    # It is run for each permission prompt, and has no matcher.
    ((name, agent),) = answered_agents().items()
    assert name == agent.name == "claude"
    hook = {"type": "command", "command": "x", "timeout": 3600}
    assert (agent.events, agent.entry("x")) == (("PermissionRequest",), {"hooks": [hook]})
    plain, home = agent._replace(is_nested=False, manifest=("m", {})), Path("/home/ada")
    assert plain.entry("x") == {"command": "x"}
    for hooks, entry, commands in (
        (agent, {"hooks": [hook, 5]}, ["x", None]),
        (agent, {"hooks": 5}, []),
        (agent, 5, []),
        (plain, {"command": "x"}, ["x"]),
    ):
        with case((entry, commands)):
            assert hooks.commands(entry) == commands
    moved = {"CLAUDE_CONFIG_DIR": "/etc/c"}
    folders = [agent.folder(moved, home), plain.folder(moved, home), agent.folder({}, home)]
    assert folders == [Path("/etc/c"), Path("/etc/c/.claude"), Path("/home/ada/.claude")]


def plan_after(*lines: Json) -> list[tuple[str, str]]:
    """Return the to-do list of a session, as texts and states."""
    return [(entry.text, entry.status.value) for entry in session(written(init(), *lines)).plan]


def test_open_calls_and_tasks() -> None:
    """Open calls are bounded, belong to their subagents, and change lists of tasks."""
    # Of more than 1,024 open calls, 64 undecided ones and 64 questions the oldest are forgotten.
    many = [call("Bash", f"t-{number}", command="ls") for number in range(1030)]
    ends = events(*many, answer("x", "t-0"), answer("x", "t-1029"))[-2:]
    assert [end.tool for end in ends] == ["", "Bash"]
    long = "t" * 2000
    assert events(call("Bash", long, command="ls"), answer("x", long))[-1].tool == ""
    denials = [
        {"type": "system", "subtype": "permission_denied", "tool_use_id": f"t-{n}"} for n in range(1030)
    ]
    denials.append({"type": "system", "subtype": "permission_denied", "tool_use_id": long})
    ends = events(call("Bash", "t-0"), call("Bash", "t-9"), *denials, answer("x", "t-0"), answer("x", "t-9"))
    assert [end.outcome for end in ends[-2:]] == ["succeeded", "rejected"]
    uses = [{"type": "tool_use", "id": f"c{n}", "name": "Bash", "input": {}} for n in range(70)]
    answers = [answer(REFUSAL, f"c{n}", is_error=True) for n in range(70)]
    found = [event for event in events(assistant(*uses), *answers) if isinstance(event, ToolEnded)]
    assert [event.call_id for event in found] == [f"c{n}" for n in range(6)]
    replied = events(*(ask(f"r-{n}") for n in range(70)), reply("r-0"), reply("r-69"))
    assert [event.key for event in replied if event.answer] == ["r-69"]
    # Interleaved lines of two subagents belong to their own calls.
    lines = [call("Task", "a", description="A"), call("Task", "b", description="B")]
    for number, agent in enumerate("abab"):
        block = {"type": "tool_use", "id": f"t-{number}", "name": "Read", "input": {"file_path": "/x"}}
        lines.append(assistant(block, parent_tool_use_id=agent))
    lines += [answer("x", f"t-{number}", parent_tool_use_id="abab"[number]) for number in (3, 0, 1, 2)]
    other_found = session(written(init(), *lines, answer("A", "a"), say("Done.")))
    assert [(each.call_id, each.parent_call, each.parent) for each in other_found.calls][2:] == [
        ("t-0", "a", 1),
        ("t-1", "b", 2),
        ("t-2", "a", 1),
        ("t-3", "b", 2),
    ]
    assert [each.outcome for each in other_found.calls] == ["succeeded", "unfinished", *["succeeded"] * 4]
    # `TodoWrite` replaces the list, `TaskCreate` and `TaskUpdate` change it; reading, and a subagent's
    # list, change nothing. At most 1,000 entries of 4,096 characters are kept.
    todos = [{"content": "a", "status": "completed"}, {"content": "b", "status": "soon"}]
    assert plan_after(call("TodoWrite", todos=todos), answer("ok")) == [("a", "completed"), ("b", "pending")]
    new = {"newTodos": [{"content": "c", "status": "in_progress"}]}
    assert plan_after(call("TodoWrite", todos=todos), answer("ok", result=new)) == [("c", "in_progress")]
    assert plan_after(call("TodoWrite", todos=todos), answer("no", is_error=True)) == []
    lines = [
        call("TaskCreate", "t-1", subject="a", description="long"),
        answer("Task #1 created successfully: a", "t-1"),
    ]
    lines += [
        call("TaskCreate", "t-2", subject="b"),
        answer("x", "t-2", result={"task": {"id": "2", "subject": "b"}}),
    ]
    lines += [call("TaskCreate", "t-3", subject="c"), answer("x", "t-3")]
    assert plan_after(*lines) == [("a", "pending"), ("b", "pending"), ("c", "pending")]
    lines += [call("TaskUpdate", "t-4", taskId="1", status="in_progress"), answer("x", "t-4")]
    lines += [call("TaskUpdate", "t-5", taskId="2", status="deleted"), answer("x", "t-5")]
    lines += [call("TaskUpdate", "t-6", taskId="9", status="completed"), answer("x", "t-6")]
    lines += [call("TaskUpdate", "t-7", taskId="1", subject="A"), answer("x", "t-7")]
    assert plan_after(*lines) == [("A", "in_progress"), ("c", "pending")]
    tasks = {"tasks": [{"id": "5", "subject": "z", "status": "completed"}]}
    lines += [call("TaskList", "t-8"), answer("x", "t-8", result=tasks)]
    assert plan_after(*lines) == [("z", "completed")]
    reported = events(call("TaskGet", taskId="1"), answer("x"), call("TaskList", "t-2"), answer("x", "t-2"))
    assert not [event for event in reported if isinstance(event, Plan)]
    todos = [{"content": "x", "status": "in_progress"}]
    reported = events(call("TodoWrite", todos=todos), answer("ok"))
    assert reported[-1] == Plan((PlanEntry("x", PlanStatus.IN_PROGRESS),))
    inner = {**call("TodoWrite", todos=todos), "parent_tool_use_id": "t-0"}
    reported = events(inner, answer("ok", parent_tool_use_id="t-0"))
    assert not any(isinstance(event, Plan) for event in reported)
    many = [{"content": "x" * 9999, "status": "pending"}] * 1500
    (plan,) = (each for each in events(call("TodoWrite", todos=many), answer("x")) if isinstance(each, Plan))
    assert (len(plan.entries), len(plan.entries[0].text)) == (1000, 4096)
    lines = [
        each
        for n in range(1003)
        for each in (call("TaskCreate", f"t-{n}", subject=f"s{n}"), answer("x", f"t-{n}"))
    ]
    assert len(plan_after(*lines)) == 1000


# The blocks of calls.

PATCH = [{"oldStart": 1, "newStart": 1, "lines": ["-a", "+b"]}]
DIFF = "@@ -1,1 +1,1 @@\n-a\n+b"
PLAN = PlanBlock((PlanEntry("x", PlanStatus.COMPLETED),))
TODOS = [{"content": "x", "status": "completed"}]
ARGUMENTS: list[tuple[Json, list[Block]]] = [
    ({}, []),
    (
        {"command": "make\nls", "description": "Build", "timeout": 5},
        [
            TextBlock("description", "Build"),
            FieldsBlock("arguments", {"timeout": 5}),
            TextBlock("command", "make\nls"),
        ],
    ),
    ({"description": "Look"}, [FieldsBlock("arguments", {"description": "Look"})]),
    ({"todos": TODOS}, [PLAN]),
    ({"todos": "x"}, [FieldsBlock("arguments", {"todos": "x"})]),
    (
        {"file_path": "/a", "old_string": "a", "new_string": "b", "replace_all": False},
        [FieldsBlock("arguments", {"file_path": "/a"}), ChangeBlock(DIFF)],
    ),
    ({"edits": [{"old_string": "a", "new_string": "b"}]}, [ChangeBlock(DIFF)]),
    ({"content": "a\nb"}, [ContentBlock("a\nb")]),
]
RESULTS: list[tuple[Any, Any, list[Block]]] = [
    (
        "x",
        {"stdout": "a", "stderr": "b", "interrupted": False},
        [OutputBlock("stdout", "a"), OutputBlock("stderr", "b")],
    ),
    (
        "x",
        {"stdout": "", "returnCodeInterpretation": "No matches"},
        [FieldsBlock("result", {"returnCodeInterpretation": "No matches"})],
    ),
    ("x", {"stdout": "data:image/png;base64,AAAA", "isImage": True}, [BinaryBlock("image/png", 3)]),
    ("x", {"stdout": "AAA=", "isImage": True}, [BinaryBlock("image", 2)]),
    ("x", {"filePath": "/a", "structuredPatch": PATCH, "originalFile": "a"}, [ChangeBlock(DIFF, "a")]),
    (
        "x",
        {"type": "create", "content": "b", "structuredPatch": [], "originalFile": None},
        [ChangeBlock(None, None, "b")],
    ),
    ("x", {"structuredPatch": [], "numFiles": 1}, [FieldsBlock("result", {"numFiles": 1})]),
    ("x", {"type": "text", "file": {"content": "a", "startLine": 4}}, [ContentBlock("a", 4)]),
    (
        "x",
        {"type": "image", "file": {"base64": "AAAA", "type": "image/png", "originalSize": 9}},
        [BinaryBlock("image/png", 9)],
    ),
    ("x", {"type": "pdf", "file": {"base64": "AAAA"}}, [BinaryBlock("pdf", 3)]),
    ("x", {"file": {"cells": 5}}, [FieldsBlock("result", {"file": {"cells": 5}})]),
    (
        "x",
        {"mode": "content", "content": "a", "filenames": ["b", 5]},
        [ContentBlock("a"), FilesBlock(("b",)), FieldsBlock("result", {"mode": "content"})],
    ),
    (
        "x",
        {"results": ["Words", "", {"content": [{"title": "t", "url": "u"}, 5]}]},
        [ReferencesBlock((Reference("t", "u"),)), MarkdownBlock("Words")],
    ),
    ("x", {"results": []}, []),
    ("x", {"oldTodos": TODOS, "newTodos": TODOS}, [PLAN]),
    ("x", {"content": [{"type": "text", "text": "21"}, {}], "prompt": "y"}, [MarkdownBlock("21")]),
    ("x", {"result": "A page", "code": 200}, [MarkdownBlock("A page"), FieldsBlock("result", {"code": 200})]),
    ("words", None, [ContentBlock("words")]),
    ("words", "Error: words", [ContentBlock("words")]),
    ("", None, []),
    ("   12→a\n   13→b", None, [ContentBlock("a\nb", 12)]),
    ("1\ta\n2\tb\n\n<system-reminder>x", None, [ContentBlock("a\nb")]),
    ("x\ta", None, [ContentBlock("x\ta")]),
    (
        [
            {"type": "text", "text": "a"},
            {"type": "image", "source": {"data": "AAAA", "media_type": "image/png"}},
        ],
        None,
        [ContentBlock("a"), BinaryBlock("image/png", 3)],
    ),
    ([{"type": "image", "source": {"data": "AA=="}}, {"type": "text"}], None, [BinaryBlock("binary", 1)]),
    (
        [{"type": "tool_reference", "tool_name": "x"}],
        None,
        [FieldsBlock("result", {"type": "tool_reference", "tool_name": "x"})],
    ),
]
ERRORS: list[tuple[Any, list[Block]]] = [
    ("<tool_use_error>No.</tool_use_error>", [ErrorBlock("No.")]),
    ("Exit code 1\nboom", [ErrorBlock("Exit code 1"), OutputBlock("stdout", "boom")]),
    ("Exit code 1", [ErrorBlock("Exit code 1")]),
    ("", []),
]


def test_results_are_blocks() -> None:
    """Each line has the blocks of the call that is meant."""
    # Changes are diffs, a to-do list is a plan, images are only named, and a failure has its reason.
    for arguments, expected in ARGUMENTS:
        with case(arguments):
            assert list(argument_blocks(arguments)) == expected
    for content, structured, expected in RESULTS:
        with case((content, structured)):
            assert list(result_blocks({"content": content}, structured)) == expected
    for content, expected in ERRORS:
        with case((content, expected)):
            assert list(result_blocks({"content": content, "is_error": True}, {"stdout": "x"})) == expected
    # A line with several calls shows one of them, or all; its structured result belongs to a single one.
    uses = [{"type": "tool_use", "id": f"t-{n}", "name": "Read", "input": {"path": f"/{n}"}} for n in (1, 2)]
    line = assistant(*uses)
    assert list(blocks(line, "t-2")) == [FieldsBlock("arguments", {"path": "/2"})]
    assert len(list(blocks(line, ""))) == 2
    ended = answer("a", "t-1", result={"stdout": "b"})
    assert list(blocks(ended, "t-1")) == [OutputBlock("stdout", "b")]
    assert list(blocks(ended, "t-2")) == []
    ended["message"]["content"].append({"type": "tool_result", "tool_use_id": "t-2", "content": "c"})
    assert list(blocks(ended, "t-2")) == [ContentBlock("c")]
    on_disk = {**answer("a", "t-1"), "toolUseResult": {"stdout": "b"}}
    assert list(blocks(on_disk, "t-1")) == [OutputBlock("stdout", "b")]
    assert list(blocks(call("Bash"), "t-1")) == []
