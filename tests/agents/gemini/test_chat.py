"""Gemini's chat files: messages, calls, replaced history, blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentwatch.agents import Decoder, LineRole
from agentwatch.agents.gemini import chat
from agentwatch.agents.gemini.agent import CHAT as AGENT
from agentwatch.agents.gemini.chat import Entry, History, call_events, call_of
from agentwatch.agents.registry import detect
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.session.events import LineTime, Outcome, Rewound, Text, TextRetracted, ToolEnded
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.formats.gemini_chat import (
    AT,
    CONTEXT,
    CONTEXT_TEXT,
    LATER,
    LATER_MS,
    ONE,
    START,
    TOKENS,
    TWO,
    answer,
    call,
    facts,
    message,
    notes,
    prompt,
    replaced,
    response,
    whole,
)
from tests.builders.formats.wrong_types import check_cuts, check_wrong_types, outcomes, read
from tests.conftest import case


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


def test_what_the_agent_says_in_the_users_name_is_no_prompt() -> None:
    """The context, a summary and the results of calls start no turn."""
    cases: list[str] = [
        CONTEXT_TEXT,
        f"{CONTEXT_TEXT}\n\nMy setup is complete. I will provide my first command in the next turn.",
        "<state_snapshot>x",
        "<hook_context>x",
        "System: Please continue.",
        "Here is the user's editor context as a JSON object",
        "",
    ]
    for text in cases:
        with case(text):
            assert facts(whole(prompt(text, "x"))) == ("", 0, "unfinished")
            assert facts(whole(message("user", response(output="x"), "x"), *ONE)) == ("A", 1, "succeeded")


def test_a_prompt_is_what_the_user_typed() -> None:
    """The files that a prompt names are no part of it."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"content": "Ask."}, "Ask."),
        ({"content": ["As", {"text": "k."}, 1]}, "Ask."),
        ({"content": {"text": "Ask."}}, "Ask."),
        ({"content": "@a\n--- Content from referenced files ---\nx"}, "@a"),
        ({"content": "@a with content", "displayContent": "@a"}, "@a"),
        ({"content": f"{CONTEXT_TEXT}\nAsk."}, "Ask."),
    ]
    for fields, text in cases:
        with case(fields):
            assert whole(ONE[0] | fields).run.prompt == text


def test_the_folder_is_only_in_the_context() -> None:
    """The context may be before the prompt in the same message; the words of a user name no folder."""
    assert whole(ONE[0] | {"content": f"{CONTEXT_TEXT}\nAsk."}).run.cwd == "/home/dev/proj"
    assert whole(ONE[0] | {"content": "Workspace Directories:\n  - /elsewhere"}).run.cwd is None


def test_a_command_of_the_user_is_a_notice() -> None:
    """What the user ran is shown, once, and starts no turn."""
    line = message("user", "I ran the following shell command:\n```sh\nls\n```\n", "x")
    assert notes(whole(line, line)) == ["you ran ls"]
    assert notes(whole(message("user", "I ran the following shell command:", ""))) == ["you ran "]


def test_the_outcome_of_a_turn() -> None:
    """An answer without calls ends a turn well, an error ends it badly, and a cancellation ends it too."""
    cases: list[tuple[list[dict[str, Any]], str]] = [
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
    ]
    for lines, outcome in cases:
        with case(lines):
            assert whole(ONE[0], *lines).outcome == outcome


def test_a_turn_ends_once_and_the_next_continues_the_run() -> None:
    """Each turn has one end, and the outcome of the last is the run's."""
    found = whole(*ONE, message("error", "x", "e"), *TWO)
    assert facts(found) == ("AB", 2, "succeeded")
    assert sum(entry.kind == "result" for entry in found.transcript) == 2
    cancelled = answer("A", "a1", call(status="cancelled"))
    found = whole(ONE[0], cancelled, message("info", "Request cancelled.", "i"), cancelled)
    assert sum(entry.kind == "result" for entry in found.transcript) == 1
    assert whole(ONE[0], cancelled, TWO[0], cancelled).outcome == "unfinished"


def test_a_failed_turn_has_the_message_of_its_error() -> None:
    """The message of an error is the result of its turn; one of 50,000 characters is cut."""
    found = whole(ONE[0], message("error", [{"text": "x" * 50_000}], "e"))
    assert found.run.result == found.last_error == "x" * 4095 + "…"
    assert whole(ONE[0], message("error", "", "e")).run.result is None


def test_a_notice_is_written_once() -> None:
    """A copy of a notice adds nothing."""
    assert notes(whole(message("info", "hi", "i"), message("info", "hi", "i"))) == ["hi"]
    assert notes(whole(message("warning", "", "", displayContent="hi"))) == ["hi"]


def test_what_is_not_known_is_counted() -> None:
    """Unknown types of messages and changes are counted."""
    assert whole(message("weather", "x")).lines.unknown == 1
    assert whole({"$patch": {}}).lines.unknown == 1
    assert whole({"type": "model", "id": "x", "parts": [{"text": "Ok"}], "timestamp": AT}).text == "Ok"


def entry(key: str, text: str, *, is_prompt: bool = False) -> Entry:
    """Return an entry."""
    return Entry.of(key, text, is_prompt=is_prompt)


def test_the_text_that_is_kept_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is not replaced if the answers after it are too old to be kept."""
    monkeypatch.setattr(chat, "_MOST_CHARACTERS", 4)
    found = History()
    for key in ("a", "b", "c"):
        found.add(entry(key, key * 2))
    assert found.put(2, entry("c", "x")) == [TextRetracted(2), *entry_events("x")]
    assert found.put(0, entry("a", "x"))[0] == TextRetracted(5)
    found.add(entry("d", "dddd"))
    assert found.put(0, entry("a", "y")) == []


def entry_events(text: str) -> list[object]:
    """Return the events of an answer."""
    return list(History().add(entry("", text)))


def test_a_place_far_back_is_not_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent replaces only its last message: one with many answers after it stays."""
    monkeypatch.setattr(chat, "_MOST_REWRITTEN", 2)
    found = History()
    for key in ("a", "b", "c"):
        found.add(entry(key, key))
    assert found.put(0, entry("a", "x")) == []
    assert [type(event) for event in found.put(1, entry("b", "x"))][:2] == [TextRetracted, Text]


def test_the_oldest_entries_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the oldest entries are forgotten, and the others keep their places."""
    monkeypatch.setattr(chat, "_MOST_MESSAGES", 4)
    monkeypatch.setattr(chat, "_DROPPED_AT_ONCE", 2)
    found = History()
    for key in ("a", "b", "", "d", "e"):
        found.add(entry(key, f"text {key}"))
    assert (len(found), found.is_complete) == (3, False)
    assert [found.find(key) for key in ("a", "b", "", "d", "e")] == [None, None, None, 1, 2]
    assert found.cut(1) == [TextRetracted(12)]
    assert found.ends_in_answer


def test_a_key_that_came_again_is_found_at_its_newest_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropping the old entry of a key does not forget the new one."""
    monkeypatch.setattr(chat, "_MOST_MESSAGES", 2)
    monkeypatch.setattr(chat, "_DROPPED_AT_ONCE", 1)
    found = History()
    for key in ("a", "b", "a"):
        found.add(entry(key, key))
    assert found.find("a") == 1


def test_a_cut_says_how_many_turns_it_removes() -> None:
    """The turns are counted by prompts, and the text before the first of them by characters."""
    found = History()
    for key, is_prompt in (("a", True), ("b", False), ("c", True), ("d", False)):
        found.add(entry(key, key, is_prompt=is_prompt))
    assert found.cut(4) == []
    assert found.cut(1) == [Rewound(1), TextRetracted(1)]
    assert found.cut(0) == []


def test_a_prompt_is_not_replaced_by_an_answer() -> None:
    """A message that changes its author changes nothing."""
    found = History()
    found.add(entry("a", "x", is_prompt=True))
    assert found.put(0, entry("a", "y")) == []
    assert found.put(0, entry("a", "y", is_prompt=True)) == []


def test_an_empty_answer_has_no_events() -> None:
    """An answer without text is an entry without events."""
    assert entry_events("") == []
    found = History()
    found.add(entry("a", ""))
    assert type(next(iter(found.put(0, entry("a", "x"))))) is Text


def test_messages_after_dropped_ones_are_replaced_without_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the beginning of a conversation is forgotten, a replacement of all messages adds nothing."""
    monkeypatch.setattr(chat, "_MOST_MESSAGES", 2)
    monkeypatch.setattr(chat, "_DROPPED_AT_ONCE", 1)
    lines = [prompt("Ask.", "p1"), answer("A", "a1"), answer("B", "a2")]
    found = read(AGENT, [START, *lines, replaced(*lines)])
    assert (found.text, found.run.turns) == ("AB", 1)


def test_a_long_id_is_kept_as_its_digest() -> None:
    """Two messages whose long ids differ in the end are two messages."""
    lines = [answer("A", "x" * 200 + "a"), answer("B", "x" * 200 + "b"), answer("A", "x" * 200 + "a")]
    assert read(AGENT, [START, *lines]).text == "AB"


def test_the_messages_and_calls_that_are_remembered_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest are forgotten; a call that is read again stays as it ended."""
    monkeypatch.setattr("agentwatch.agents.gemini.chat._MOST_CALLS", 1)
    monkeypatch.setattr("agentwatch.agents.gemini.chat._MOST_MESSAGES", 1)
    calls = [{"id": key, "name": "glob", "status": "success"} for key in ("a", "b")]
    lines = [answer("", "m1", *calls), answer("", "m2"), answer("", "m1", *calls)]
    found = read(AGENT, [START, *lines])
    assert [(call.call_id, call.outcome) for call in found.calls] == [("a", "succeeded"), ("b", "succeeded")]


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


def prompts(found: Session) -> list[str]:
    """Return the prompts of a session."""
    return [entry.text for entry in found.transcript if entry.kind is Kind.PROMPT]


def recorded_again(*texts: str) -> list[dict[str, Any]]:
    """Return the lines of a history that is set: all messages under new ids, and then the replacement."""
    lines = []
    for number, text in enumerate(texts):
        parts: list[dict[str, Any]] = [{"text": text}]
        if text == "Call.":
            parts.append({"functionCall": {"id": "c-1", "name": "glob", "args": {}}})
        lines.append(message("gemini" if number % 2 else "user", parts, f"{text}{number}", tokens=None))
    lines[0]["content"].insert(0, {"text": CONTEXT_TEXT})
    lines.insert(2, message("user", response(output="x"), "again"))
    return [*lines, replaced(*lines)]


CANCELLED = [
    answer("Call.", "a2", call(status="cancelled")),
    message("info", "Request cancelled.", "i"),
]


def test_a_cancelled_turn_stays() -> None:
    """After Esc at a question, Gemini 0.61 records all messages before that turn again, and drops the turn.

    What the user sees stays: the prompt, the answer and the note. Nothing is read twice.
    """
    lines = [CONTEXT, *ONE, prompt("More.", "p2"), answer("Call.", "a2"), *CANCELLED]
    lines += recorded_again("Ask.", "A")
    found = whole(*lines)
    assert facts(found) == ("ACall.", 2, "cancelled")
    assert (prompts(found), outcomes(found)) == (["Ask.", "More."], {"c-1": "cancelled"})
    assert notes(found) == ["Request cancelled."]
    again = [
        prompt("More.", "p3"),
        answer("B", "a3"),
        prompt("C?", "p4"),
        message("info", "Request cancelled.", "j"),
    ]
    found = whole(*lines, *again, *recorded_again("Ask.", "A", "More.", "B"))
    assert facts(found) == ("ACall.B", 4, "cancelled")
    assert prompts(found) == ["Ask.", "More.", "More.", "C?"]
    found = whole(*lines, *again[:2], {"$rewindTo": "p3"})
    assert facts(found)[:2] == ("ACall.", 2)
    without_ids = [line | {"id": None} if "id" in line else line for line in recorded_again("Ask.", "A")]
    assert facts(whole(*lines, *without_ids)) == ("ACall.", 2, "cancelled")


def test_what_is_new_among_messages_that_are_recorded_again_is_read() -> None:
    """The first message that differs from those before, and all after it, are new."""
    found = whole(CONTEXT, *ONE, *recorded_again("Ask.", "A", "More.", "B")[:-1])
    assert facts(found) == ("AB", 2, "succeeded")
    found = whole(CONTEXT, *ONE, *recorded_again("Other.", "A")[:-1])
    assert facts(found) == ("AA", 2, "unfinished")


def test_only_the_last_turn_stays_when_it_is_cancelled() -> None:
    """Of a conversation that is replaced otherwise, what is gone is removed."""
    cancelled = message("info", "Request cancelled.", "i")
    assert facts(whole(*ONE, *TWO, cancelled, replaced())) == ("", 0, "cancelled")
    assert facts(whole(*ONE, cancelled, replaced(*ONE))) == ("A", 1, "cancelled")
    assert facts(whole(*ONE, *TWO, cancelled, replaced(*ONE, TWO[0]))) == ("AB", 2, "cancelled")


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


DENIED = "[Operation Cancelled] Reason: User denied execution."
STOPPED = "[Operation Cancelled] Reason: User cancelled tool execution."


def test_the_outcome_of_a_call() -> None:
    """The agent's own status counts, unless its reason is the user's refusal."""
    cases: list[tuple[dict[str, Any], Outcome, str | None]] = [
        ({"status": "success", "result": response(output="x")}, Outcome.SUCCEEDED, None),
        ({"status": "success", "result": response(error="odd")}, Outcome.SUCCEEDED, None),
        ({"status": "error", "result": response(error="No file.")}, Outcome.FAILED, "No file."),
        ({"status": "error", "result": response(error={"message": "m"})}, Outcome.FAILED, "m"),
        ({"status": "error", "result": [1, {}], "resultDisplay": "No."}, Outcome.FAILED, "No."),
        ({"status": "error", "resultDisplay": ""}, Outcome.FAILED, None),
        ({"status": "error", "resultDisplay": {}}, Outcome.FAILED, None),
        ({"status": "cancelled", "result": response(error=DENIED)}, Outcome.REJECTED, DENIED),
        ({"status": "cancelled", "result": response(error=STOPPED)}, Outcome.CANCELLED, STOPPED),
        ({"status": "executing"}, Outcome.UNFINISHED, None),
        ({"status": "awaiting_approval"}, Outcome.UNFINISHED, None),
        ({"status": "odd"}, Outcome.RETURNED, "unknown status odd"),
        ({"status": []}, Outcome.RETURNED, "unknown status an array"),
    ]
    for fields, outcome, error in cases:
        with case((fields, outcome)):
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


def test_the_time_of_a_line() -> None:
    """A line is as late as its latest call; a rewind has no time."""
    cases: list[tuple[dict[str, Any], int | None]] = [
        (START, 1795302517292),
        (answer("A", "a1"), 1795302517292),
        (answer("A", "a1", call(), call(timestamp=AT)), LATER_MS),
        ({"$set": {"lastUpdated": LATER}}, LATER_MS),
        ({"$rewindTo": "x"}, None),
    ]
    for line, at_ms in cases:
        with case(line):
            times = [
                event.at_ms
                for event in Decoder(AGENT).decode(json.dumps(line).encode())
                if type(event) is LineTime
            ]
            assert times == ([] if at_ms is None else [at_ms])


TAIL = "\nProcess Group PGID: 1328\n</untrusted_context>"


def test_a_command_that_failed_has_its_exit_code() -> None:
    """Its status is `success`; the text for the model names the exit code after the output."""
    for output, shown, outcome, code in (
        (f"<untrusted_context>\nOutput: oops\nExit Code: 3{TAIL}", "oops", Outcome.FAILED, 3),
        ("Output: oops\nExit Code: 1", "oops", Outcome.FAILED, 1),
        (f"<untrusted_context>\nOutput: oops{TAIL}", "oops", Outcome.SUCCEEDED, None),
        (f"Output: a\nExit Code: 3{TAIL}", "a\nExit Code: 3", Outcome.SUCCEEDED, None),
        (f"Output: Exit Code: 3{TAIL}", "Exit Code: 3", Outcome.SUCCEEDED, None),
        (f"Output: a\nExit Code: x{TAIL}", "a", Outcome.SUCCEEDED, None),
    ):
        with case(output):
            response = {"functionResponse": {"response": {"output": output}}}
            call = {"id": "c", "name": "run_shell_command", "args": {"command": "x"}, "result": [response]}
            [ended] = call_events(call_of({**call, "status": "success", "resultDisplay": shown}), "")
            assert isinstance(ended, ToolEnded)
            assert (ended.outcome, ended.exit_code) == (outcome, code)


ARGUMENTS = FieldsBlock("arguments", {"pattern": "*"})


def blocks(line: dict[str, Any]) -> list[Block]:
    """Return the blocks of the call `c-1`."""
    return list(AGENT.blocks(line, "c-1"))


def of_call(**fields: Any) -> list[Block]:
    """Return the blocks of a call in an answer with another call."""
    return blocks(answer("", "a1", call("c-0"), call(**fields)))


def test_a_change_of_a_file_is_drawn_once() -> None:
    """The diff of the result replaces the texts in the arguments."""
    shown = {"fileDiff": "@@ -1 +1 @@\n-x\n+y", "originalContent": "x", "newContent": "y"}
    arguments = {"file_path": "a", "old_string": "x", "new_string": "y"}
    done = response(output="Edited.")
    assert of_call(name="replace", args=arguments, resultDisplay=shown, result=done) == [
        FieldsBlock("arguments", {"file_path": "a"}),
        ChangeBlock(shown["fileDiff"], "x", "y"),
        TextBlock("message", "Edited."),
    ]
    odd = {"fileDiff": "@@", "originalContent": None, "newContent": 1}
    assert ChangeBlock("@@", None, None) in of_call(name="replace", args={}, resultDisplay=odd)


def test_a_command_has_its_output() -> None:
    """What the agent showed is the output; without it, what the model was given."""
    given = response(output="Output: x\nExit Code: 1")
    assert of_call(name="run_shell_command", resultDisplay="x", result=given)[1:] == [
        OutputBlock("stdout", "x")
    ]
    terminal = [[{"text": "a"}, {"text": "b"}], [{"text": "c"}], [], 1]
    assert of_call(name="run_shell_command", resultDisplay=terminal)[1:] == [OutputBlock("stdout", "ab\nc")]
    assert of_call(name="run_shell_command", resultDisplay="", result=given)[1:] == [
        OutputBlock("stdout", "Output: x\nExit Code: 1")
    ]


def test_a_result_has_its_text() -> None:
    """What the model was given is shown before the agent's summary of it."""
    cases: list[tuple[dict[str, Any], Block]] = [
        ({"result": response(output="x"), "resultDisplay": "Found 1."}, ContentBlock("x")),
        ({"result": response(content=[{"text": "x"}])}, ContentBlock("x")),
        ({"result": [*response(output="x"), {"text": "y"}]}, ContentBlock("x\ny")),
        ({"resultDisplay": "Found 1."}, ContentBlock("Found 1.")),
        ({"status": "error", "result": response(error="No.")}, ErrorBlock("No.")),
    ]
    for fields, expected in cases:
        with case(fields):
            assert of_call(**fields) == [ARGUMENTS, expected]


def test_a_result_may_be_empty() -> None:
    """A call without a result has its arguments."""
    assert of_call() == of_call(resultDisplay={}) == [ARGUMENTS]


def test_an_image_is_named_and_not_dumped() -> None:
    """Data in a result has a type and a size."""
    data = [{"inlineData": {"mimeType": "image/png", "data": "QUJD"}}]
    assert of_call(result=data) == [ARGUMENTS, BinaryBlock("image/png", 3)]


def test_a_to_do_list_is_a_plan() -> None:
    """The entries are drawn with their states."""
    [plan] = of_call(name="write_todos", args={"todos": [{"description": "a"}]})
    assert isinstance(plan, PlanBlock)


def test_a_call_is_found_among_all_messages() -> None:
    """The line that replaces all messages may be the one that ends a call."""
    assert blocks(replaced(answer("", "a0"), answer("", "a1", call()))) == [ARGUMENTS]
    assert blocks(answer("", "a1", call("other"))) == []


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


def test_each_line_is_recognised() -> None:
    """Each type of line is recognised by its own keys, so that a file without its head is read too."""
    cases: list[dict[str, Any]] = [START, *ONE, replaced(), {"$rewindTo": "x"}, message("error", "x")]
    for line in cases:
        with case(line):
            assert detect(line, is_first=False) is AGENT


def test_a_line_of_another_agent_is_not_recognised() -> None:
    """A line with another agent's fields, or without Gemini's, is not Gemini's."""
    cases: list[dict[str, Any]] = [
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
    ]
    for line in cases:
        with case(line):
            assert not AGENT.recognises(line)


def test_each_line_has_a_role() -> None:
    """The first line and a prompt start a run, an answer with calls is a call."""
    lines = [START, ONE[0], answer("", "a1", call()), ONE[1], replaced()]
    start, other = LineRole.START, LineRole.OTHER
    assert [AGENT.role(line) for line in lines] == [start, start, LineRole.CALL, other, other]


@pytest.mark.system
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
