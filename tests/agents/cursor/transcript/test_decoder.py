"""Prompts, texts and turns in a transcript of Cursor."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents import LineRole
from agentwatch.agents.cursor.transcript import user_words
from agentwatch.agents.cursor.transcript_recognition import recognises, role
from agentwatch.agents.registry import agent_named, agent_on_disk, detect
from agentwatch.session.events import Channel, Event, Outcome, Prompt, Text, TurnEnded, TurnStarted, Unknown
from tests.builders.on_disk.cursor_transcript import (
    Line,
    call,
    called,
    decoded,
    ended,
    line,
    returned,
    said,
    session_of,
    text,
    user,
)
from tests.conftest import case


def of_type(kind: type[Event], *lines: Line) -> list[Any]:
    """Return the events of one type in lines."""
    return [event for event in decoded(*lines) if isinstance(event, kind)]


def test_it_is_the_format_of_cursor_on_disk() -> None:
    """Its stream has another format, with times and results."""
    found = agent_on_disk("cursor")
    assert found is not None
    assert found is agent_named("cursor-transcript")
    assert (found.agent, found.traits.has_times, found.traits.has_result) == ("cursor", False, False)


@pytest.mark.parametrize("words", [user("Go"), said("Done."), called(), returned()])
def test_a_message_is_recognised(words: Line) -> None:
    """Its role stands beside the message."""
    found = detect(words)
    assert found is not None
    assert found.name == "cursor-transcript"


def test_another_line_is_not_recognised() -> None:
    """A line with a type, another role or no parts may be another agent's."""
    cases: list[Line] = [
        {**said("Done."), "type": "assistant"},
        line("system", text("x")),
        line([], text("x")),
        {"role": "user", "content": [text("x")]},
        {"role": "user", "message": {"content": "x"}},
        {"role": "user", "message": []},
        ended(),
    ]
    for fields in cases:
        with case(fields):
            assert not recognises(fields)


def test_a_line_has_its_role() -> None:
    """A prompt begins a run; calls and results are lines of calls."""
    cases: list[tuple[Line, LineRole]] = [
        (user("Go"), LineRole.START),
        (said("Done."), LineRole.OTHER),
        (called(), LineRole.CALL),
        (returned(), LineRole.CALL),
        (ended(), LineRole.OTHER),
    ]
    for fields, expected in cases:
        with case(fields):
            assert role(fields) is expected


def test_a_prompt_is_what_the_user_typed() -> None:
    """What Cursor writes around it is left out."""
    cases: list[tuple[str, str]] = [
        ("List.", "List."),
        ("<user_query>\nList.\n</user_query>", "List."),
        ("<timestamp>Monday</timestamp>\n<user_query>\nList.\n</user_query>", "List."),
        ("<user_query>\nWhat is </user_query>?\n</user_query>\n<x>", "What is </user_query>?"),
        ("<user_query>\ncut", "cut"),
        ("<timestamp>Monday</timestamp>\nList.", "List."),
        ("<timestamp>Monday", "<timestamp>Monday"),
    ]
    for given, expected in cases:
        with case(given):
            assert user_words(given) == expected
            assert of_type(Prompt, line("user", text(given))) == [Prompt(expected)]


def test_a_prompt_may_have_several_parts_or_be_a_text() -> None:
    """Texts are joined; an image says nothing in words, and is no prompt alone."""
    assert of_type(Prompt, line("user", text("a"), {"type": "image"}, text("b"))) == [Prompt("a\nb")]
    assert of_type(Prompt, {"role": "user", "message": {"content": "a"}}) == [Prompt("a")]
    assert decoded(line("user", {"type": "image"})) == []


def test_texts_and_reasoning_are_told_apart() -> None:
    """Reasoning that was left out has a mark, which is not shown."""
    thought = {"type": "thinking", "thinking": "Hm."}
    found = of_type(Text, line("assistant", thought, {"type": "reasoning", "text": "So."}, text("Done.")))
    assert [(each.channel, each.text) for each in found] == [
        (Channel.REASONING, "Hm."),
        (Channel.REASONING, "So."),
        (Channel.ANSWER, "Done."),
    ]
    assert [each.text for each in of_type(Text, said("Done.\n\n[REDACTED]", "[REDACTED]", "a ", ""))] == [
        "Done.",
        "a ",
    ]


def test_newer_versions_end_a_turn() -> None:
    """The line says how it ended, and why it failed."""
    cases: list[tuple[str, Outcome]] = [
        ("success", Outcome.SUCCEEDED),
        ("completed", Outcome.SUCCEEDED),
        ("error", Outcome.FAILED),
        ("aborted", Outcome.CANCELLED),
        ("cancelled", Outcome.CANCELLED),
    ]
    for status, outcome in cases:
        with case(status):
            assert decoded(user("Go"), ended(status, error="no quota"))[1:] == [
                TurnEnded(outcome, "no quota")
            ]


def test_older_versions_do_not_say_that_a_turn_has_ended() -> None:
    """Such a session has no outcome, whatever was answered."""
    session = session_of(user("Go"), said("Done."))
    assert session.run.turn_result is None
    assert session.run.text == "Done."
    assert session.run.turns == 1
    assert session_of(user("Go"), said("a"), user("On"), said("b")).run.turns == 2


def test_a_turn_may_begin_without_a_prompt() -> None:
    """The agent goes on after the end of a turn, as after a background task."""
    found = decoded(user("Go"), ended(), said("More."), ended(), user("On"), said("b"))
    assert [type(each) for each in found if not isinstance(each, Text)].count(TurnStarted) == 1
    assert session_of(user("Go"), ended(), said("More."), ended(), user("On"), said("b")).run.turns == 3


def test_what_is_not_known_is_reported() -> None:
    """An unknown status ends no turn."""
    cases: list[tuple[Line, str]] = [
        ({"type": "weather"}, "type weather"),
        ({}, "type None"),
        (line("system", text("x")), "role system"),
        (line(["user"]), "role an array"),
        (ended("melted"), "status melted"),
        (ended([]), "status an array"),
        (line("user", {"type": "video"}), "content video"),
        (line("assistant", {"type": []}), "content an array"),
        (line("assistant", "x"), "content None"),
    ]
    for fields, what in cases:
        with case(fields):
            assert decoded(fields) == [Unknown(what)]


def test_an_unknown_status_leaves_the_calls_open() -> None:
    """It does not say whether they have ended."""
    assert len(session_of(user("Go"), called(call()), ended("melted")).open_calls) == 1
