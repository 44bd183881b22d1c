"""The result of a turn stays as it was when the next turn began."""

from __future__ import annotations

from agentwatch.session.call import Place
from agentwatch.session.events import (
    Compaction,
    Event,
    Notice,
    Outcome,
    Prompt,
    RunStarted,
    TurnEnded,
    TurnStarted,
)
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from tests.builders.subagents import says

START: list[Event] = [RunStarted("x", "s"), Prompt("One.")]
DONE = TurnEnded(Outcome.SUCCEEDED, "Done.", duration_ms=7)


def made(*events: Event) -> Session:
    """Return the session with these events, whose lines arrived a second apart."""
    read = Session()
    for number, event in enumerate([*START, *events]):
        apply_line(read, [event], Place(number, 1, 1000 * number))
    return read


def notes(read: Session) -> list[str]:
    """Return the notices of the transcript."""
    return [entry.text for entry in read.transcript if entry.kind == "notice"]


def test_a_result_is_compared_with_the_text_of_its_time() -> None:
    """Text that arrives after the result counts until the next turn begins, and not any more after that."""
    result = TurnEnded(Outcome.SUCCEEDED, "ab")
    read = made(*says("a"), result)
    ended = read.run.turn_result
    assert ended is not None
    assert ended.matches_text is False
    for event in says("b"):
        apply_line(read, [event], Place(9, 1, None))
    assert ended.matches_text is True
    for event in (TurnStarted(), *says("c")):
        apply_line(read, [event], Place(9, 1, None))
    assert ended.matches_text is True
    assert read.run.text_matches_result is None


def test_a_forgotten_text_matches_nothing() -> None:
    """Without its text, a result is compared with nothing."""
    ended = made(*says("Done."), DONE).run.turn_result
    assert ended is not None
    assert ended.is_streamed
    ended.forget_text()
    ended.settle()
    assert (ended.text, ended.length, ended.part(0, 9), ended.is_streamed, ended.matches_text) == (
        None,
        0,
        "",
        False,
        None,
    )


def test_the_pauses_between_turns_are_known() -> None:
    """A pause lasts from the arrival of a result to that of the next turn's first line."""
    run = made(DONE, Prompt("Two."), DONE, DONE).run
    assert (run.pauses, run.ended_turns, run.duration_of_turns_ms) == ([(2000, 3000)], 2, 14)


def test_a_compaction_says_how_much_it_saved() -> None:
    """The note has the numbers that the agent gave."""
    over = Compaction(is_over=True, tokens_before=150_000, tokens_after=30_000)
    assert notes(made(over)) == ["context compacted: 150,000 → 30,000 tokens"]
    assert notes(made(Compaction(is_over=True))) == ["context compacted"]


def test_the_last_error_belongs_to_its_turn() -> None:
    """An error is the reason of an ending only until the next turn starts."""
    error = Notice("overloaded", is_error=True)
    assert made(error).last_error == "overloaded"
    assert made(error, TurnStarted()).last_error == ""
