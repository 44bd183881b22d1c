"""The questions to the user that the action log contains, and their answers."""

from __future__ import annotations

import pytest

from agentwatch.session.call import Place
from agentwatch.session.events import Event, Permission, Prompt, RunStarted
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session

START: list[Event] = [RunStarted("x"), Prompt("Do it.")]
ASKED = Permission("Bash", None, key="q", call_id="c", target="rm -rf build")


def made(*events: Event, seen_ms: int | None = 5_000) -> Session:
    """Return the session with these events applied."""
    read = Session()
    for event in [*START, *events]:
        apply_line(read, [event], Place(0, 1, seen_ms))
    return read


def test_a_question_that_is_asked_again_counts_once() -> None:
    """A repeated line of the same question is not another question."""
    read = made(ASKED, ASKED, ASKED._replace(key="r"))
    assert (read.asked.count, len(read.asked), len(read.asked.said)) == (2, 2, 2)


def test_most_64_questions_are_open() -> None:
    """The oldest is dropped, so that a stream of questions without answers does not fill the memory."""
    read = made(*(ASKED._replace(key=f"{number}", target=f"{number}") for number in range(70)))
    oldest = read.asked.oldest
    assert oldest is not None
    assert (len(read.asked), read.asked.count, oldest.words) == (64, 70, "Bash 6")


@pytest.mark.parametrize(
    ("asked_ms", "answered_ms", "seen_ms", "words"),
    [
        (1_000, 15_900, 5_000, "approved after 14 s: Bash rm -rf build"),
        (None, 15_900, 5_000, "approved after 0 s: Bash rm -rf build"),
        (9_000, 1_000, None, "approved: Bash rm -rf build"),
        (None, None, None, "approved: Bash rm -rf build"),
    ],
)
def test_the_time_until_the_answer(
    asked_ms: int | None, answered_ms: int | None, seen_ms: int | None, words: str
) -> None:
    """It is measured by one clock, the agent's or else that of the arrival, and left out if unknown."""
    answer = ASKED._replace(answer="approved", at_ms=answered_ms)
    read = made(ASKED._replace(at_ms=asked_ms), answer, seen_ms=seen_ms)
    assert read.asked.said[-1].words == words


def test_the_log_of_questions_is_bounded() -> None:
    """Only the first 10,000 questions are kept for the log; their number is still counted."""
    read = made(*(ASKED._replace(key=f"{number}") for number in range(10_009)))
    assert (len(read.asked.said), read.asked.count) == (10_000, 10_009)
