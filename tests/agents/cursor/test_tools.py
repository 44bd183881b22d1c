"""Tool and target of a call are read from any of the places where lines may have them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentwatch.agents.cursor.known_fields import unknown_fields
from agentwatch.agents.cursor.tools import read_tool
from agentwatch.session.events import Unknown
from tests.builders.lines import call, completed, event, events, init, session, started
from tests.conftest import case

TARGETS: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("read", {"path": "/home/ada/app/README.md", "limit": 9}, "Read file", "README.md"),
    ("edit", {"path": "/home/ada/app/src/app.py", "streamContent": "x"}, "Edited file", "src/app.py"),
    ("write", {"path": "summary.txt", "fileText": "x"}, "Created new file", "summary.txt"),
    ("delete", {"path": "/home/ada/app/old.txt"}, "Deleted file", "old.txt"),
    ("shell", {"command": "pytest -q\necho done", "description": "Run"}, "Ran terminal command", "pytest -q"),
    ("grep", {"pattern": "TODO", "path": "/home/ada/app"}, "Searched files", "TODO"),
    ("glob", {"globPattern": "**/*.py", "targetDirectory": "/work"}, "Found files", "**/*.py"),
    ("ls", {"path": "/home/ada/app/src", "ignore": []}, "Listed directory", "src"),
    ("semSearch", {"query": "where is it"}, "Searched codebase", "where is it"),
    ("readLints", {"paths": ["/home/ada/app/a.py", "/home/ada/app/b.py"]}, "Read lints", "a.py, b.py"),
    ("updateTodos", {"todos": [{"content": "x"}], "merge": True}, "Updated to-do list", None),
    ("task", {"description": "Look around", "prompt": "Do"}, "Ran subagent", "Look around"),
    ("webSearch", {"searchTerm": "tides"}, "Searched the web", "tides"),
    ("webFetch", {"url": "https://example.com"}, "Fetched web page", "https://example.com"),
    ("askQuestion", {"questions": [], "title": "Which?"}, "Used tool", "askQuestion Which?"),
    ("weather", {"hours": 6, "place": "Zermatt"}, "Used tool", "weather Zermatt"),
    ("weather", {"hours": 6}, "Used tool", "weather"),
    ("readTodos", {"toolCallId": "c"}, "Used tool", "readTodos"),
]


def test_each_tool_has_a_phrase_and_a_target() -> None:
    """A call has its tool's phrase and a target, as in the agent's documentation."""
    for tool, args, phrase, target in TARGETS:
        with case((tool, args, phrase)):
            found = call(started(tool, **args))
            assert (found.tool, found.phrase, found.target) == (tool, phrase, target)


def test_an_mcp_call_is_about_a_server_and_a_tool() -> None:
    """An MCP call's target is server and tool; without them, the combined name."""
    args = {"name": "tracker-close", "args": {}, "providerIdentifier": "tracker", "toolName": "close"}
    line = event("tool_call", "started", call_id="c", tool_call={"mcpToolCall": {"args": args}})
    found = call(line)
    assert (found.tool, found.phrase, found.target) == ("mcp", "Called MCP tool", "tracker close")
    bare = event("tool_call", "started", call_id="c", tool_call={"mcpToolCall": {"args": {"name": "a-b"}}})
    assert call(bare).target == "a-b"
    newer = {"serverIdentifier": "tracker", "toolName": "close", "args": {}}
    line = event("tool_call", "started", call_id="c", tool_call={"mcpToolCall": {"args": newer}})
    assert call(line).target == "tracker close"


@pytest.mark.parametrize("as_string", [False, True], ids=["object", "string"])
def test_the_tool_is_found_among_its_siblings(as_string: bool) -> None:
    """Siblings may precede the tool's key, and the whole value may be a string of JSON."""
    siblings = {"hookAdditionalContexts": [], "toolCallId": "c", "startedAtMs": "1"}
    tool_call = siblings | {"readToolCall": {"args": {"path": "/home/ada/app/a"}}} | {"completedAtMs": "2"}
    line = event(
        "tool_call", "started", call_id="c", tool_call=json.dumps(tool_call) if as_string else tool_call
    )
    found = call(line)
    assert (found.tool, found.target) == ("read", "a")


def test_an_id_may_be_beside_the_tool() -> None:
    """Calls without a call_id at the top level are identified by the toolCallId beside their tools."""

    def one(subtype: str, name: str, **result: Any) -> bytes:
        body = {"readToolCall": {"args": {"path": name}} | result, "toolCallId": f"id-{name}"}
        return event("tool_call", subtype, tool_call=body)

    ends = one("completed", "b", result={"success": {}}), one("completed", "a", result={"success": {}})
    read = session(init(), one("started", "a"), one("started", "b"), *ends)
    assert [(found.call_id, found.target) for found in read.ended_calls] == [("id-b", "b"), ("id-a", "a")]


def test_a_function_is_named_by_its_name() -> None:
    """The documented `function` form has a name and, as a string, its arguments."""
    function = {"name": "lookup", "arguments": '{"query": "tides"}'}
    lines = (init(), event("tool_call", "started", call_id="c", tool_call={"function": function}))
    found = call(*lines[1:])
    assert (found.tool, found.phrase, found.target) == ("lookup", "Used tool", "lookup tides")
    assert events(*lines)[1:] == []


def test_a_function_without_a_name_is_unknown() -> None:
    """A `function` without a name has a call, and its line counts as unknown."""
    line = event("tool_call", "started", call_id="c", tool_call={"function": {"arguments": "{}"}})
    assert call(line).tool == "unknown"
    assert events(init(), line)[1:] == [Unknown("tool unknown")]


BARE: list[tuple[dict[str, Any], str, str | None, bool]] = [
    ({"grep": {"args": {"pattern": "TODO"}}}, "grep", "TODO", True),
    ({"hints": {"a": 1}, "grep": {"args": {"pattern": "TODO"}}}, "grep", "TODO", True),
    ({"hookAdditionalContexts": [], "toolCallId": "c", "grep": {"args": {}}}, "grep", None, True),
    ({"exaSearch": {"args": {"query": "tides"}}}, "exaSearch", "exaSearch tides", True),
    ({"teleport": {"args": {"to": "Mars"}}}, "teleport", "teleport Mars", False),
    ({"tool": {"case": "shellToolCall", "value": {"args": {"command": "ls"}}}}, "shell", "ls", True),
    ({"tool": {"case": "readToolCall"}}, "read", None, True),
    ({"tool": {"case": "tool", "value": {"case": "tool"}}}, "tool", "tool", False),
    ({"tool": {"case": "ToolCall", "value": {}}}, "unknown", "unknown", False),
    ({"tool": {"args": {"text": "x"}}}, "tool", "tool x", False),
    ({"ToolCall": 7}, "unknown", "unknown", False),
]


def test_a_key_without_the_suffix_names_the_tool() -> None:
    """A key without `ToolCall`, and the key in `case`, are the name of the tool."""
    for tool_call, tool, target, is_known in BARE:
        with case((tool_call, tool, target)):
            line = event("tool_call", "started", call_id="c", tool_call=tool_call)
            found = call(line)
            assert (found.tool, found.target) == (tool, target)
            assert events(init(), line)[1:] == ([] if is_known else [Unknown(f"tool {tool}")])
            assert (
                bool([what for what, _ in unknown_fields(json.loads(line)) if what.startswith("tool ")])
                != is_known
            )


def test_a_key_inside_a_key_is_read_once() -> None:
    """A `tool` nested in itself 10,000 times is one call of an unknown tool."""
    nested: dict[str, Any] = {}
    for _ in range(10_000):
        nested = {"tool": {"case": "tool", "value": nested}}
    assert read_tool(nested).name == "tool"


def test_numbers_may_be_strings() -> None:
    """A string of digits is read as a number; any other string is not."""
    ended = completed("read", result={"success": {"totalLines": "54"}}, at_ms="1706")
    found = call(started("read", at_ms="1000", path="a", timeout="12 s"), ended)
    assert (found.started_ms, found.ended_ms, found.duration_ms, found.note) == (1000, 1706, 706, "54 lines")
    assert found.limit_ms is None


def test_a_tool_call_without_a_tool_is_kept() -> None:
    """A call without a recognisable tool still has a phrase, and its line counts as unknown."""
    read = session(init(), event("tool_call", "started", call_id="c", tool_call={"toolCallId": "c"}))
    assert [found.phrase for found in read.calls] == ["Used tool"]
    assert (read.lines.events, read.lines.unknown) == (1, 1)


@pytest.mark.parametrize(
    "ending", [{"rejected": {"reason": "skipped"}}, {"error": {"error": "no"}}, {"success": {"answer": "b"}}]
)
def test_the_target_of_the_start_is_kept(ending: dict[str, Any]) -> None:
    """If the end has no arguments, the target of the start is kept, whatever the result contains."""
    found = call(started("askQuestion", title="Which?"), completed("askQuestion", result=ending))
    assert found.target == "askQuestion Which?"


def test_an_end_without_arguments_has_the_path_of_its_result() -> None:
    """The target of a call without a start is the path in its result."""
    found = call(completed("edit", result={"error": {"path": "/home/ada/app/a.py", "error": "no"}}))
    assert (found.target, found.path, found.error) == ("a.py", "/home/ada/app/a.py", "no")


def test_a_path_inside_the_cwd_is_shown_relative_to_it() -> None:
    """Only paths inside the cwd are shortened, by the rules of the agent's system; `path` stays complete."""
    cases: list[tuple[str, str, str]] = [
        ("/home/ada/app", "/home/ada/app/src/a.py", "src/a.py"),
        ("/home/ada/app/", "/home/ada/app/src/a.py", "src/a.py"),
        ("/home/ada/app", "/home/ada/app", "."),
        ("/home/ada/app", "/home/ada/app/", "."),
        ("/home/ada/app", "/home/ada/application/a.py", "/home/ada/application/a.py"),
        ("/home/ada/app", "/home/ada/APP/a.py", "/home/ada/APP/a.py"),
        ("/home/ada/app", "/etc/passwd", "/etc/passwd"),
        ("/home/ada/app", "src/a.py", "src/a.py"),
        ("/home/日本", "/home/日本/é.md", "é.md"),
        (r"C:\Users\Ada\app", r"C:\Users\Ada\app\src\a.py", r"src\a.py"),
        (r"C:\Users\Ada\app", r"c:\users\ada\app\src\a.py", r"src\a.py"),
        (r"C:\Users\Ada\app", "C:/Users/Ada/app/src/a.py", "src/a.py"),
        (r"C:\Users\Ada\app", r"C:\Users\Ada\apples\a.py", r"C:\Users\Ada\apples\a.py"),
        (r"C:\Users\İbo\app", r"C:\Users\İbo\app\src\a.py", r"src\a.py"),
        (r"\\host\share\app", r"\\host\share\app\a.py", "a.py"),
        ("/private/tmp/app", "/tmp/app/src/a.py", "src/a.py"),
        ("/tmp/app", "/private/tmp/app/src/a.py", "src/a.py"),
        ("/private/tmp/app", "/private/tmp/app/a.py", "a.py"),
        ("/private/var/x", "/var/x", "."),
        ("/private", "/private/tmp/a", "tmp/a"),
        ("/private/tmp/app", "/tmp/application/a.py", "/tmp/application/a.py"),
        ("/private/data/app", "/data/app/a.py", "/data/app/a.py"),
        ("/private/tmpfs/app", "/tmpfs/app/a.py", "/tmpfs/app/a.py"),
    ]
    for cwd, path, shown in cases:
        with case((cwd, path)):
            [found] = session(init(cwd), started("read", path=path)).calls
            assert (found.target, found.path) == (shown, path)


def test_many_paths_and_long_ones_are_shortened_too() -> None:
    """The shown paths that are kept are limited in number and length; every path is shown in the same way."""
    paths = [*(f"/w/{number}" for number in range(1_000)), f"/w/{'x' * 2_000}", "/w/0"]
    lines = [started("read", f"c{number}", path=path) for number, path in enumerate(paths)]
    assert [call.target for call in session(init("/w"), *lines).calls] == [path[3:] for path in paths]


def test_only_paths_are_shortened() -> None:
    """A command or pattern that begins with the cwd is not a path and is not shortened."""
    assert call(started("shell", command="/home/ada/app/run.sh")).target == "/home/ada/app/run.sh"
