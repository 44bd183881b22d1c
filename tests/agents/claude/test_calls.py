"""Calls are named by their tool, and described by their arguments."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.claude.calls import mcp_tool, tool_named
from agentwatch.session.events import ToolKind, ToolStarted
from tests.builders.claude_lines import CWD, answer, assistant, call, events, init, result, say, written
from tests.builders.lines import session
from tests.conftest import case

QUESTION = {"questions": [{"question": "Which database?"}]}
Use = tuple[str, dict[str, Any], str, str, str | None]
CLAUDES: list[Use] = [
    ("Bash", {"command": "pytest -q\nls"}, "execute", "Ran terminal command", "pytest -q"),
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
    """Each tool of each agent of the family is described by its main argument."""
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


def test_a_call_has_its_path_its_limit_and_its_group() -> None:
    """The path is as the agent wrote it; the limit is in milliseconds."""
    found = events(init(), call("Read", file_path=f"{CWD}/a", timeout=9))[-1]
    assert (found.path, found.limit_ms, found.group, found.agent) == (f"{CWD}/a", 9, "msg_1", None)


def test_mcp_tools_are_known_by_their_prefix() -> None:
    """Only a name with the prefix is an MCP tool."""
    assert mcp_tool("Bash") is None
    assert tool_named("mcp__a__b").kind is ToolKind.MCP


def test_open_calls_are_bounded() -> None:
    """Of more than 1,024 open calls the oldest are forgotten: their ends are those of an unknown tool."""
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


def test_a_denial_in_the_result_ends_an_open_call() -> None:
    """A call that is open when its turn ends, and that the result says was refused, was rejected."""
    denials = [{"tool_name": "Bash", "tool_use_id": "t-1"}, {"tool_name": "Bash", "tool_use_id": "t-77"}, 5]
    found = session(written(init(), call("Bash", command="ls"), result("x", permission_denials=denials)))
    assert [(each.call_id, each.outcome) for each in found.calls] == [("t-1", "rejected")]


def test_calls_of_parallel_subagents_have_their_parents() -> None:
    """Interleaved lines of two subagents belong to their own calls."""
    lines = [call("Task", "a", description="A"), call("Task", "b", description="B")]
    for number, agent in enumerate("abab"):
        block = {"type": "tool_use", "id": f"t-{number}", "name": "Read", "input": {"file_path": "/x"}}
        lines.append(assistant(block, parent_tool_use_id=agent))
    lines += [answer("x", f"t-{number}", parent_tool_use_id="abab"[number]) for number in (3, 0, 1, 2)]
    found = session(written(init(), *lines, answer("A", "a"), say("Done.")))
    assert [(each.call_id, each.agent, each.parent) for each in found.calls][2:] == [
        ("t-0", "a", 1),
        ("t-1", "b", 2),
        ("t-2", "a", 1),
        ("t-3", "b", 2),
    ]
    assert [each.outcome for each in found.calls] == ["succeeded", "unfinished", *["succeeded"] * 4]


def test_amps_commands_may_return_an_object() -> None:
    """The text of a command's result may be an object with its exit code; only Amp's is read so."""
    content = '{"output":"boom","exitCode":2}'
    for agent, outcome, code in (("amp", "failed", 2), ("claude-code", "succeeded", None)):
        found = events(call("Bash", command="make"), answer(content), agent=agent)[-1]
        assert (found.outcome, found.exit_code) == (outcome, code)
    found = events(call("Bash", command="ls"), answer("{a}"), agent="amp")[-1]
    assert (found.outcome, found.exit_code) == ("succeeded", None)
    found = events(call("Read", path="/a"), answer(content), agent="amp")[-1]
    assert (found.outcome, found.exit_code) == ("succeeded", None)


def test_an_agent_says_how_a_command_ended() -> None:
    """Qwen Code gives no exit code: its own status `success` counts."""
    found = events(call("run_shell_command", command="exit 3"), answer("", is_error=False), agent="qwen")[-1]
    assert (found.outcome, found.exit_code) == ("succeeded", None)
