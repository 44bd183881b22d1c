"""All messages of a chat may be replaced, and some removed; facts about the session may change."""

from __future__ import annotations

import pytest

from agentwatch.agents.gemini.agent import CHAT as AGENT
from tests.builders.formats.gemini_chat import (
    CONTEXT,
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
