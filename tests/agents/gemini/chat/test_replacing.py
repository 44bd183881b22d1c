"""All messages of a chat may be replaced, and some removed; facts about the session may change."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents.gemini.agent import CHAT as AGENT
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.formats.gemini_chat import (
    CONTEXT,
    CONTEXT_TEXT,
    ONE,
    START,
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
from tests.builders.formats.wrong_types import outcomes, read


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
