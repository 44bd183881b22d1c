"""Each tool of Codex has a kind, a phrase and a target."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.session.events import ToolKind
from tests.builders.codex.lines import META, function, item, only_call
from tests.conftest import case

PATCH = """*** Begin Patch
*** Update File: a.py
*** Move to: b.py
@@
-a
+b
*** Delete File: c.py
*** End Patch"""


def test_a_tool_is_described_by_its_arguments() -> None:
    """The phrase is that of the text format, and the target what the call acts on."""
    cases: list[tuple[str, Any, str, ToolKind]] = [
        ("shell", {"command": ["bash", "-lc", "ls -la"]}, "Ran terminal command ls -la", ToolKind.EXECUTE),
        ("container.exec", {"command": ["git", "log"]}, "Ran terminal command git log", ToolKind.EXECUTE),
        ("shell_command", {"command": "\na\nb"}, "Ran terminal command a", ToolKind.EXECUTE),
        ("exec_command", {"cmd": "ls"}, "Ran terminal command ls", ToolKind.EXECUTE),
        ("exec_command", {}, "Ran terminal command ", ToolKind.EXECUTE),
        ("shell", {"command": ["apply_patch", 7]}, "Ran terminal command apply_patch", ToolKind.EXECUTE),
        ("apply_patch", {"patch": PATCH}, "Edited file a.py, b.py, c.py", ToolKind.EDIT),
        ("apply_patch", {}, "Edited file ", ToolKind.EDIT),
        ("update_plan", {}, "Updated to-do list ", ToolKind.PLAN),
        ("view_image", {"path": "/home/ada/app/a.png"}, "Read file a.png", ToolKind.READ),
        ("view_image", {}, "Read file ", ToolKind.READ),
        ("read_file", {"file_path": "/b"}, "Read file /b", ToolKind.READ),
        ("list_dir", {"dir_path": "/home/ada/app"}, "Listed directory .", ToolKind.SEARCH),
        ("grep_files", {"pattern": "x"}, "Searched files x", ToolKind.SEARCH),
        ("web_search", {"query": "x"}, "Searched the web x", ToolKind.SEARCH),
        ("spawn_agent", {"message": "Look\nhere"}, "Ran subagent Look", ToolKind.DELEGATE),
        ("send_input", {"id": "t-2", "prompt": "More"}, "Ran subagent More", ToolKind.DELEGATE),
        ("wait", {"ids": ["t-2", "t-3"]}, "Used tool wait t-2 t-3", ToolKind.DELEGATE),
        ("close_agent", {"id": "t-2"}, "Used tool close_agent t-2", ToolKind.DELEGATE),
        ("write_stdin", {"session_id": 7, "chars": ""}, "Used tool write_stdin 7", ToolKind.EXECUTE),
        ("write_stdin", {}, "Used tool write_stdin", ToolKind.EXECUTE),
        ("js_repl", {"code": "a\nb"}, "Used tool js_repl a", ToolKind.EXECUTE),
        ("mcp__git_hub__get_it", {}, "Called MCP tool git_hub get_it", ToolKind.MCP),
        ("mcp__alone", {}, "Called MCP tool alone", ToolKind.MCP),
        ("tool_search", {}, "Used tool tool_search", ToolKind.SEARCH),
        ("request_user_input", {}, "Used tool request_user_input", ToolKind.OTHER),
        ("teleport", {"to": "Mars"}, "Used tool teleport Mars", ToolKind.OTHER),
    ]
    for name, arguments, action, kind in cases:
        with case((name, arguments, action)):
            call = only_call(META, function(name, arguments))
            assert (f"{call.phrase} {call.target or ''}", call.kind, call.tool) == (action, kind, name)


@pytest.mark.parametrize(
    ("namespace", "name", "target"),
    [
        ("mcp__weather", "forecast", "weather forecast"),
        ("mcp__weather__", "forecast", "weather forecast"),
        ("mcp__", "x", "x"),
    ],
)
def test_a_namespace_is_the_server_of_a_tool(namespace: str, name: str, target: str) -> None:
    """Newer versions give the server and the tool separately."""
    call = only_call(META, function(name, namespace=namespace))
    assert (call.target, call.kind) == (target, ToolKind.MCP)


def test_a_command_has_its_time_limit() -> None:
    """The limit has two names."""
    assert only_call(META, function("shell", {"command": ["x"], "timeout_ms": 9})).limit_ms == 9
    assert only_call(META, function("shell", {"command": ["x"], "timeout": 0})).limit_ms == 0


def test_a_tool_may_take_a_text() -> None:
    """A custom tool takes a text that is no JSON; a shell may get its arguments that way too."""
    script = only_call(META, item("custom_tool_call", name="exec", input="tools.ls()\n", call_id="c"))
    assert script.target == "exec tools.ls()"
    shell = only_call(META, item("custom_tool_call", name="shell", input='{"command":["ls"]}', call_id="c"))
    assert shell.target == "ls"
    local = only_call(META, item("local_shell_call", id="c", action={"command": ["bash", "-c", "ls"]}))
    assert (local.call_id, local.target, local.tool) == ("c", "ls", "local_shell")
    assert only_call(META, item("custom_tool_call", input=7)).tool == "custom_tool_call"
