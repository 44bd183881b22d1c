"""Gemini's chat files: messages, calls, replaced history, blocks."""

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
from tests.builders.agents.decoded import outcomes, session_of
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
from tests.conftest import case


def test_a_chat_has_its_facts() -> None:
    """The first line, the context and the messages make the run."""
    found = whole(replaced(CONTEXT), *ONE, answer("B", "a2", model="pro", tokens=TOKENS))
    run = found.run
    assert (run.session_id, run.cwd, run.model, run.prompt) == ("s-1", "/home/dev/proj", "pro", "Ask.")
    assert facts(found) == ("AB", 1, "succeeded")
    assert (run.tokens.input, run.tokens.cached, run.tokens.output) == (1000, 400, 25)
    # The context, a summary and the results of calls start no turn; the files that a prompt names are no
    # part of it. What the user ran is shown once.
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
    further: list[tuple[dict[str, Any], str]] = [
        ({"content": "Ask."}, "Ask."),
        ({"content": ["As", {"text": "k."}, 1]}, "Ask."),
        ({"content": {"text": "Ask."}}, "Ask."),
        ({"content": "@a\n--- Content from referenced files ---\nx"}, "@a"),
        ({"content": "@a with content", "displayContent": "@a"}, "@a"),
        ({"content": f"{CONTEXT_TEXT}\nAsk."}, "Ask."),
    ]
    for fields, text in further:
        with case(fields):
            assert whole(ONE[0] | fields).run.prompt == text
    line = message("user", "I ran the following shell command:\n```sh\nls\n```\n", "x")
    assert notes(whole(line, line)) == ["you ran ls"]
    assert notes(whole(message("user", "I ran the following shell command:", ""))) == ["you ran "]
    # The context may be before the prompt in the same message; the words of a user name no folder. The id
    # and the folders may come later; a first line with another session begins another run.
    assert whole(ONE[0] | {"content": f"{CONTEXT_TEXT}\nAsk."}).run.cwd == "/home/dev/proj"
    assert whole(ONE[0] | {"content": "Workspace Directories:\n  - /elsewhere"}).run.cwd is None
    for text in ["<session_context>", "<session_context>Workspace Directories:\n\n x"]:
        with case(text):
            assert whole(message("user", text, "x")).run.cwd is None
    found = whole({"$set": {"sessionId": "s-2"}}, {"$set": {"directories": ["/a/", "/b"]}}, CONTEXT)
    assert (found.run.session_id, found.run.cwd) == ("s-2", "/a/")
    assert whole({"$set": {"sessionId": "s-1", "summary": "x"}}).run.session_id == "s-1"
    assert whole(START | {"directories": ["/a"]}).run.cwd == "/a"
    assert session_of(AGENT, START | {"directories": [1, "/a"], "kind": "subagent"}).run.cwd == "/a"
    assert len(whole(*ONE, START, *TWO).runs) == 1
    found = whole(*ONE, START | {"sessionId": "s-2"}, *ONE)
    assert [(run.session_id, run.text, run.outcome) for run in found.runs] == [
        ("s-1", "A", "succeeded"),
        ("s-2", "A", "succeeded"),
    ]


def entry(key: str, text: str, *, is_prompt: bool = False) -> Entry:
    return Entry.of(key, text, is_prompt=is_prompt)


def test_the_entries_that_are_kept_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest entries are forgotten, and the others keep their places. An answer with many after it is
    not replaced.
    """
    monkeypatch.setattr(chat, "_MOST_CHARACTERS", 4)
    found = History()
    for key in ("a", "b", "c"):
        found.add(entry(key, key * 2))
    assert found.put(2, entry("c", "x")) == [TextRetracted(2), *entry_events("x")]
    assert found.put(0, entry("a", "x"))[0] == TextRetracted(5)
    found.add(entry("d", "dddd"))
    assert found.put(0, entry("a", "y")) == []
    monkeypatch.setattr(chat, "_MOST_REWRITTEN", 2)
    found = History()
    for key in ("a", "b", "c"):
        found.add(entry(key, key))
    assert found.put(0, entry("a", "x")) == []
    assert [type(event) for event in found.put(1, entry("b", "x"))][:2] == [TextRetracted, Text]
    monkeypatch.setattr(chat, "_MOST_MESSAGES", 4)
    monkeypatch.setattr(chat, "_DROPPED_AT_ONCE", 2)
    found = History()
    for key in ("a", "b", "", "d", "e"):
        found.add(entry(key, f"text {key}"))
    assert (len(found), found.is_complete) == (3, False)
    assert [found.find(key) for key in ("a", "b", "", "d", "e")] == [None, None, None, 1, 2]
    assert found.cut(1) == [TextRetracted(12)]
    assert found.ends_in_answer
    monkeypatch.setattr(chat, "_MOST_MESSAGES", 2)
    monkeypatch.setattr(chat, "_DROPPED_AT_ONCE", 1)
    found = History()
    for key in ("a", "b", "a"):
        found.add(entry(key, key))
    assert found.find("a") == 1
    monkeypatch.setattr(chat, "_MOST_MESSAGES", 2)
    monkeypatch.setattr(chat, "_DROPPED_AT_ONCE", 1)
    lines = [prompt("Ask.", "p1"), answer("A", "a1"), answer("B", "a2")]
    ended = session_of(AGENT, START, *lines, replaced(*lines))
    assert (ended.text, ended.run.turns) == ("AB", 1)
    monkeypatch.setattr("agentwatch.agents.gemini.chat._MOST_CALLS", 1)
    monkeypatch.setattr("agentwatch.agents.gemini.chat._MOST_MESSAGES", 1)
    calls = [{"id": key, "name": "glob", "status": "success"} for key in ("a", "b")]
    lines = [answer("", "m1", *calls), answer("", "m2"), answer("", "m1", *calls)]
    seen = session_of(AGENT, START, *lines)
    assert [(call.call_id, call.outcome) for call in seen.calls] == [("a", "succeeded"), ("b", "succeeded")]


def entry_events(text: str) -> list[object]:
    return list(History().add(entry("", text)))


def test_messages_are_replaced() -> None:
    """A message that is written again is read for what is new, and those that are missing are removed."""
    # An answer is written without its calls, and again with them: what is new in the copy counts, and its
    # text replaces the first. A copy of a prompt or a notice adds nothing.
    first = answer("A", "a1", tokens=TOKENS, thoughts=[{"subject": "Plan", "description": "d"}])
    found = whole(prompt("Ask.", "p1"), first, first | {"toolCalls": [call()]}, answer("B", "a2"))
    assert facts(found) == ("AB", 1, "succeeded")
    assert found.run.tokens.input == 1000
    assert [str(entry.content) for entry in found.transcript if entry.kind == "reasoning"] == ["Plan\n\nd"]
    assert outcomes(found) == {"c-1": "succeeded"}
    assert sum(entry.kind == "result" for entry in found.transcript) == 1
    thoughts = [{"description": "a"}, {"subject": "b"}, 1]
    first = answer("A", "a1", tokens=None, thoughts=thoughts[:1])
    more = TOKENS | {"input": 1500}
    found = whole(*ONE[:1], first, first | {"tokens": TOKENS}, first | {"tokens": more, "thoughts": thoughts})
    assert (found.run.tokens.input, found.run.tokens.output) == (1500, 25)
    assert [str(entry.content) for entry in found.transcript if entry.kind == "reasoning"] == ["a", "b"]
    assert facts(whole(*ONE, answer("AA", "a1")))[0] == "AA"
    assert facts(whole(*ONE, *TWO, answer("AA", "a1")))[0] == "AAB"
    assert facts(whole(*ONE[:1], answer("", "a1"), answer("A", "a1")))[0] == "A"
    assert facts(whole(ONE[0], ONE[0] | {"content": "Other"}, ONE[1])) == ("A", 1, "succeeded")
    assert notes(whole(message("info", "hi", "i"), message("info", "hi", "i"))) == ["hi"]
    assert notes(whole(message("warning", "", "", displayContent="hi"))) == ["hi"]
    lines = [ONE[0], answer("A", "a1", call("a")), answer("B", "a2", call("b")), answer("C", "a3")]
    for again in (lines[1], lines[2], lines[3]):
        found = whole(*lines, again)
        assert (found.text, outcomes(found)) == ("ABC", {"a": "succeeded", "b": "succeeded"})
    # A message that changes its author changes nothing, an empty answer has no events, and long ids are
    # compared whole. A cut counts prompts, and the characters before the first of them.
    later_found = History()
    later_found.add(entry("a", "x", is_prompt=True))
    assert later_found.put(0, entry("a", "y")) == []
    assert later_found.put(0, entry("a", "y", is_prompt=True)) == []
    assert entry_events("") == []
    further_found = History()
    further_found.add(entry("a", ""))
    assert type(next(iter(further_found.put(0, entry("a", "x"))))) is Text
    lines = [answer("A", "x" * 200 + "a"), answer("B", "x" * 200 + "b"), answer("A", "x" * 200 + "a")]
    assert session_of(AGENT, START, *lines).text == "AB"
    other_found = History()
    for key, is_prompt in (("a", True), ("b", False), ("c", True), ("d", False)):
        other_found.add(entry(key, key, is_prompt=is_prompt))
    assert other_found.cut(4) == []
    assert other_found.cut(1) == [Rewound(1), TextRetracted(1)]
    assert other_found.cut(0) == []
    # Messages that are the same, also as parts, stay; others are removed, and new ones and their calls
    # are read. The prompt of a request that failed, and what a summary replaces, stay.
    assert facts(whole(*ONE, *TWO, replaced(*ONE, *TWO))) == ("AB", 2, "succeeded")
    assert facts(whole(*ONE, *TWO, replaced(*ONE))) == ("A", 1, "succeeded")
    assert facts(whole(*ONE, *TWO, replaced(*TWO))) == ("B", 1, "succeeded")
    assert facts(whole(*ONE, *TWO, replaced(ONE[0], answer("C", "a9")))) == ("C", 1, "succeeded")
    assert facts(whole(*ONE, replaced(ONE[0]))) == ("", 1, "unfinished")
    assert facts(whole(*ONE, replaced(answer("C", "a9"), *ONE))) == ("CA", 1, "succeeded")
    assert facts(whole(replaced(*ONE), *TWO)) == ("AB", 2, "succeeded")
    assert facts(whole(*ONE, replaced())) == ("", 0, "unfinished")
    parts = [{"text": "Hm", "thought": True}, {"text": " A\n"}, {"functionCall": {"name": "glob"}}]
    with_calls = answer("A", "a1", call())
    results = message("user", response(output="x"), "r")
    lines = [ONE[0], with_calls, results, answer("B", "a2"), message("info", "hi", "i")]
    found = whole(*lines, replaced(ONE[0], with_calls | {"content": parts}, results, answer("B", "a2")))
    assert facts(found) == ("AB", 1, "succeeded")
    assert len(found.calls) == 1
    assert notes(found) == ["hi"]
    found = whole(*ONE, replaced(ONE[0], answer("A", "a1", call())))
    assert outcomes(found) == {"c-1": "succeeded"}
    assert facts(found) == ("A", 1, "unfinished")
    lines = [*ONE, prompt("Fail.", "p2"), replaced(*ONE)]
    assert facts(whole(*lines)) == ("A", 2, "unfinished")
    found = whole(*lines, message("error", "API Error", "e"))
    assert facts(found) == ("A", 2, "failed")
    assert notes(found) == ["API Error"]
    assert facts(whole(*lines[:3], message("error", "x", "e"), lines[3])) == ("A", 2, "failed")
    summary = message("user", "<state_snapshot>short</state_snapshot>", "sum")
    got_it = answer("Got it.", "ok")
    found = whole(*ONE, *TWO, replaced(summary, got_it, *TWO), prompt("C?", "p3"), answer("C", "a3"))
    assert facts(found) == ("ABC", 3, "succeeded")
    assert notes(found) == ["context compacted"]
    again = replaced(summary, got_it, *TWO)
    assert facts(whole(*ONE, *TWO, again, again))[:2] == ("AB", 2)
    resumed = whole(replaced(summary, got_it, *TWO))
    assert facts(resumed) == ("Got it.B", 1, "succeeded")
    # What a resumed session sets has the context too; the same prompt after it is another turn.
    found = whole(replaced(CONTEXT), *ONE, replaced(CONTEXT, *ONE), prompt("Ask.", "p9"))
    assert facts(found) == ("A", 2, "unfinished")
    found = whole(replaced(CONTEXT), *ONE, replaced(CONTEXT, *ONE, prompt("Ask.", "p9"), answer("B", "a9")))
    assert facts(found) == ("AB", 2, "succeeded")


def prompts(found: Session) -> list[str]:
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


def test_a_turn_has_its_outcome_and_may_be_taken_back() -> None:
    """An answer ends a turn, and a cancelled one stays."""
    # An answer without calls ends a turn well, once; an error, whose message is cut, ends it badly.
    # Unknown messages are counted.
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
    found = whole(*ONE, message("error", "x", "e"), *TWO)
    assert facts(found) == ("AB", 2, "succeeded")
    assert sum(entry.kind == "result" for entry in found.transcript) == 2
    cancelled = answer("A", "a1", call(status="cancelled"))
    found = whole(ONE[0], cancelled, message("info", "Request cancelled.", "i"), cancelled)
    assert sum(entry.kind == "result" for entry in found.transcript) == 1
    assert whole(ONE[0], cancelled, TWO[0], cancelled).outcome == "unfinished"
    found = whole(ONE[0], message("error", [{"text": "x" * 50_000}], "e"))
    assert found.run.result == found.last_error == "x" * 4095 + "…"
    assert whole(ONE[0], message("error", "", "e")).run.result is None
    assert whole(message("weather", "x")).lines.unknown == 1
    assert whole({"$patch": {}}).lines.unknown == 1
    assert whole({"type": "model", "id": "x", "parts": [{"text": "Ok"}], "timestamp": AT}).text == "Ok"
    # After Esc, all messages before that turn are recorded again without it; the first that differs, and
    # all after it, are new. A rewind removes the message and those after it.
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
    found = whole(CONTEXT, *ONE, *recorded_again("Ask.", "A", "More.", "B")[:-1])
    assert facts(found) == ("AB", 2, "succeeded")
    found = whole(CONTEXT, *ONE, *recorded_again("Other.", "A")[:-1])
    assert facts(found) == ("AA", 2, "unfinished")
    cancelled = message("info", "Request cancelled.", "i")
    assert facts(whole(*ONE, *TWO, cancelled, replaced())) == ("", 0, "cancelled")
    assert facts(whole(*ONE, cancelled, replaced(*ONE))) == ("A", 1, "cancelled")
    assert facts(whole(*ONE, *TWO, cancelled, replaced(*ONE, TWO[0]))) == ("AB", 2, "cancelled")
    assert facts(whole(*ONE, *TWO, {"$rewindTo": "p2"})) == ("A", 1, "succeeded")
    assert facts(whole(*ONE, *TWO, {"$rewindTo": "a2"})) == ("A", 2, "unfinished")
    assert facts(whole(*ONE, *TWO, {"$rewindTo": "p2"}, *TWO)) == ("AB", 2, "succeeded")
    assert facts(whole(*ONE, *TWO, {"$rewindTo": "gone"})) == ("", 0, "unfinished")
    assert facts(whole(*ONE, {"$rewindTo": "p1"}, *TWO)) == ("B", 1, "succeeded")
    assert facts(whole({"$rewindTo": "p1"})) == ("", 0, "unfinished")
    assert facts(whole(ONE[0], answer("x", "a0", call()), ONE[1], {"$rewindTo": "a1"}))[0] == "x"


DENIED = "[Operation Cancelled] Reason: User denied execution."
STOPPED = "[Operation Cancelled] Reason: User cancelled tool execution."


def test_a_call_has_its_outcome_and_facts() -> None:
    """The agent's own status counts, and the result has the facts."""
    # The agent's own status counts, unless its reason is the user's refusal; without one nothing is
    # invented. The text for the model names the exit code.
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
    line = call()
    del line["status"]
    [found] = whole(answer("", "a1", line | {"resultDisplay": "x"})).calls
    assert (found.outcome, found.error) == (Outcome.RETURNED, "came back without a status")
    lines = [answer("", "a1", call(status=status)) for status in ("scheduled", "executing", "success")]
    seen = whole(ONE[0], *lines)
    assert outcomes(seen) == {"c-1": "succeeded"}
    assert seen.completed_without_started == seen.never_completed == 0
    for output, shown, outcome, code in (
        (f"<untrusted_context>\nOutput: oops\nExit Code: 3{TAIL}", "oops", Outcome.FAILED, 3),
        ("Output: oops\nExit Code: 1", "oops", Outcome.FAILED, 1),
        (f"<untrusted_context>\nOutput: oops{TAIL}", "oops", Outcome.SUCCEEDED, None),
        (f"Output: a\nExit Code: 3{TAIL}", "a\nExit Code: 3", Outcome.SUCCEEDED, None),
        (f"Output: Exit Code: 3{TAIL}", "Exit Code: 3", Outcome.SUCCEEDED, None),
        (f"Output: a\nExit Code: x{TAIL}", "a", Outcome.SUCCEEDED, None),
    ):
        with case(output):
            given = {"functionResponse": {"response": {"output": output}}}
            made = {"id": "c", "name": "run_shell_command", "args": {"command": "x"}, "result": [given]}
            [ended] = call_events(call_of({**made, "status": "success", "resultDisplay": shown}), "")
            assert isinstance(ended, ToolEnded)
            assert (ended.outcome, ended.exit_code) == (outcome, code)
    # A change is a diff with the path relative to the folder, a to-do list is the plan, and a line is as
    # late as its latest call.
    other_shown = {"fileDiff": "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y", "originalContent": "x"}
    line = call(name="replace", args={"file_path": "/home/dev/proj/a"}, resultDisplay=other_shown)
    [found] = whole(CONTEXT, answer("", "a1", line)).calls
    assert (found.target, found.path, found.lines_added) == ("a", "/home/dev/proj/a", 1)
    assert (found.phrase, found.ended_ms, found.started_ms) == ("Edited file", LATER_MS, None)
    todos = {"todos": [{"description": "a", "status": "pending"}]}
    assert len(whole(answer("", "a1", call(name="write_todos", args=todos))).plan) == 1
    assert whole(answer("", "a1", call(name="write_todos", args=todos, status="error"))).plan == ()
    further: list[tuple[dict[str, Any], int | None]] = [
        (START, 1795302517292),
        (answer("A", "a1"), 1795302517292),
        (answer("A", "a1", call(), call(timestamp=AT)), LATER_MS),
        ({"$set": {"lastUpdated": LATER}}, LATER_MS),
        ({"$rewindTo": "x"}, None),
    ]
    for line, at_ms in further:
        with case(line):
            times = [
                event.at_ms
                for event in Decoder(AGENT).decode(json.dumps(line).encode())
                if type(event) is LineTime
            ]
            assert times == ([] if at_ms is None else [at_ms])


TAIL = "\nProcess Group PGID: 1328\n</untrusted_context>"


ARGUMENTS = FieldsBlock("arguments", {"pattern": "*"})


def blocks(line: dict[str, Any]) -> list[Block]:
    """Return the blocks of the call `c-1`."""
    return list(AGENT.blocks(line, "c-1"))


def of_call(**fields: Any) -> list[Block]:
    """Return the blocks of a call in an answer with another call."""
    return blocks(answer("", "a1", call("c-0"), call(**fields)))


def test_a_call_has_its_blocks() -> None:
    """The diff of the result replaces the texts in the arguments; what was shown, or what the model was
    given, is the output. Data has a type and a size.
    """
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
    given = response(output="Output: x\nExit Code: 1")
    assert of_call(name="run_shell_command", resultDisplay="x", result=given)[1:] == [
        OutputBlock("stdout", "x")
    ]
    terminal = [[{"text": "a"}, {"text": "b"}], [{"text": "c"}], [], 1]
    assert of_call(name="run_shell_command", resultDisplay=terminal)[1:] == [OutputBlock("stdout", "ab\nc")]
    assert of_call(name="run_shell_command", resultDisplay="", result=given)[1:] == [
        OutputBlock("stdout", "Output: x\nExit Code: 1")
    ]
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
    assert of_call() == of_call(resultDisplay={}) == [ARGUMENTS]
    data = [{"inlineData": {"mimeType": "image/png", "data": "QUJD"}}]
    assert of_call(result=data) == [ARGUMENTS, BinaryBlock("image/png", 3)]
    [plan] = of_call(name="write_todos", args={"todos": [{"description": "a"}]})
    assert isinstance(plan, PlanBlock)
    assert blocks(replaced(answer("", "a0"), answer("", "a1", call()))) == [ARGUMENTS]
    assert blocks(answer("", "a1", call("other"))) == []


def test_a_line_is_recognised_and_has_its_role() -> None:
    """Each type has its own keys; a line without Gemini's fields is not Gemini's. The first line and a
    prompt start a run.
    """
    cases: list[dict[str, Any]] = [START, *ONE, replaced(), {"$rewindTo": "x"}, message("error", "x")]
    for line in cases:
        with case(line):
            assert detect(line, is_first=False) is AGENT
    further: list[dict[str, Any]] = [
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
    for line in further:
        with case(line):
            assert not AGENT.recognises(line)
    lines = [START, ONE[0], answer("", "a1", call()), ONE[1], replaced()]
    start, other = LineRole.START, LineRole.OTHER
    assert [AGENT.role(line) for line in lines] == [start, start, LineRole.CALL, other, other]
