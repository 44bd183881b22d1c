"""The permissions that the agent asks for and that nobody has answered yet."""

from typing import NamedTuple

from agentwatch.session.call import Place, bounded, bounded_id
from agentwatch.session.events import Permission
from agentwatch.session.rules import (
    add_question,
    answered_at_ms,
    asks_user,
    end_call,
    question_key,
    question_words,
)

_MOST_OPEN = 64
_MOST_SAID = 10_000


class Question(NamedTuple):
    """A question that is open."""

    words: str
    """What is asked for: `Bash rm -rf build`."""
    call_id: str | None
    place: Place
    """Where the question is in the recording."""
    at_ms: int | None
    """When it was asked, in agent time; None if unknown."""
    until_ms: int | None = None
    """When the agent answers it by itself, by the clock of the arrival times; None if it does not."""


class Said(NamedTuple):
    """A question or an answer, for the action log."""

    ended_calls: int
    """The number of calls that had ended before."""
    run: int
    """The number of the run, counted from 1."""
    words: str
    at_ms: int | None
    """The agent's time, or else the arrival time of the line."""


class Asked:
    """The open questions of a session, oldest first; at most 64."""

    def __init__(
        self,
        said: list[Said] | None = None,
        open_questions: dict[str, Question] | None = None,
        count: int = 0,
    ) -> None:
        self.said = said or []
        """The questions and their answers, in order; the first 10,000."""
        self.open_questions = open_questions or {}
        """By key."""
        self.count = count
        """The number of questions that a person had to answer so far, the open ones included."""

    def __len__(self) -> int:
        return len(self.open_questions)

    @property
    def oldest(self) -> Question | None:
        """The question that has been open for the longest time; None if all are answered."""
        return next(iter(self.open_questions.values()), None)

    def update(self, event: Permission, place: Place, run: int, ended_calls: int) -> None:
        """Add a question, or remove the one that is answered. Automatic ones are ignored."""
        key = bounded_id(question_key(event))
        at_ms = place.seen_ms if event.at_ms is None else event.at_ms
        words = ""
        if event.answer is not None:
            if (asked := self.open_questions.pop(key, None)) is not None:
                words = f"{event.answer}{_waited(asked, event, place)}: {asked.words}"
        elif asks_user(event) and key not in self.open_questions:
            words = f"asks: {question_words(event)}"
        if words and len(self.said) < _MOST_SAID:
            self.said.append(Said(ended_calls, run, bounded(words) or "", at_ms))
        if asks_user(event):
            self.count += key not in self.open_questions
            call_id = event.call_id and bounded_id(event.call_id)
            words = bounded(question_words(event)) or ""
            until_ms = answered_at_ms(event, event.at_ms if place.seen_ms is None else place.seen_ms)
            asked = Question(words, call_id, place, event.at_ms, until_ms)
            add_question(self.open_questions, key, asked, _MOST_OPEN)

    def call_ended(self, call_id: str) -> None:
        """Remove the questions about a call that has ended, whether or not an answer was seen."""
        if self.open_questions:
            self.open_questions = end_call(self.open_questions, call_id)

    def clear(self) -> None:
        """Remove all questions: the run has ended."""
        self.open_questions.clear()


def _waited(asked: Question, event: Permission, place: Place) -> str:
    """Return ` after 14 s` for the time until the answer, by one clock; empty if it is unknown."""
    for start_ms, end_ms in ((asked.at_ms, event.at_ms), (asked.place.seen_ms, place.seen_ms)):
        if start_ms is not None and end_ms is not None and end_ms >= start_ms:
            return f" after {(end_ms - start_ms) // 1000} s"
    return ""
