"""Qwen Code's chat files: turns, calls and blocks."""

from typing import Any

from agentwatch.agents.agent import LineRole
from agentwatch.agents.qwen.agent import CHAT as AGENT
from agentwatch.agents.qwen.chat import Calls, QwenChatDecoder
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
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Plan,
    PlanEntry,
    PlanStatus,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    Text,
    TextEnded,
    Tokens,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from agentwatch.session.transcript import Kind
from tests.builders.on_disk.qwen_chat import (
    AT,
    AT_MS,
    call,
    decoded,
    line,
    returned,
    said,
    session_of,
    system,
    telemetry,
    user,
)
from tests.conftest import case

DIFF = "Index: a.txt\n--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"


def end_of(*lines: dict[str, Any]) -> ToolEnded:
    """Return the only end of a call."""
    (end,) = [event for event in decoded(*lines) if isinstance(event, ToolEnded)]
    return end


def test_a_call_has_its_outcome_and_facts() -> None:
    """The result has the outcome, the exit code, the duration and the changed lines."""
    # The status decides; a refusal and an interruption are found by the words of the error.
    cases: list[tuple[dict[str, Any], object, Outcome, str | None]] = [
        ({}, None, Outcome.SUCCEEDED, None),
        ({"status": "error"}, {"error": "no such file"}, Outcome.FAILED, "no such file"),
        ({"status": "error", "resultDisplay": {"exitCode": 3}}, {"error": "long"}, Outcome.FAILED, "exit 3"),
        ({"status": "error", "error": {"message": "why"}}, None, Outcome.FAILED, "why"),
        ({"status": "error", "errorType": "execution_denied"}, None, Outcome.REJECTED, "execution_denied"),
        (
            {"status": "error"},
            {"error": "Tool requires approval"},
            Outcome.REJECTED,
            "Tool requires approval",
        ),
        (
            {"status": "cancelled"},
            {"error": "[Operation Cancelled] x"},
            Outcome.CANCELLED,
            "[Operation Cancelled] x",
        ),
        (
            {"status": "cancelled"},
            {"error": "[Operation Cancelled] Reason: User did not allow tool call"},
            Outcome.REJECTED,
            "[Operation Cancelled] Reason: User did not allow tool call",
        ),
        ({"status": None}, None, Outcome.RETURNED, None),
        ({"status": None}, {"error": "no"}, Outcome.FAILED, "no"),
        ({"status": "odd"}, None, Outcome.RETURNED, "unknown status odd"),
    ]
    for about, response, outcome, error in cases:
        with case((about, response, outcome)):
            end = end_of(call("c"), returned("c", response=response, **about))
            assert (end.outcome, end.error) == (outcome, error)
    # Newer versions show the exit code of a command; older ones write it after the output.
    shown = {"type": "shell_result", "exitCode": 3}
    assert end_of(call("c"), returned("c", status="error", resultDisplay=shown)).exit_code == 3
    assert end_of(call("c"), returned("c", resultDisplay={**shown, "exitCode": 0})).exit_code == 0
    assert end_of(call("c"), returned("c")).exit_code is None
    further: list[tuple[str, str, int | None]] = [
        ("Command: x\nOutput: Exit Code: 7\nError: (none)\nExit Code: 1", "run_shell_command", 1),
        (
            "Exit Code: 2\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 4",
            "run_shell_command",
            2,
        ),
        ("Exit Code: (none)\nSignal: 9", "run_shell_command", None),
        ("Exit Code: 7\nnot at its end", "run_shell_command", None),
        ("Signal: 9", "run_shell_command", None),
        ("Exit Code: 1", "read_file", None),
    ]
    for text, name, exit_code in further:
        with case((text, name)):
            end = end_of(call("c", name), returned("c", response={"error": text}, status="error"))
            assert (end.outcome, end.exit_code) == (Outcome.FAILED, exit_code)
            assert end.error == (text if exit_code is None else f"exit {exit_code}")
            assert end_of(call("c", name), returned("c", response={"error": text})).exit_code is None
    # The id beside the response is that of the call, the duration is that of the telemetry, and a result
    # repeats the tool's name. A call that never ends is forgotten.
    end = end_of(call("c"), returned("r", callId="c"))
    assert (end.call_id, end.outcome) == ("c", Outcome.SUCCEEDED)
    measured = telemetry("tool_call", call_id="c", duration_ms=3352)
    assert end_of(call("c"), measured, returned("c")).duration_ms == 3352
    assert end_of(measured, returned("c")).duration_ms is None
    assert end_of(returned("c", "glob")).tool == "glob"
    assert end_of(line("tool_result", {"functionResponse": 5})).tool == ""
    calls = Calls()
    for number in range(5000):
        calls.started({"id": str(number), "name": "glob"}, {}, "", None)
    assert calls.ended({"id": "0"}, {}, None).tool == ""
    assert calls.ended({"id": "4999"}, {}, None).tool == "glob"
    calls.started({"id": "x" * 5000, "name": "glob"}, {}, "", None)
    assert calls.ended({"id": "x" * 5000}, {}, None).tool == ""
    # The lines are those of the displayed diff, otherwise those of the arguments. A path is relative to
    # the folder.
    edit = call("c", "edit", file_path="/w/a.txt", old_string="b", new_string="B\nC")
    shown = {"fileDiff": DIFF, "fileName": "a.txt", "originalContent": "a\nb"}
    end = end_of(edit, returned("c", "edit", resultDisplay=shown))
    assert (end.lines_added, end.lines_removed, end.is_new_file) == (1, 1, False)
    assert end_of(edit, returned("c", "edit", resultDisplay={**shown, "originalContent": None})).is_new_file
    end = end_of(edit, returned("c", "edit", resultDisplay={**shown, "fileDiffTruncated": True}))
    assert (end.lines_added, end.lines_removed) == (2, 1)
    new = end_of(call("c", "write_file", file_path="/w/b", content="x\ny\n"), returned("c", "write_file"))
    assert (new.lines_added, new.is_new_file, new.note) == (2, True, "2 lines")
    started = [
        event for event in decoded(call("c", "read_file", path="/w/a.py")) if isinstance(event, ToolStarted)
    ]
    assert [(event.target, event.path) for event in started] == [("a.py", "/w/a.py")]


def test_a_line_has_the_blocks_of_its_call() -> None:
    """Changes are diffs, commands have output, an image has a size, and each line shows only the call that
    is asked for.
    """
    cases: list[tuple[dict[str, Any], list[Block]]] = [
        (call("c"), [FieldsBlock("arguments", {"command": "ls"})]),
        (call("c", command="a\nb"), [TextBlock("command", "a\nb")]),
        (
            call("c", command="ls", description="List", empty=""),
            [TextBlock("description", "List"), FieldsBlock("arguments", {"command": "ls"})],
        ),
        (call("other"), []),
        (
            call("c", "write_file", file_path="a", content="x"),
            [
                ChangeBlock(None, after="x"),
                FieldsBlock("arguments", {"file_path": "a"}),
            ],
        ),
        (call("c", "edit", old_string="b", new_string="B"), [ChangeBlock("@@ -1,1 +1,1 @@\n-b\n+B")]),
        (
            call("c", "todo_write", todos=[{"content": "A"}]),
            [PlanBlock((PlanEntry("A", PlanStatus.PENDING),))],
        ),
        (returned("c"), [OutputBlock("stdout", "ok")]),
        (returned("other"), []),
        (returned("c", "web_fetch"), [MarkdownBlock("ok")]),
        (returned("c", "web_search"), [MarkdownBlock("ok")]),
        (returned("c", "read_file"), [ContentBlock("ok")]),
        (returned("c", "edit"), [TextBlock("message", "ok")]),
        (returned("c", "edit", resultDisplay={"fileDiff": DIFF}), [ChangeBlock(DIFF)]),
        (returned("c", response={"error": "no"}), [ErrorBlock("no")]),
        (
            returned("c", response={"error": "long"}, resultDisplay={"output": "short"}),
            [OutputBlock("stdout", "short")],
        ),
    ]
    for made, expected in cases:
        with case(made):
            assert list(AGENT.blocks(made, "c")) == expected
    data = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    response = {
        "functionResponse": {"id": "c", "response": {}, "parts": [data, {"inlineData": {"data": "QQ=="}}, {}]}
    }
    assert list(AGENT.blocks(line("tool_result", response), "c")) == [
        BinaryBlock("image/png", 3),
        BinaryBlock("binary", 1),
    ]


OK = TurnEnded(Outcome.SUCCEEDED)
HOOK = {"text": "<qwen:user-prompt-submit-context>\nx\n</qwen:user-prompt-submit-context>"}


def ends(*lines: dict[str, Any]) -> list[Event]:
    """Return the events of lines that begin or end turns."""
    kinds = (TurnEnded, TurnStarted, Prompt, Rewound)
    return [event for event in decoded(*lines) if isinstance(event, kinds)]


def test_texts_and_prompts_are_those_of_their_authors() -> None:
    """Thoughts are reasoning, and a prompt is what the user wrote."""
    # A part that is a thought is reasoning. Lines with one id and different times are one answer; a line
    # that comes again says nothing new.
    assert decoded(line("assistant", {"text": "Hm", "thought": True}, {"text": ""}, 5)) == [
        Text(Channel.REASONING, "Hm", AT_MS),
        TextEnded(Channel.REASONING, AT_MS),
    ]
    uuid = "019f0000-0000-7000-8000-000000000046"
    counts = {"promptTokenCount": 12, "candidatesTokenCount": 4}
    thought = line(
        "assistant", {"text": "Hm", "thought": True}, uuid=uuid, timestamp="2026-11-21T23:00:01.000Z"
    )
    parts = ({"text": "Hm", "thought": True}, {"text": "A"}, {"text": "A"})
    rest = line("assistant", *parts, uuid=uuid, timestamp="2026-11-21T23:00:02.000Z", usageMetadata=counts)
    late = {**rest, "timestamp": "2026-11-21T23:00:03.000Z"}
    for lines in ([thought, rest], [thought, rest, thought, rest], [thought, rest, late]):
        with case(len(lines)):
            read = session_of(user("Go"), *lines)
            thoughts = [entry for entry in read.transcript if entry.kind is Kind.REASONING]
            assert (read.text, len(thoughts), read.run.tokens.input) == ("AA", 1, 12)
    first = said("A", uuid="b6cd004b-98c8-476f-ba4a-d436c6069d0f")
    assert session_of(user("Go"), first, first).text == "A"
    # What a hook adds is not a part of the prompt; the displayed text is the user's own.
    assert decoded(line("user", {"text": "A"}, {"text": "B"}, HOOK)) == [Prompt("A\nB")]
    shown = {"displayText": "short"}
    assert decoded(line("user", {"text": "long"}, systemPayload=shown)) == [Prompt("short")]
    assert decoded(line("user", HOOK)) == []
    assert decoded(line("user", {"text": "done"}, subtype="notification")) == [Notice("done", AT_MS)]
    queued = line("user", {"text": "and"}, subtype="mid_turn_user_message")
    assert decoded(queued) == [Notice("queued: and", AT_MS)]


def test_a_turn_ends_or_is_taken_back() -> None:
    """With an answer without a call, an interruption, or a rewind."""
    # A turn continues after a text with a call. The record of a result decides, an error of the service
    # fails it if no request follows, and a background task may begin another.
    both = line("assistant", {"text": "Ls."}, {"functionCall": {"id": "c", "name": "glob", "args": {}}})
    assert ends(user("Go"), both, returned("c", "glob"), said("Done.")) == [Prompt("Go"), OK]
    assert ends(user("Go"), line("assistant", {"text": "Hm", "thought": True})) == [Prompt("Go")]
    assert session_of(user("Go"), both, said("Done.")).text == "Ls.Done."
    assert ends(user("Go"), said("A"), said("B")) == [Prompt("Go"), OK, TurnStarted(), OK]
    for state, outcome in [
        ("completed", Outcome.SUCCEEDED),
        ("cancelled", Outcome.CANCELLED),
        ("error", Outcome.FAILED),
    ]:
        with case((state, outcome)):
            done = system("turn_result", {"state": state, "error": {"message": "why"}})
            assert ends(user("Go"), done) == [Prompt("Go"), TurnEnded(outcome, "why")]
            assert ends(system("turn_result", {"state": "odd"})) == []
    failed = telemetry("api_error", status_code=400, error_message="refused")
    assert ends(user("Go"), failed) == [Prompt("Go"), TurnEnded(Outcome.FAILED, "refused")]
    assert ends(telemetry("api_error")) == [TurnEnded(Outcome.FAILED, "API error")]
    busy = telemetry("api_error", status_code=429, error_message="busy")
    assert decoded(user("Go"), busy, said("A"))[1] == Retry("busy", at_ms=AT_MS)
    assert ends(user("Go"), busy, said("A")) == [Prompt("Go"), OK]
    other_failed = TurnEnded(Outcome.FAILED, "busy")
    assert ends(user("Go"), busy) == [Prompt("Go"), other_failed]
    assert ends(user("Go"), busy, user("Again", parent="x")) == [Prompt("Go"), other_failed, Prompt("Again")]
    # After Esc, half an answer is written without its usage; if all calls of an answer were cancelled,
    # the agent asks the model no more.
    half = said("Half", provenance="assistant_output")
    response, counted = telemetry("api_response"), {"usageMetadata": {"promptTokenCount": 5}}
    stopped = TurnEnded(Outcome.CANCELLED)
    cases: dict[str, tuple[list[dict[str, Any]], list[TurnEnded]]] = {
        "Esc": ([half], [stopped]),
        "Esc in a later answer": (
            [response, said("A", provenance="x"), user("On", parent="x"), half],
            [OK, stopped],
        ),
        "an answer": ([response, half], [OK]),
        "an answer that was counted": ([half | counted], [OK]),
        "an answer of an older version": ([said("Whole")], [OK]),
    }
    for name, (lines, expected) in cases.items():
        with case(name):
            assert [each for each in ends(user("Go"), *lines) if isinstance(each, TurnEnded)] == expected
    refused = {"status": "cancelled", "executionStatus": "not_started"}
    words = {"error": "[Operation Cancelled] Reason: User did not allow tool call"}
    no, second_no = (returned(name, response=words, **refused) for name in "ab")
    two = [call("a"), call("b")]
    inside = {"isSidechain": True, "agentId": "x"}
    stopped = TurnEnded(Outcome.CANCELLED)
    further: dict[str, tuple[list[dict[str, Any]], list[Event]]] = {
        "the only call": ([call("a"), no], [stopped]),
        "in an older version": ([call("a"), returned("a", response=words, status=None)], [stopped]),
        "both calls": ([*two, no, second_no], [stopped]),
        "one of two calls": ([*two, no, returned("b")], []),
        "the other one is open": ([*two, no], []),
        "after a call that was allowed": ([call("b"), returned("b"), call("a"), no], [stopped]),
        "a rule refused it": ([call("a"), returned("a", status="error", errorType="execution_denied")], []),
        "a call of a subagent": ([call("a") | inside, no | inside], []),
        "a result without its call": ([no], []),
        "the model is asked again": ([call("a"), no, said("So?")], [stopped, TurnStarted(), OK]),
    }
    for name, (lines, wanted) in further.items():
        with case(name):
            reported = [each for each in ends(user("Go"), *lines) if not isinstance(each, Prompt)]
            assert reported == wanted
    # A prompt whose parent is before the last turn takes that turn out of the text.
    other_lines = (
        user("One", uuid="p1"),
        said("A", uuid="a1", parent="p1"),
        user("Two", uuid="p2", parent="a1"),
        said("B", uuid="a2", parent="p2"),
        system("rewind", {"truncatedCount": 2}, uuid="r", parent="a1"),
        user("Other", uuid="p3", parent="r"),
        said("C", uuid="a3", parent="p3"),
    )
    assert ends(*other_lines)[-3:] == [Rewound(1), Prompt("Other"), OK]
    assert session_of(*other_lines).text == "AC"


def test_other_lines_have_their_facts() -> None:
    """Lines beside the messages, facts of the run, and a subagent's lines are told apart."""
    # Compactions, commands and notifications are reported; unknown lines are counted.
    cases: list[tuple[dict[str, Any], list[Event]]] = [
        (
            system("chat_compression", {"info": {"originalTokenCount": 9000, "newTokenCount": 700}}),
            [Compaction(True, None, 9000, 700, AT_MS)],
        ),
        (system("slash_command", {"phase": "invocation", "rawCommand": "/about"}), [Notice("/about", AT_MS)]),
        (system("slash_command", {"phase": "result", "rawCommand": "/about"}), []),
        (system("notification", {"displayText": "done"}), [Notice("done", AT_MS)]),
        (system("notification"), []),
        (system("agent_retry", {"attempt": 2}), [Retry("", 2, at_ms=AT_MS)]),
        (system("attribution_snapshot"), []),
        (telemetry("api_response"), []),
        (system("hologram"), [Unknown("type system/hologram")]),
        (system(["x"]), [Unknown("type system/an array")]),
        (line("weather"), [Unknown("type weather")]),
        ({"type": ["x"]}, [Unknown("type an array")]),
    ]
    for made, expected in cases:
        with case(made):
            assert decoded(made) == expected
    # The model and the mode may change, the tokens are added with those of the cache, and the to-do list
    # is the plan.
    decoder = QwenChatDecoder()
    assert decoder.decode(said("A"))[1] == RunInfo("s", "qwen3", "/w", agent_version="0.24.4")
    assert decoder.decode(system("session_model", {"modelId": "other"})) == [RunInfo(model="other")]
    assert decoder.decode(system("session_approval_mode", {"mode": "yolo"})) == [
        RunInfo(permission_mode="yolo")
    ]
    counts = {"promptTokenCount": 1000, "candidatesTokenCount": 20, "cachedContentTokenCount": 400}
    one = said("A", usageMetadata=counts, contextWindowSize=8000)
    assert session_of(user("Go"), one, one).run.tokens == Tokens(2000, 800, 40, None, 1000, 8000)
    inner = said(
        "B", uuid="q", usageMetadata=counts | {"promptTokenCount": 50}, isSidechain=True, agentId="x"
    )
    assert session_of(user("Go"), one, inner, inner).run.tokens == Tokens(1050, 800, 40, None, 1000, 8000)
    written = decoded(call("c", "todo_write", todos=[{"content": "A", "status": "pending"}]))
    assert [event.entries[0].text for event in written if isinstance(event, Plan)] == ["A"]
    # A subagent's texts belong to no turn of the main agent; its own file shows it as the main agent.
    side: dict[str, Any] = {"isSidechain": True, "agentId": "explore-7f"}
    lines = [user("Find", **side), said("Found", **side), {**telemetry("api_error"), **side}]
    session = session_of(user("Go"), *lines)
    assert (session.text, session.run.turns, session.run.ended) == ("", 1, None)
    assert Prompt("Find", "explore-7f") in decoded(user("Go"), *lines)
    assert Notice("API error", AT_MS, is_error=True) in decoded(user("Go"), *lines)
    assert ends(user("Go"), {**system("turn_result", {"state": "completed"}), **side}) == [Prompt("Go")]
    own = session_of(*lines[:2])
    assert (own.text, own.run.turns) == ("Found", 1)
    assert Prompt("Find", "subagent") in decoded(user("Go"), user("Find", isSidechain=True))


def test_a_line_is_recognised_by_its_parts() -> None:
    """The envelope is Claude's; the messages have Gemini's parts."""
    cases: list[tuple[dict[str, Any], LineRole, bool]] = [
        (user("Go"), LineRole.START, True),
        (said("A"), LineRole.OTHER, True),
        (call("c"), LineRole.CALL, True),
        (returned("c"), LineRole.CALL, True),
        (system("rewind"), LineRole.OTHER, True),
        ({"type": "system", "uuid": "u", "sessionId": "s", "provenance": "system"}, LineRole.OTHER, True),
        ({"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "x"}}, LineRole.START, False),
        ({"type": "user", "uuid": "u", "message": {"parts": []}}, LineRole.START, False),
        ({"type": ["user"], "uuid": "u", "sessionId": "s"}, LineRole.OTHER, False),
    ]
    for made, role, is_own in cases:
        with case((made, role)):
            assert (AGENT.role(made), AGENT.recognises(made)) == (role, is_own)
            assert AGENT.time_of is not None
            assert AGENT.time_of({"timestamp": AT}) == AT_MS
