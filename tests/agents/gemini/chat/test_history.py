"""The prompts and answers that later lines may replace: what is kept of them is limited."""

from __future__ import annotations

import pytest

from agentwatch.agents.gemini import chat
from agentwatch.agents.gemini.agent import CHAT as AGENT
from agentwatch.agents.gemini.chat import Entry, History
from agentwatch.session.events import Rewound, Text, TextRetracted
from tests.builders.formats.gemini_chat import START, answer, prompt, replaced
from tests.builders.formats.wrong_types import read


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
