"""The last answer, retries and compactions in a digest."""

from __future__ import annotations

from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Outcome,
    Prompt,
    Retry,
    Text,
    TextEnded,
    TextRetracted,
    TurnEnded,
)
from tests.catalog.digest.made_events import after, said, started


def test_a_retry_lasts_until_the_next_text_or_call() -> None:
    """Its words have its number, if that is known."""
    assert after(Retry("overloaded", 4, 10)).retry == "retry 4 of 10: overloaded"
    assert after(Retry("", 4)).retry == "retry 4"
    assert after(Retry("")).retry == "retry"
    for event in (*said("x")[:1], started(), TurnEnded(Outcome.FAILED)):
        assert after(Retry("overloaded"), event).retry == ""


def test_a_compaction_lasts_until_its_end_or_that_of_the_turn() -> None:
    """While it lasts, the agent says nothing."""
    begun = Compaction(is_over=False)
    assert after(begun).is_compacting
    assert not after(begun, Compaction(is_over=True)).is_compacting
    assert not after(begun, TurnEnded(Outcome.SUCCEEDED)).is_compacting


def test_the_last_text_is_the_end_of_the_last_answer() -> None:
    """Pieces of one text are joined; thoughts and subagents are left out."""
    pieces: list[Event] = [
        Text(Channel.ANSWER, "All "),
        Text(Channel.ANSWER, "pass."),
        TextEnded(Channel.ANSWER),
    ]
    assert after(*said("First."), *pieces).last_text == "All pass."
    assert after(*pieces, *said("Hm", Channel.REASONING), *said("No", agent="c")).last_text == "All pass."
    assert after(*pieces[:1], started(), *pieces[1:]).last_text == "pass."
    assert after(*pieces[:1], Prompt("Go"), *pieces[1:]).last_text == "pass."
    assert after(*pieces[:1], *said("Hm", Channel.REASONING), *pieces[1:]).last_text == "pass."
    assert after(*pieces[:1], started(agent="c"), *pieces[1:]).last_text == "All pass."
    assert after(Text(Channel.ANSWER, "a" * 1000 + "end")).last_text.endswith("aend")


def test_a_text_that_is_taken_back_is_not_shown() -> None:
    """What follows replaces it."""
    assert after(Text(Channel.ANSWER, "No"), TextRetracted(2)).last_text == ""
    assert after(Text(Channel.ANSWER, "No"), TextRetracted(0)).last_text == "No"
    assert after(Text(Channel.ANSWER, "No"), TextRetracted(2), *said("Yes")).last_text == "Yes"
