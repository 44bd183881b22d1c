"""The events of Gemini's chat files: messages that are written again, replaced and removed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentwatch.events import LineTime, Outcome
from agentwatch.session import Session
from agentwatch.wire import Decoder, LineRole
from agentwatch.wire.agents import detect
from agentwatch.wire.gemini_chat import AGENT
from tests.builders.wrong_types import check_cuts, check_wrong_types, outcomes, read

AT = "2026-11-21T23:08:37.292Z"
LATER = "2026-11-21T23:08:38.000Z"
LATER_MS = 1795302518000
START = {"sessionId": "s-1", "projectHash": "h", "startTime": AT, "lastUpdated": AT, "kind": "main"}
CONTEXT_TEXT = "<session_context>\n- **Workspace Directories:**\n  - /home/dev/proj\n</session_context>"
DENIED = "[Operation Cancelled] Reason: User denied execution."
TOKENS = {"input": 1000, "output": 20, "cached": 400, "thoughts": 5, "tool": 0, "total": 1025}


def message(kind: str, text: Any, key: str = "m", **fields: Any) -> dict[str, Any]:
    """Return a message."""
    return {"id": key, "timestamp": AT, "type": kind, "content": text} | fields


def prompt(text: str, key: str) -> dict[str, Any]:
    """Return what the user asked."""
    return message("user", [{"text": text}], key)


def answer(text: str, key: str, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an answer, with its calls if it has any."""
    return message("gemini", text, key, **({"toolCalls": list(calls)} if calls else {}), **fields)


def call(call_id: str = "c-1", name: str = "glob", status: Any = "success", **fields: Any) -> dict[str, Any]:
    """Return a call of an answer."""
    own = {"id": call_id, "name": name, "args": {"pattern": "*"}, "status": status, "timestamp": LATER}
    return own | fields


def response(**fields: Any) -> list[dict[str, Any]]:
    """Return the result of a call."""
    return [{"functionResponse": {"id": "c-1", "name": "glob", "response": fields}}]


def replaced(*messages: dict[str, Any]) -> dict[str, Any]:
    """Return the line that replaces all messages."""
    return {"$set": {"messages": list(messages), "lastUpdated": AT}}


CONTEXT = message("user", [{"text": CONTEXT_TEXT}], "ctx")
ONE = [prompt("Ask.", "p1"), answer("A", "a1")]
TWO = [prompt("More.", "p2"), answer("B", "a2")]


def whole(*lines: dict[str, Any]) -> Session:
    """Return the session of these lines after the first line of a file."""
    return read(AGENT, [START, *lines])


def facts(found: Session) -> tuple[str, int, str]:
    """Return the text, the number of turns and the outcome."""
    return found.text, found.run.turns, str(found.outcome)


def notes(found: Session) -> list[str]:
    """Return the notices."""
    return [str(entry.content) for entry in found.transcript if entry.kind == "notice"]


def test_a_chat_has_its_session_folder_model_turns_and_text() -> None:
    """The first line, the context and the messages make the run."""
    found = whole(replaced(CONTEXT), *ONE, answer("B", "a2", model="pro", tokens=TOKENS))
    run = found.run
    assert (run.session_id, run.cwd, run.model, run.prompt) == ("s-1", "/home/dev/proj", "pro", "Ask.")
    assert facts(found) == ("AB", 1, "succeeded")
    assert (run.tokens.input, run.tokens.cached, run.tokens.output) == (1000, 400, 25)


def test_a_message_that_is_written_again_is_not_doubled() -> None:
    """An answer is written without its calls, and again with them."""
    first = answer("A", "a1", tokens=TOKENS, thoughts=[{"subject": "Plan", "description": "d"}])
    found = whole(prompt("Ask.", "p1"), first, first | {"toolCalls": [call()]}, answer("B", "a2"))
    assert facts(found) == ("AB", 1, "succeeded")
    assert found.run.tokens.input == 1000
    assert [str(entry.content) for entry in found.transcript if entry.kind == "reasoning"] == ["Plan\n\nd"]
    assert outcomes(found) == {"c-1": "succeeded"}
    assert sum(entry.kind == "result" for entry in found.transcript) == 1


def test_what_comes_later_to_a_message_is_added() -> None:
    """Tokens and thoughts may come with a later copy; only what is new in them counts."""
    thoughts = [{"description": "a"}, {"subject": "b"}, 1]
    first = answer("A", "a1", tokens=None, thoughts=thoughts[:1])
    more = TOKENS | {"input": 1500}
    found = whole(*ONE[:1], first, first | {"tokens": TOKENS}, first | {"tokens": more, "thoughts": thoughts})
    assert (found.run.tokens.input, found.run.tokens.output) == (1500, 25)
    assert [str(entry.content) for entry in found.transcript if entry.kind == "reasoning"] == ["a", "b"]


def test_an_answer_with_another_text_replaces_the_first() -> None:
    """The text of the last copy counts, also if other answers follow; those stay."""
    assert facts(whole(*ONE, answer("AA", "a1")))[0] == "AA"
    assert facts(whole(*ONE, *TWO, answer("AA", "a1")))[0] == "AAB"
    assert facts(whole(*ONE[:1], answer("", "a1"), answer("A", "a1")))[0] == "A"


def test_a_prompt_is_written_once() -> None:
    """A copy of a prompt is no other turn."""
    assert facts(whole(ONE[0], ONE[0] | {"content": "Other"}, ONE[1])) == ("A", 1, "succeeded")


@pytest.mark.parametrize(
    "text",
    [
        CONTEXT_TEXT,
        "<state_snapshot>x",
        "<hook_context>x",
        "System: Please continue.",
        "Here is the user's editor context as a JSON object",
        "",
    ],
)
def test_what_the_agent_says_in_the_users_name_is_no_prompt(text: str) -> None:
    """The context, a summary and the results of calls start no turn."""
    assert facts(whole(prompt(text, "x"))) == ("", 0, "unfinished")
    assert facts(whole(message("user", response(output="x"), "x"), *ONE)) == ("A", 1, "succeeded")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"content": "Ask."}, "Ask."),
        ({"content": ["As", {"text": "k."}, 1]}, "Ask."),
        ({"content": {"text": "Ask."}}, "Ask."),
        ({"content": "@a\n--- Content from referenced files ---\nx"}, "@a"),
        ({"content": "@a with content", "displayContent": "@a"}, "@a"),
    ],
)
def test_a_prompt_is_what_the_user_typed(fields: dict[str, Any], text: str) -> None:
    """The files that a prompt names are no part of it."""
    assert whole(ONE[0] | fields).run.prompt == text


def test_a_command_of_the_user_is_a_notice() -> None:
    """What the user ran is shown, once, and starts no turn."""
    line = message("user", "I ran the following shell command:\n```sh\nls\n```\n", "x")
    assert notes(whole(line, line)) == ["you ran ls"]
    assert notes(whole(message("user", "I ran the following shell command:", ""))) == ["you ran "]


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ([answer("A", "a1")], "succeeded"),
        ([answer("", "a1", call()), answer("A", "a2")], "succeeded"),
        ([answer("A", "a1", call())], "unfinished"),
        ([answer("", "a1")], "unfinished"),
        ([answer("A", "a1"), message("user", response(output="x"), "r")], "unfinished"),
        ([answer("A", "a1", call(status="cancelled"))], "cancelled"),
        ([answer("A", "a1", call(), call("c-2", status="cancelled"))], "unfinished"),
        ([answer("A", "a1"), message("info", "Request cancelled.", "i")], "cancelled"),
        ([answer("A", "a1"), message("info", "hi", "i")], "succeeded"),
        ([message("error", "API Error", "e")], "failed"),
        ([answer("A", "a1"), message("error", "API Error", "e")], "failed"),
        ([message("error", "x", "e"), message("error", "y", "f")], "failed"),
        ([message("info", "Request cancelled.", "i"), answer("A", "a1")], "succeeded"),
        ([message("warning", "w", "w")], "unfinished"),
        ([], "unfinished"),
    ],
)
def test_the_outcome_of_a_turn(lines: list[dict[str, Any]], outcome: str) -> None:
    """An answer without calls ends a turn well, an error ends it badly, and a cancellation ends it too."""
    assert whole(ONE[0], *lines).outcome == outcome


def test_a_turn_ends_once_and_the_next_continues_the_run() -> None:
    """Each turn has one end, and the outcome of the last is the run's."""
    found = whole(*ONE, message("error", "x", "e"), *TWO)
    assert facts(found) == ("AB", 2, "succeeded")
    assert sum(entry.kind == "result" for entry in found.transcript) == 2
    cancelled = answer("A", "a1", call(status="cancelled"))
    found = whole(ONE[0], cancelled, message("info", "Request cancelled.", "i"), cancelled)
    assert sum(entry.kind == "result" for entry in found.transcript) == 1


def test_a_failed_turn_has_the_message_of_its_error() -> None:
    """The message of an error is the result of its turn; one of 50,000 characters is cut."""
    found = whole(ONE[0], message("error", [{"text": "x" * 50_000}], "e"))
    assert found.run.result == found.last_error == "x" * 4095 + "…"
    assert whole(ONE[0], message("error", "", "e")).run.result is None


def test_a_notice_is_written_once() -> None:
    """A copy of a notice adds nothing."""
    assert notes(whole(message("info", "hi", "i"), message("info", "hi", "i"))) == ["hi"]
    assert notes(whole(message("warning", "", "", displayContent="hi"))) == ["hi"]


@pytest.mark.parametrize(
    ("fields", "outcome", "error"),
    [
        ({"status": "success", "result": response(output="x")}, Outcome.SUCCEEDED, None),
        ({"status": "success", "result": response(error="odd")}, Outcome.SUCCEEDED, None),
        ({"status": "error", "result": response(error="No file.")}, Outcome.FAILED, "No file."),
        ({"status": "error", "result": response(error={"message": "m"})}, Outcome.FAILED, "m"),
        ({"status": "error", "result": [1, {}], "resultDisplay": "No."}, Outcome.FAILED, "No."),
        ({"status": "error", "resultDisplay": ""}, Outcome.FAILED, None),
        ({"status": "error", "resultDisplay": {}}, Outcome.FAILED, None),
        ({"status": "cancelled", "result": response(error=DENIED)}, Outcome.CANCELLED, DENIED),
        ({"status": "executing"}, Outcome.UNFINISHED, None),
        ({"status": "awaiting_approval"}, Outcome.UNFINISHED, None),
        ({"status": "odd"}, Outcome.RETURNED, "unknown status odd"),
        ({"status": []}, Outcome.RETURNED, "unknown status an array"),
    ],
)
def test_the_outcome_of_a_call(fields: dict[str, Any], outcome: Outcome, error: str | None) -> None:
    """The agent's word stands. The reason is in the response, or in what the agent showed."""
    [found] = whole(ONE[0], answer("", "a1", call(**fields))).calls
    assert (found.outcome, found.error, found.exit_code) == (outcome, error, None)


def test_a_call_without_a_status_returned() -> None:
    """A call of which the line does not say how it ended has no invented outcome."""
    line = call()
    del line["status"]
    [found] = whole(answer("", "a1", line | {"resultDisplay": "x"})).calls
    assert (found.outcome, found.error) == (Outcome.RETURNED, "came back without a status")


def test_an_open_call_ends_with_a_later_copy() -> None:
    """Older versions wrote calls that had not ended."""
    lines = [answer("", "a1", call(status=status)) for status in ("scheduled", "executing", "success")]
    found = whole(ONE[0], *lines)
    assert outcomes(found) == {"c-1": "succeeded"}
    assert found.completed_without_started == found.never_completed == 0


def test_a_change_of_a_file_has_its_lines() -> None:
    """The agent shows the change as a diff, with the path relative to the folder of the session."""
    shown = {"fileDiff": "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y", "originalContent": "x"}
    line = call(name="replace", args={"file_path": "/home/dev/proj/a"}, resultDisplay=shown)
    [found] = whole(CONTEXT, answer("", "a1", line)).calls
    assert (found.target, found.path, found.lines_added) == ("a", "/home/dev/proj/a", 1)
    assert (found.phrase, found.ended_ms, found.started_ms) == ("Edited file", LATER_MS, None)


def test_a_to_do_list_is_the_plan() -> None:
    """The arguments of a call that succeeded are the plan."""
    todos = {"todos": [{"description": "a", "status": "pending"}]}
    assert len(whole(answer("", "a1", call(name="write_todos", args=todos))).plan) == 1
    assert whole(answer("", "a1", call(name="write_todos", args=todos, status="error"))).plan == ()


def test_all_messages_may_be_replaced() -> None:
    """Messages that are the same stay; others are removed, and new ones are read."""
    assert facts(whole(*ONE, *TWO, replaced(*ONE, *TWO))) == ("AB", 2, "succeeded")
    assert facts(whole(*ONE, *TWO, replaced(*ONE))) == ("A", 1, "succeeded")
    assert facts(whole(*ONE, *TWO, replaced(*TWO))) == ("B", 1, "succeeded")
    assert facts(whole(*ONE, *TWO, replaced(ONE[0], answer("C", "a9")))) == ("C", 1, "succeeded")
    assert facts(whole(*ONE, replaced(ONE[0]))) == ("", 1, "unfinished")
    assert facts(whole(*ONE, replaced(answer("C", "a9"), *ONE))) == ("CA", 1, "succeeded")
    assert facts(whole(replaced(*ONE), *TWO)) == ("AB", 2, "succeeded")
    assert facts(whole(*ONE, replaced())) == ("", 0, "unfinished")


def test_the_same_messages_as_parts_are_the_same() -> None:
    """The history of the model has answers as parts, with thoughts, and with spaces around the text."""
    parts = [{"text": "Hm", "thought": True}, {"text": " A\n"}, {"functionCall": {"name": "glob"}}]
    with_calls = answer("A", "a1", call())
    results = message("user", response(output="x"), "r")
    lines = [ONE[0], with_calls, results, answer("B", "a2"), message("info", "hi", "i")]
    found = whole(*lines, replaced(ONE[0], with_calls | {"content": parts}, results, answer("B", "a2")))
    assert facts(found) == ("AB", 1, "succeeded")
    assert len(found.calls) == 1
    assert notes(found) == ["hi"]


def test_calls_that_only_the_replacement_has_are_read() -> None:
    """A message that stays may have calls that were not written before."""
    found = whole(*ONE, replaced(ONE[0], answer("A", "a1", call())))
    assert outcomes(found) == {"c-1": "succeeded"}
    assert facts(found) == ("A", 1, "unfinished")


def test_the_prompt_of_a_request_that_failed_stays_a_turn() -> None:
    """The agent drops such a prompt from the conversation, and then notes the error."""
    lines = [*ONE, prompt("Fail.", "p2"), replaced(*ONE)]
    assert facts(whole(*lines)) == ("A", 2, "unfinished")
    found = whole(*lines, message("error", "API Error", "e"))
    assert facts(found) == ("A", 2, "failed")
    assert notes(found) == ["API Error"]
    assert facts(whole(*lines[:3], message("error", "x", "e"), lines[3])) == ("A", 2, "failed")


def test_a_compaction_keeps_what_was_said() -> None:
    """The agent replaces the conversation by a summary; nothing in it is new."""
    summary = message("user", "<state_snapshot>short</state_snapshot>", "sum")
    got_it = answer("Got it.", "ok")
    found = whole(*ONE, *TWO, replaced(summary, got_it, *TWO), prompt("C?", "p3"), answer("C", "a3"))
    assert facts(found) == ("ABC", 3, "succeeded")
    assert notes(found) == ["context compacted"]
    again = replaced(summary, got_it, *TWO)
    assert facts(whole(*ONE, *TWO, again, again))[:2] == ("AB", 2)
    resumed = whole(replaced(summary, got_it, *TWO))
    assert facts(resumed) == ("Got it.B", 1, "succeeded")


def test_a_rewind_removes_a_message_and_those_after_it() -> None:
    """The turns and texts from the message on are removed; an unknown message removes all."""
    assert facts(whole(*ONE, *TWO, {"$rewindTo": "p2"})) == ("A", 1, "succeeded")
    assert facts(whole(*ONE, *TWO, {"$rewindTo": "a2"})) == ("A", 2, "unfinished")
    assert facts(whole(*ONE, *TWO, {"$rewindTo": "p2"}, *TWO)) == ("AB", 2, "succeeded")
    assert facts(whole(*ONE, *TWO, {"$rewindTo": "gone"})) == ("", 0, "unfinished")
    assert facts(whole(*ONE, {"$rewindTo": "p1"}, *TWO)) == ("B", 1, "succeeded")
    assert facts(whole({"$rewindTo": "p1"})) == ("", 0, "unfinished")
    assert facts(whole(ONE[0], answer("x", "a0", call()), ONE[1], {"$rewindTo": "a1"}))[0] == "x"


def test_a_session_may_begin_again() -> None:
    """A first line with the same session changes nothing; with another it begins another run."""
    assert len(whole(*ONE, START, *TWO).runs) == 1
    found = whole(*ONE, START | {"sessionId": "s-2"}, *ONE)
    assert [(run.session_id, run.text, run.outcome) for run in found.runs] == [
        ("s-1", "A", "succeeded"),
        ("s-2", "A", "succeeded"),
    ]


def test_facts_about_the_session_may_change() -> None:
    """The id and the folders of a session may be written later; the first folder counts."""
    found = whole({"$set": {"sessionId": "s-2"}}, {"$set": {"directories": ["/a/", "/b"]}}, CONTEXT)
    assert (found.run.session_id, found.run.cwd) == ("s-2", "/a/")
    assert whole({"$set": {"sessionId": "s-1", "summary": "x"}}).run.session_id == "s-1"
    assert whole(START | {"directories": ["/a"]}).run.cwd == "/a"
    assert read(AGENT, [START | {"directories": [1, "/a"], "kind": "subagent"}]).run.cwd == "/a"


@pytest.mark.parametrize("text", ["<session_context>", "<session_context>Workspace Directories:\n\n x"])
def test_a_context_without_a_folder_has_none(text: str) -> None:
    """The folder is only read from a list."""
    assert whole(message("user", text, "x")).run.cwd is None


def test_what_is_not_known_is_counted() -> None:
    """Unknown types of messages and changes are counted."""
    assert whole(message("weather", "x")).lines.unknown == 1
    assert whole({"$patch": {}}).lines.unknown == 1
    assert whole({"type": "model", "id": "x", "parts": [{"text": "Ok"}], "timestamp": AT}).text == "Ok"


@pytest.mark.parametrize(
    ("line", "at_ms"),
    [
        (START, 1795302517292),
        (answer("A", "a1"), 1795302517292),
        (answer("A", "a1", call(), call(timestamp=AT)), LATER_MS),
        ({"$set": {"lastUpdated": LATER}}, LATER_MS),
        ({"$rewindTo": "x"}, None),
    ],
)
def test_the_time_of_a_line(line: dict[str, Any], at_ms: int | None) -> None:
    """A line is as late as its latest call; a rewind has no time."""
    times = [
        event.at_ms for event in Decoder(AGENT).decode(json.dumps(line).encode()) if type(event) is LineTime
    ]
    assert times == ([] if at_ms is None else [at_ms])


@pytest.mark.parametrize("line", [START, *ONE, replaced(), {"$rewindTo": "x"}, message("error", "x")])
def test_each_line_is_recognised(line: dict[str, Any]) -> None:
    """Each type of line is recognised by its own keys, so that a file without its head is read too."""
    assert detect(line, is_first=False) is AGENT


@pytest.mark.parametrize(
    "line",
    [
        {"sessionId": "s", "type": "user"},
        {"$set": 1},
        {"$rewindTo": 1},
        message("user", "x") | {"uuid": "u"},
        message("user", "x") | {"role": "user"},
        message("message", "x"),
        {"type": "user", "id": "x", "timestamp": AT},
        {"type": "user", "id": 1, "timestamp": AT, "content": ""},
        {"type": "user", "id": "x", "timestamp": 1, "content": ""},
        {"type": []},
    ],
)
def test_a_line_of_another_agent_is_not_recognised(line: dict[str, Any]) -> None:
    """A line with another agent's fields, or without Gemini's, is not Gemini's."""
    assert not AGENT.recognises(line)


def test_each_line_has_a_role() -> None:
    """The first line and a prompt start a run, an answer with calls is a call."""
    lines = [START, ONE[0], answer("", "a1", call()), ONE[1], replaced()]
    start, other = LineRole.START, LineRole.OTHER
    assert [AGENT.role(line) for line in lines] == [start, start, LineRole.CALL, other, other]


SHOWN = {"fileDiff": "@@ -1 +1 @@\n-x\n+y", "originalContent": "x", "newContent": "y"}
OUTPUT = response(output="x")
LINES = [
    *(START | {"directories": ["/home/dev"]}, replaced(CONTEXT), ONE[0], answer("A", "a1", tokens=TOKENS)),
    answer("A", "a1", call("a", "replace", resultDisplay=SHOWN), call("b", status="error"), tokens=TOKENS),
    message("user", response(output="x"), "r"),
    answer(
        "B",
        "a2",
        call("c", "run_shell_command", resultDisplay=[[{"text": "x"}]], result=response(output="x")),
    ),
    *(replaced(CONTEXT, ONE[0], answer("A", "a1"), answer("B", "a2")), {"$rewindTo": "a2"}),
    *(message("info", "hi", "i"), prompt("More.", "p2"), message("error", "x", "e")),
]


def test_any_field_may_have_any_type() -> None:
    """No value of any field is an error, and every line is counted."""
    check_wrong_types(AGENT, LINES, "a")


def test_a_file_that_is_cut_invents_nothing() -> None:
    """A file that ends after any line has a beginning of the text, and no call that had not ended."""
    check_cuts(AGENT, [*LINES[:7], *TWO])


def test_messages_of_one_turn_may_be_written_again_in_any_order() -> None:
    """Copies of messages change neither the text nor the calls."""
    lines = [ONE[0], answer("A", "a1", call("a")), answer("B", "a2", call("b")), answer("C", "a3")]
    for again in (lines[1], lines[2], lines[3]):
        found = whole(*lines, again)
        assert (found.text, outcomes(found)) == ("ABC", {"a": "succeeded", "b": "succeeded"})
