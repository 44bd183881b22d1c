"""Cursor's tools: actions, targets, outcomes and blocks."""

import json
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.agents.cursor.known_fields import unknown_fields
from agentwatch.agents.cursor.tools import read_tool
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.integrity import integrity
from agentwatch.session.actions import action
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    FieldsBlock,
    FoundFile,
    FoundLine,
    MarkdownBlock,
    MatchesBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
)
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus, ToolEnded, ToolStarted, Unknown
from agentwatch.session.session import calls_by_outcome
from tests.builders.blocks import blocks
from tests.builders.lines import call, completed, event, events, init, result, session, started, user
from tests.conftest import case

TARGETS: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("read", {"path": "/home/ada/app/README.md", "limit": 9}, "Read file", "README.md"),
    ("edit", {"path": "/home/ada/app/src/app.py", "streamContent": "x"}, "Edited file", "src/app.py"),
    ("write", {"path": "summary.txt", "fileText": "x"}, "Created new file", "summary.txt"),
    ("delete", {"path": "/home/ada/app/old.txt"}, "Deleted file", "old.txt"),
    ("shell", {"command": "make\nls", "description": "Run"}, "Ran terminal command", "make\nls"),
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


def test_a_tool_is_found_and_has_its_phrase() -> None:
    """Its key, or the name of a function, says which tool it is."""
    # A call has its tool's phrase and a target; that of an MCP call is server and tool. Digits may be a
    # string.
    for tool, args, phrase, target in TARGETS:
        with case((tool, args, phrase)):
            found = call(started(tool, **args))
            assert (found.tool, found.phrase, found.target) == (tool, phrase, target)
    args = {"name": "tracker-close", "args": {}, "providerIdentifier": "tracker", "toolName": "close"}
    line = event("tool_call", "started", call_id="c", tool_call={"mcpToolCall": {"args": args}})
    found = call(line)
    assert (found.tool, found.phrase, found.target) == ("mcp", "Called MCP tool", "tracker close")
    bare = event("tool_call", "started", call_id="c", tool_call={"mcpToolCall": {"args": {"name": "a-b"}}})
    assert call(bare).target == "a-b"
    newer = {"serverIdentifier": "tracker", "toolName": "close", "args": {}}
    line = event("tool_call", "started", call_id="c", tool_call={"mcpToolCall": {"args": newer}})
    assert call(line).target == "tracker close"
    ended = completed("read", result={"success": {"totalLines": "54"}}, at_ms="1706")
    found = call(started("read", at_ms="1000", path="a", timeout="12 s"), ended)
    assert (found.started_ms, found.ended_ms, found.duration_ms, found.note) == (1000, 1706, 706, "54 lines")
    assert found.limit_ms is None
    # Siblings may precede the tool's key, and the value may be a string of JSON. The key in `case` is a
    # name; a `tool` nested 10,000 times is one call.
    for as_string in [False, True]:
        with case(as_string):
            siblings = {"hookAdditionalContexts": [], "toolCallId": "c", "startedAtMs": "1"}
            tool_call = (
                siblings | {"readToolCall": {"args": {"path": "/home/ada/app/a"}}} | {"completedAtMs": "2"}
            )
            line = event(
                "tool_call",
                "started",
                call_id="c",
                tool_call=json.dumps(tool_call) if as_string else tool_call,
            )
            found = call(line)
            assert (found.tool, found.target) == ("read", "a")

    def one(subtype: str, name: str, **result: Any) -> bytes:
        body = {"readToolCall": {"args": {"path": name}} | result, "toolCallId": f"id-{name}"}
        return event("tool_call", subtype, tool_call=body)

    ends = one("completed", "b", result={"success": {}}), one("completed", "a", result={"success": {}})
    read = session(init(), one("started", "a"), one("started", "b"), *ends)
    assert [(found.call_id, found.target) for found in read.ended_calls] == [("id-b", "b"), ("id-a", "a")]
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
    nested: dict[str, Any] = {}
    for _ in range(10_000):
        nested = {"tool": {"case": "tool", "value": nested}}
    assert read_tool(nested).name == "tool"
    # The documented `function` has a name and arguments as a string, and may return anything; without a
    # name it is unknown.
    function = {"name": "lookup", "arguments": '{"query": "tides"}'}
    lines = (init(), event("tool_call", "started", call_id="c", tool_call={"function": function}))
    found = call(*lines[1:])
    assert (found.tool, found.phrase, found.target) == ("lookup", "Used tool", "lookup tides")
    assert events(*lines)[1:] == []
    line = event("tool_call", "started", call_id="c", tool_call={"function": {"arguments": "{}"}})
    assert call(line).tool == "unknown"
    assert events(init(), line)[1:] == [Unknown("tool unknown")]
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
    failed = {"name": "shell", "arguments": {"command": "make"}, "result": {"failure": {"exitCode": 2}}}
    found = call(event("tool_call", "completed", call_id="c", tool_call={"function": failed}))
    assert action(found) == "Ran terminal command make (failed: exit 2)"
    read = session(init(), event("tool_call", "started", call_id="c", tool_call={"toolCallId": "c"}))
    assert [found.phrase for found in read.calls] == ["Used tool"]
    assert (read.lines.events, read.lines.unknown) == (1, 1)


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


def test_a_target_is_kept_and_shown_relative() -> None:
    """The start has the target, and a path inside the cwd is shortened."""
    # If the end has no arguments, the target of the start is kept, or that in the result is taken.
    for ending in [
        {"rejected": {"reason": "skipped"}},
        {"error": {"error": "no"}},
        {"success": {"answer": "b"}},
    ]:
        with case(ending):
            found = call(started("askQuestion", title="Which?"), completed("askQuestion", result=ending))
            assert found.target == "askQuestion Which?"
    found = call(completed("edit", result={"error": {"path": "/home/ada/app/a.py", "error": "no"}}))
    assert (found.target, found.path, found.error) == ("a.py", "/home/ada/app/a.py", "no")
    # Only paths inside the cwd are shortened, once each, by the rules of the agent's system; the shown
    # paths that are kept are limited.
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
    paths = [*(f"/w/{number}" for number in range(1_000)), f"/w/{'x' * 2_000}", "/w/0"]
    lines = [started("read", f"c{number}", path=path) for number, path in enumerate(paths)]
    assert [each.target for each in session(init("/w"), *lines).calls] == [path[3:] for path in paths]
    assert call(started("shell", command="/home/ada/app/run.sh")).target == "/home/ada/app/run.sh"
    read = session(
        started("read", path="/home/ada/app/a"), init("/"), started("read", path="/home/ada/app/a"), user()
    )
    assert [each.target for each in read.calls] == ["/home/ada/app/a"] * 2
    paths = ["/w/a.py", "/w/b.py"]
    begun = [init(cwd="/w"), started("readLints", paths=paths)]
    ended = completed("readLints", result={"success": {}}, paths=paths)
    for lines in (begun, [*begun, ended]):
        (shortened,) = events(*lines)
        assert isinstance(shortened, (ToolStarted, ToolEnded))
        assert shortened.target == "a.py, b.py"


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


def test_facts_decide_the_outcome_and_the_note() -> None:
    """What the result says, not only its name, decides how a call is shown."""
    # Exit code and isError decide over the variant, whose name is cut to 100 characters if it is unknown.
    # A returned call is paired.
    for tool, ending, outcome, error, exit_code in OUTCOMES:
        with case((tool, ending, outcome)):
            found = call(started(tool), completed(tool, result=ending))
            assert (found.outcome, found.error, found.exit_code) == (outcome, error, exit_code)
    found = call(completed("read", result={"x" * 10_000: {}}))
    assert found.error == "unknown outcome " + "x" * 100
    lines = (init(), started("read"), completed("read", result={"deferred": {}}))
    assert events(*lines)[1:] == [Unknown("result deferred of tool read")]
    assert session(*lines).lines.unknown == 1
    [ended] = events(init(), completed("read", result={"later": 7, "isBackground": False}))
    assert isinstance(ended, ToolEnded)
    assert (ended.outcome, ended.error) == (Outcome.RETURNED, "came back without a result")
    read = session(init(), started("read"), completed("read"))
    assert (read.completed_without_started, read.never_completed) == (0, 0)
    assert calls_by_outcome(read) == {Outcome.RETURNED: 1}
    assert (integrity(read).paired, integrity(read).problems()) == (1, "")
    assert (session(is_over=False).outcome, session().outcome) == (Outcome.RUNNING, Outcome.UNFINISHED)
    assert session(result("x")).outcome is Outcome.SUCCEEDED
    # An empty file is a file; only a success can report a new one.
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
    assert call(started("edit", path="a"), completed("edit", result={"error": {}})).phrase == "Edited file"
    # A count from the result, or None. What continues in the background has only returned; the duration
    # by arrival times needs two reads.
    further: list[tuple[str, dict[str, Any], str | None]] = [
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
    for tool, success, note in further:
        with case((tool, success)):
            assert call(completed(tool, result={"success": success})).note == note
    for is_beside in [True, False]:
        with case(is_beside):
            for tool in ["shell", "task"]:
                with case(tool):
                    success = {"exitCode": 0, "stdout": ""}
                    ending = {"isBackground": True, "success": success}
                    if not is_beside:
                        ending = {"success": success | {"isBackground": True}}
                    read = session(init(), started(tool), completed(tool, result=ending))
                    [found] = read.calls
                    assert (found.outcome, found.note, found.exit_code) == (
                        Outcome.RETURNED,
                        "in the background",
                        None,
                    )
                    assert action(found).endswith("(in the background)")
                    assert (read.completed_without_started, read.never_completed) == (0, 0)
                    other_ended = completed(tool, result={"isBackground": False, "success": success})
                    assert call(started(tool), other_ended).outcome is Outcome.SUCCEEDED
    made = Call(1, 1, "c", "read", "Read file")
    assert made.seen_duration_ms is None
    made.started = Place(0, 1, 1000)
    assert made.seen_duration_ms is None
    for seen_ms, duration in ((3000, 2000), (1000, None), (None, None), (500, None)):
        made.ended = Place(2, 1, seen_ms)
        assert made.seen_duration_ms == duration


def test_arguments_and_results_are_blocks() -> None:
    """Each argument, page, match and step of a subagent is a block."""
    # A page is Markdown, pages are a list with title, URL and text, matches are numbered lines below
    # their file.
    page = {"url": "https://example.com", "markdown": "# Tides\n\n- high\n"}
    decoder = Decoder()
    decoder.decode(init())
    assert decoder.blocks(completed("webFetch", result={"success": page}).rstrip()) == [
        MarkdownBlock("# Tides\n\n- high\n"),
        FieldsBlock("result", {"url": "https://example.com"}),
    ]
    pages = [
        {"title": "Tides", "url": "https://example.com/a", "chunk": "High at noon.\n"},
        {"title": "", "url": "", "chunk": "Low at six."},
        {},
        7,
    ]
    line = completed("webSearch", result={"success": {"references": pages, "isCut": False}})
    decoder = Decoder()
    decoder.decode(init())
    [references, rest] = decoder.blocks(line.rstrip())
    assert references == ReferencesBlock(
        (Reference("Tides", "https://example.com/a", "High at noon.\n"), Reference(None, None, "Low at six."))
    )
    assert block_text(references) == "Tides\nhttps://example.com/a\nHigh at noon.\n\nLow at six."
    assert rest == FieldsBlock("result", {"isCut": False})
    assert blocks(completed("webSearch", result={"success": {"references": [{}]}})) == [
        ("result", "references: [\n  {}\n]")
    ]
    lines = [
        {"lineNumber": 11, "content": "def f():\n", "isContextLine": True},
        {"lineNumber": 12, "content": "a\nb", "contentTruncated": True},
        {"content": "x"},
    ]
    found = {"matches": [{"file": "a.py", "matches": lines}, {"matches": 7}], "totalLines": 3}
    names = {"files": ["b.py", 7], "totalLines": 1}
    result = {"success": {"workspaceResults": {"/w": {"content": found, "files": names}}}}
    assert blocks(completed("grep", result=result)) == [
        ("matches", "a.py\n11-def f():\n12:a␊b…\n:x\n?"),
        ("files", "b.py"),
        ("result", 'content: {\n  "totalLines": 3\n}\nfiles: {\n  "totalLines": 1\n}'),
    ]
    # Kind and model come before the other arguments; each of its calls is a line with its outcome.
    cases: list[tuple[dict[str, Any], str | None]] = [
        ({"subagentType": {"explore": {}}, "model": "Sonnet 5"}, "explore · Sonnet 5"),
        ({"subagentType": {"custom": {"name": "reviewer"}}}, "reviewer"),
        ({"subagentType": {"unspecified": {}}, "model": "Auto"}, "Auto"),
        ({"subagentType": {"unspecified": {}}}, None),
        ({"subagentType": "explore", "model": ""}, "explore"),
        ({"subagentType": 7, "model": [7]}, None),
    ]
    for given, words in cases:
        with case(given):
            lead = [] if words is None else [("subagent", words)]
            assert blocks(started("task", description="Look", **given)) == [
                *lead,
                ("arguments", "description: Look"),
            ]
    steps: list[Any] = [
        {"thinkingMessage": {"text": "hm\nwell"}},
        {"assistantMessage": {"text": "I look.\n"}},
        {"toolCall": {"readToolCall": {"args": {"path": "a.py"}, "result": {"success": {"totalLines": 3}}}}},
        {
            "toolCall": {
                "shellToolCall": {"args": {"command": "make\nx"}, "result": {"failure": {"exitCode": 2}}}
            }
        },
        {"webFetchToolCall": {"args": {"url": "u"}, "result": {"rejected": {"reason": "no"}}}},
        {"toolCall": {"teleportToolCall": {"args": {"x": "y"}}}},
        {"toolCall": {"awaitToolCall": {"result": {}}, "ToolCall": {}, "id": "x"}},
        {"toolCall": {"updateTodosToolCall": {"result": {"success": {}}}}},
    ]
    [(kind, text)] = blocks(completed("task", result={"success": {"conversationSteps": steps}}))
    assert kind == "steps"
    assert text.split("\n") == [
        "~ hm",
        "  well",
        "› I look.",
        "✓ Read file a.py (3 lines)",
        "✗ Ran terminal command make ⏎ +1 line (exit 2)",
        "⊘ Fetched web page u (no)",
        "◌ Used tool teleport y",
        "↵ Used tool await (came back without a result)",
        "✓ Updated to-do list",
    ]
    other_steps = completed("task", "t", {"success": {"conversationSteps": []}})
    decoder = Decoder()
    assert not decoder.searchable_text_differs(other_steps)
    decoder.decode(init())
    assert decoder.searchable_text_differs(other_steps)
    assert not decoder.searchable_text_differs(completed("read", "r", {"success": {"content": "steps"}}))
    # Short arguments share a part, long ones have their own; a description comes first, a written text is
    # a content, and a to-do has the sign of its status.
    line = started("shell", command="cat <<E\nx\nE", timeout=5, toolCallId="x", description="", deep={"a": 1})
    assert blocks(line) == [("arguments", 'timeout: 5\ndeep: {\n  "a": 1\n}'), ("command", "cat <<E\nx\nE")]
    assert blocks(started("write", path="/a", fileText="x\ny\n")) == [
        ("arguments", "path: /a"),
        ("content", "x\ny\n"),
    ]
    shown = [("description", "Run the tests"), ("arguments", "command: pytest")]
    assert blocks(started("shell", command="pytest", description="Run the tests")) == shown
    body = {"args": {"command": "pytest"}, "description": "Run the tests"}
    assert blocks(event("tool_call", "started", call_id="c", tool_call={"shellToolCall": body})) == shown
    beside = {"shellToolCall": {"args": {"command": "pytest"}}, "description": "Run the tests"}
    assert blocks(event("tool_call", "started", call_id="c", tool_call=beside)) == shown
    assert blocks(started("await", description="x")) == [("arguments", "description: x")]
    further: list[tuple[object, list[tuple[str, str]]]] = [
        ("sunny\n", [("content", "sunny\n")]),
        ({"degrees": 21}, [("result", "degrees: 21")]),
        ({"later": {"x": 1}, "stdout": "o"}, [("stdout", "o"), ("result", 'later: {\n  "x": 1\n}')]),
        ({"error": {"error": "no"}}, [("error", "no")]),
        ("", []),
    ]
    for other_given, expected in further:
        with case(other_given):
            function = {"name": "weather", "arguments": "{}", "result": other_given}
            assert (
                blocks(event("tool_call", "completed", call_id="c", tool_call={"function": function}))
                == expected
            )
    other_names = ("COMPLETED", "IN_PROGRESS", "CANCELLED", "PENDING")
    todos: list[Any] = [{"status": f"TODO_STATUS_{name}", "content": name[:1]} for name in other_names]
    other_shown = "✓ C\n◐ I\n✗ C\n○ P\n○ "
    assert blocks(started("updateTodos", todos=[*todos, 7], merge=True)) == [
        ("plan", other_shown),
        ("arguments", "merge: true"),
    ]
    assert blocks(completed("updateTodos", result={"success": {"todos": [*todos, {}]}})) == [
        ("plan", other_shown)
    ]


COUNTED = 'workspaceResults: {\n  "/a": {\n    "count": {\n      "a.py": 3\n    }\n  }\n}'


def test_a_result_is_split_into_blocks() -> None:
    """Each part of a result, or of an odd line, is a block that keeps its structure."""
    # Errors, output, changes, contents and lists have blocks of their own; the rest is listed in lines.
    cases: list[tuple[Any, list[tuple[str, str]]]] = [
        ({"error": {"errorMessage": "gone", "path": "/a"}}, [("error", "gone"), ("result", "path: /a")]),
        ({"rejected": {"reason": "no"}}, [("error", "no")]),
        ({"error": "as it is"}, [("error", "as it is")]),
        ({"failure": {"exitCode": 2, "stderr": "e"}}, [("stderr", "e"), ("result", "exitCode: 2")]),
        ({"success": {"stdout": "o", "stderr": "", "interleavedOutput": "o"}}, [("stdout", "o")]),
        ({"success": {"message": "fine"}}, [("result", "message: fine")]),
        (
            {"success": {"diffString": "+a", "afterFullFileContent": "a", "linesAdded": 1}},
            [("diff", "+a"), ("result", "linesAdded: 1")],
        ),
        ({"success": {"content": "text"}}, [("content", "text")]),
        (
            {"success": {"content": [{"text": {"text": "a"}}, {"text": "b"}, {}, {"text": {"text": "c"}}]}},
            [("content", "a\nb\nc")],
        ),
        (
            {"success": {"files": ["a", 7, "b"], "totalFiles": 2}},
            [("files", "a\nb"), ("result", "totalFiles: 2")],
        ),
        (
            {"success": {"conversationSteps": [{"assistantMessage": {"text": "I looked"}}, {}]}},
            [("steps", "› I looked")],
        ),
        ({"success": {"conversationSteps": [{}, 7]}}, []),
        (
            {"success": {"afterFullFileContent": "a", "beforeFullFileContent": "b"}},
            [("change", "a")],
        ),
        ({"success": {"workspaceResults": {"/a": {"count": {"a.py": 3}}}}}, [("result", COUNTED)]),
        ({"success": {}, "isBackground": True}, []),
        ({"success": "as it is"}, [("content", "as it is")]),
        ({"partialResult": {"stdout": "o"}}, [("stdout", "o")]),
        (
            {"success": {"durationMs": "42310", "isCut": True}},
            [("duration", "42.3 s"), ("result", "isCut: true")],
        ),
        ("...", [("content", "...")]),
        ([1, 2], [("result", "result: [\n  1,\n  2\n]")]),
        (None, []),
        ({}, []),
    ]
    for outcome, expected in cases:
        with case(outcome):
            assert blocks(completed("read", result=outcome)) == expected
    # Arguments keep their JSON, changes the file before and after, contents their first line number.
    decoder = Decoder()
    decoder.decode(init())

    def pieces(line: bytes) -> list[Block]:
        return decoder.blocks(line.rstrip())

    [given] = pieces(started("await", taskId="t", deep={"a": [1]}, empty=[]))
    assert given == FieldsBlock("arguments", {"taskId": "t", "deep": {"a": [1]}})
    edit = {"success": {"beforeFullFileContent": "old\n", "afterFullFileContent": "new\n"}}
    assert pieces(completed("edit", result=edit)) == [ChangeBlock(None, before="old\n", after="new\n")]
    made = {"success": {"afterFullFileContent": ""}}
    assert pieces(completed("edit", result=made)) == [ChangeBlock(None, after="")]
    drawn = {"success": edit["success"] | {"diffString": "-old\n+new"}}
    assert pieces(completed("edit", result=drawn)) == [
        ChangeBlock("-old\n+new", before="old\n", after="new\n")
    ]
    for start, first in ((41, 41), (0, 1), ("x", 1)):
        read = {"success": {"content": "x", "readRange": {"startLine": start}}}
        assert pieces(completed("read", result=read))[0] == ContentBlock("x", first_line=first)
    todos = [{"content": "a\nb", "status": "TODO_STATUS_COMPLETED"}]
    [plan] = pieces(completed("updateTodos", result={"success": {"todos": todos}}))
    assert plan == PlanBlock((PlanEntry("a\nb", PlanStatus.COMPLETED),))
    found = {"content": {"matches": [{"file": "a.py", "matches": [{"lineNumber": 1, "content": "x"}]}]}}
    [matches] = pieces(completed("grep", result={"success": {"workspaceResults": {"/w": found}}}))
    assert matches == MatchesBlock((FoundFile("a.py", (FoundLine("x", number=1),)),))
    # A line of no known agent is shown unchanged, a change without its text by its fields; of a tool
    # without known fields, none is reported.
    assert blocks(b"oops \xff") == [("content", "oops \ufffd")]
    assert blocks(b"[1]") == [("content", "[1]")]
    assert blocks(started("read", path="a"), b'{"a":1}') == [
        ("content", started("read", path="a").decode().rstrip()),
    ]
    assert Decoder().blocks(b"{}") == [ContentBlock("{}")]
    success = {"path": "a.py", "linesAdded": 3, "diffString": ""}
    shown = blocks(completed("edit", result={"success": success}, path="a.py"))
    assert "change" not in dict(shown)
    assert "linesAdded: 3" in "\n".join(words for _, words in shown)
    line = completed("await", result={"success": {"anything": 1}}, whatever=2)
    assert list(unknown_fields(json.loads(line))) == []
    bare = event(
        "tool_call", "started", call_id="c", tool_call={"function": {"name": "x", "arguments": "{}"}}
    )
    assert list(unknown_fields(json.loads(bare))) == []
