"""Cursor's lines become events: text once, calls by their facts, all that is foreign as unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentwatch.events import Notice, Outcome, Permission, Prompt, RunEnded, RunStarted, ToolStarted, Unknown
from tests.lines import (
    answered,
    asked,
    call,
    completed,
    delta,
    event,
    events,
    final,
    init,
    message,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
    user,
)


def said(*lines: bytes) -> str:
    """Return the assistant's text."""
    return session(init(), *lines).text


# --- text ---------------------------------------------------------------------------------------


def test_segments_are_joined_without_a_separator() -> None:
    """Without partial output each segment comes once, and the text is all of them end to end."""
    assert said(segment("One."), started("read"), completed("read"), final("Two.")) == "One.Two."


def test_a_flush_that_repeats_its_deltas_adds_nothing() -> None:
    """With partial output a segment's flush, before a tool call or at the end, is no new text."""
    first = (delta("On"), delta("e."), segment("One."))
    last = (delta("Tw"), delta("o."), final("Two."))
    assert said(*first, started("read"), completed("read"), *last, result("One.Two.")) == "One.Two."


def test_equal_deltas_are_all_kept() -> None:
    """A delta that equals an earlier one is text of its own."""
    pieces = ("**", "the", " the", " the", "**", "**")
    assert said(*map(delta, pieces), final("".join(pieces))) == "**the the the****"


@pytest.mark.parametrize("flush", [segment, final])
def test_a_segment_of_one_delta_is_flushed_too(flush: Any) -> None:
    """A flush that equals the only delta before it adds nothing."""
    assert said(delta("Yes."), flush("Yes.")) == "Yes."


def test_a_flush_that_repeats_its_segment_adds_nothing() -> None:
    """The same flush twice is still no new text."""
    assert said(delta("Yes"), delta("."), segment("Yes."), final("Yes."), result("Yes.")) == "Yes."


def test_deltas_after_a_flush_begin_a_new_segment() -> None:
    """What follows a flush is flushed by its own text, not by all that came before."""
    assert said(delta("a"), segment("a"), delta("a"), delta("b"), final("ab")) == "aab"


def test_equal_whole_segments_are_both_kept() -> None:
    """Two whole segments that are equal are two texts: nothing was there for a flush to repeat."""
    assert said(segment("Again."), final("Again.")) == "Again.Again."


def test_a_whole_segment_that_differs_from_the_deltas_is_new() -> None:
    """A line that looks like a flush and repeats nothing is the only copy of its text."""
    assert said(delta("ab"), final("abc")) == "ababc"


@pytest.mark.parametrize(
    "closer",
    [
        started("read"),
        completed("read"),
        asked(),
        answered({"approved": {}}),
        result("x"),
        init(),
    ],
    ids=["started", "completed", "asked", "answered", "result", "init"],
)
def test_a_segment_ends_where_something_else_begins(closer: bytes) -> None:
    """After a tool call, a query, a result or an init, an equal text is a new segment and not a flush."""
    assert said(delta("x"), closer, final("x")) == "xx"


def test_a_whole_segment_before_a_query_looks_like_a_delta() -> None:
    """A segment with the keys of a delta, before an interaction query, is text like any other."""
    lines = (
        segment("I ask."),
        started("shell"),
        completed("shell"),
        delta("Then I search."),
        asked("webSearch"),
    )
    refused = answered({"rejected": {"reason": "no"}}, "webSearch")
    assert said(*lines, refused, final("No luck.")) == "I ask.Then I search.No luck."


def test_reasoning_neither_is_text_nor_ends_a_segment() -> None:
    """Thinking stays out of the text, and a flush after it still repeats the deltas before it."""
    assert said(delta("a"), thought("hm"), thought_through(), delta("b"), segment("ab")) == "ab"


def test_a_message_in_several_parts_is_one_text() -> None:
    """All text parts of a message count; a part of another type does not."""
    parts = [{"type": "text", "text": "a"}, {"type": "image", "data": "x"}, {"type": "text", "text": "b"}]
    assert said(event("assistant", message={"role": "assistant", "content": parts})) == "ab"


# --- which tool, and what it is about --------------------------------------------------------------

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
]


@pytest.mark.parametrize(("tool", "args", "phrase", "target"), TARGETS)
def test_each_tool_has_a_phrase_and_a_target(
    tool: str, args: dict[str, Any], phrase: str, target: str | None
) -> None:
    """A call is told by its tool's phrase and by what it is about, as CONTRACT's table has it."""
    told = call(started(tool, **args))
    assert (told.tool, told.phrase, told.target) == (tool, phrase, target)


def test_an_mcp_call_is_about_a_server_and_a_tool() -> None:
    """An MCP call's target is the server and the tool; without them, the name of both."""
    args = {"name": "tracker-close", "args": {}, "providerIdentifier": "tracker", "toolName": "close"}
    line = event("tool_call", "started", call_id="c", tool_call={"mcpToolCall": {"args": args}})
    told = call(line)
    assert (told.tool, told.phrase, told.target) == ("mcp", "Called MCP tool", "tracker close")
    bare = event("tool_call", "started", call_id="c", tool_call={"mcpToolCall": {"args": {"name": "a-b"}}})
    assert call(bare).target == "a-b"


@pytest.mark.parametrize("as_string", [False, True], ids=["object", "string"])
def test_the_tool_is_the_key_that_says_so(as_string: bool) -> None:
    """Siblings may stand before the tool's key, and all of it may be a string of JSON."""
    siblings = {"hookAdditionalContexts": [], "toolCallId": "c", "startedAtMs": "1"}
    tool_call = siblings | {"readToolCall": {"args": {"path": "/home/ada/app/a"}}} | {"completedAtMs": "2"}
    line = event(
        "tool_call", "started", call_id="c", tool_call=json.dumps(tool_call) if as_string else tool_call
    )
    told = call(line)
    assert (told.tool, told.target) == ("read", "a")


def test_a_function_is_named_by_its_name() -> None:
    """The documented `function` form has its name and, as a string, its arguments."""
    function = {"name": "lookup", "arguments": '{"query": "tides"}'}
    lines = (init(), event("tool_call", "started", call_id="c", tool_call={"function": function}))
    told = call(*lines[1:])
    assert (told.tool, told.phrase, told.target) == ("lookup", "Used tool", "lookup tides")
    assert events(*lines)[1:] == [Unknown("tool lookup")]


def test_numbers_may_be_strings() -> None:
    """A number in a string of digits is that number; a string of something else is none."""
    ended = completed("read", result={"success": {"totalLines": "54"}}, at_ms="1706")
    told = call(started("read", at_ms="1000", path="a", timeout="12 s"), ended)
    assert (told.started_ms, told.ended_ms, told.duration_ms, told.note) == (1000, 1706, 706, "54 lines")
    assert told.limit_ms is None


def test_a_tool_call_without_a_tool_is_kept() -> None:
    """A call whose tool cannot be told has a name all the same, and its line counts as unknown."""
    read = session(init(), event("tool_call", "started", call_id="c", tool_call={"toolCallId": "c"}))
    assert [told.phrase for told in read.calls] == ["Used tool"]
    assert (read.lines.events, read.lines.unknown) == (1, 1)


@pytest.mark.parametrize(
    "ending", [{"rejected": {"reason": "skipped"}}, {"error": {"error": "no"}}, {"success": {"answer": "b"}}]
)
def test_what_only_the_start_told_stays(ending: dict[str, Any]) -> None:
    """When the end bears no arguments, the target is that of the start, whatever the result holds."""
    told = call(started("askQuestion", title="Which?"), completed("askQuestion", result=ending))
    assert told.target == "askQuestion Which?"


def test_an_end_that_bears_no_arguments_tells_its_path() -> None:
    """A call that was never started is about the path in its result."""
    told = call(completed("edit", result={"error": {"path": "/home/ada/app/a.py", "error": "no"}}))
    assert (told.target, told.path, told.error) == ("a.py", "/home/ada/app/a.py", "no")


# --- paths -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cwd", "path", "shown"),
    [
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
    ],
)
def test_a_path_inside_the_cwd_is_shown_relative_to_it(cwd: str, path: str, shown: str) -> None:
    """Only what lies in the cwd is shortened, by the rules of the agent's system; the path stays whole."""
    [told] = session(init(cwd), started("read", path=path)).calls
    assert (told.target, told.path) == (shown, path)


def test_only_paths_are_shortened() -> None:
    """A command or pattern that begins with the cwd is no path and stays as it is."""
    assert call(started("shell", command="/home/ada/app/run.sh")).target == "/home/ada/app/run.sh"


# --- outcomes --------------------------------------------------------------------------------------

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
    """The exit code and isError decide whatever the variant is called; each variant has its outcome."""
    told = call(started(tool), completed(tool, result=ending))
    assert (told.outcome, told.error, told.exit_code) == (outcome, error, exit_code)


def test_a_variant_that_is_unknown_counts_as_unknown() -> None:
    """A result variant of another version ends the call, and its line is counted as unknown."""
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
def test_an_edit_of_no_file_creates_it(success: dict[str, Any], phrase: str, note: str | None) -> None:
    """An edit created the file when there was no file before; an empty file is a file."""
    told = call(started("edit", path="a"), completed("edit", result={"success": success}, path="a"))
    assert (told.phrase, told.note) == (phrase, note)
    assert (told.lines_added, told.lines_removed) == (success.get("linesAdded"), success.get("linesRemoved"))


def test_an_edit_that_failed_created_nothing() -> None:
    """Only a success tells that a file is new."""
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
def test_a_success_tells_its_size_where_it_is_known(
    tool: str, success: dict[str, Any], note: str | None
) -> None:
    """The note of a success is a count from its result, and there is none where the result has none."""
    assert call(completed(tool, result={"success": success})).note == note


# --- all the rest ----------------------------------------------------------------------------------


def test_an_init_tells_the_run() -> None:
    """The init bears session, model, cwd, permission mode and key source."""
    told = RunStarted("cursor", "s-1", "Auto", "/home/ada/app", "default", "login")
    assert events(init()) == [told]


def test_the_prompt_is_the_user_line() -> None:
    """A user line is a prompt, also where its content is a bare string."""
    assert events(init(), user("Do it.")) == [Prompt("Do it.")]
    assert events(init(), event("user", message={"content": "Do it."})) == [Prompt("Do it.")]


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_without_text_is_unknown(role: str) -> None:
    """A message whose content is not text is no empty message."""
    for content in ([], [{"type": "image"}], None, 7):
        [found] = events(init(), event(role, message={"content": content}))
        assert isinstance(found, Unknown)


def test_a_request_is_a_question_that_answers_itself() -> None:
    """A query is a permission without an answer, and automatic: the agent does not wait for the user."""
    assert events(init(), asked("webFetch", 5)) == [Permission("webFetch", None, automatic=True, at_ms=5)]


@pytest.mark.parametrize(
    ("answer", "told", "reason"),
    [
        ({"approved": {}}, "approved", None),
        ({"rejected": {"reason": "no"}}, "rejected", "no"),
        ({"result": {"rejected": {"reason": "no"}}}, "rejected", "no"),
        ({}, "answered", None),
    ],
)
def test_a_response_tells_the_answer(answer: dict[str, Any], told: str, reason: str | None) -> None:
    """The answer is approved, or rejected with its reason, also one level down."""
    expected = Permission("webFetch", told, reason, automatic=True, at_ms=5)
    assert events(init(), answered(answer, "webFetch", 5)) == [expected]


def test_the_subject_of_a_question_is_without_its_suffix() -> None:
    """`askQuestionInteractionQuery` asks about `askQuestion`."""
    line = event("interaction_query", "request", query_type="askQuestionInteractionQuery")
    assert events(init(), line) == [Permission("askQuestion", None, automatic=True)]


@pytest.mark.parametrize(
    ("line", "notice"),
    [
        (
            event("connection", "reconnecting", attempt=2, timestamp_ms=5),
            "connection reconnecting, attempt 2",
        ),
        (event("connection", "reconnected", timestamp_ms=5), "connection reconnected"),
        (event("retry", "starting", attempt="1", timestamp_ms=5), "retry starting, attempt 1"),
        (event("retry", "resuming", attempt=1, timestamp_ms=5), "retry resuming, attempt 1"),
        (
            event("system", "task_notification", title="Index", status="completed", timestamp_ms=5),
            "background task Index · completed",
        ),
        (event("system", "background_shell_timeout", timestamp_ms=5), "a background shell timed out"),
    ],
)
def test_what_happens_to_the_connection_is_a_notice(line: bytes, notice: str) -> None:
    """A lost connection, a retry and a background task are told in words."""
    assert events(init(), line) == [Notice(notice, 5)]


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"subtype": "success", "is_error": False}, Outcome.SUCCEEDED),
        ({"subtype": "succès", "is_error": False}, Outcome.SUCCEEDED),
        ({"subtype": "success", "is_error": True}, Outcome.FAILED),
        ({"subtype": "error_during_execution", "is_error": True}, Outcome.FAILED),
        ({"subtype": "success", "is_error": None}, Outcome.SUCCEEDED),
        ({"subtype": "error", "is_error": None}, Outcome.FAILED),
        ({"subtype": None, "is_error": None}, Outcome.FAILED),
    ],
)
def test_is_error_decides_and_the_subtype_only_without_it(fields: dict[str, Any], outcome: Outcome) -> None:
    """A translated subtype does not fail a run; a result without is_error is told by its subtype."""
    [ended] = events(init(), result("x", **fields))
    assert isinstance(ended, RunEnded)
    assert ended.outcome is outcome


def test_a_result_bears_what_it_bears() -> None:
    """Text, request, durations and usage are those of the line; what is absent is None."""
    usage = {"inputTokens": 5, "note": "as it is"}
    whole = RunEnded(Outcome.SUCCEEDED, "x", "s-1", "r-1", 5234, 5200, usage)
    assert events(init(), result("x", usage=usage)) == [whole]
    bare = event("result", "success", session_id=None)
    assert events(init(), bare) == [RunEnded(Outcome.SUCCEEDED)]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (event("budget_notice", "update"), "type budget_notice/update"),
        (event("weather"), "type weather"),
        (event("thinking", "paused"), "type thinking/paused"),
        (event("tool_call", "progress"), "type tool_call/progress"),
        (event("system", "rebooted"), "type system/rebooted"),
        (event("interaction_query", "withdrawn"), "type interaction_query/withdrawn"),
        (b'{"subtype": "init"}', "type None/init"),
        (b"{}", "type None"),
    ],
)
def test_an_unknown_type_or_subtype_is_kept_as_unknown(line: bytes, what: str) -> None:
    """What no version knows is an event that says so."""
    assert events(init(), line) == [Unknown(what)]


def test_an_unknown_tool_is_a_call_and_unknown() -> None:
    """A tool that no version knows is a call like any other, and is said to be unknown."""
    first, second = events(init(), started("teleport", place="home"))
    assert isinstance(first, ToolStarted)
    assert second == Unknown("tool teleport")


@pytest.mark.parametrize("tool", ["askQuestion", "await", "createPlan", "getMcpTools"])
def test_a_tool_that_is_known_by_name_is_not_unknown(tool: str) -> None:
    """A tool that is seen in the wild counts as an event, though nothing more is told of it."""
    assert len(events(init(), started(tool))) == 1


def test_fields_that_nobody_knows_do_no_harm() -> None:
    """A line with more keys than this version knows says the same as without them."""
    extra = message("user", "Hi", locale="en", nested={"a": [1]})
    assert events(init(), extra) == [Prompt("Hi")]
