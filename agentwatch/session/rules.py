"""The rules of turns, questions and calls, which a session and the digest of a list both follow: the two
keep different data, a session all of a recording, a digest 2 KB of a file's head and tail."""

from itertools import islice
from typing import NamedTuple, Protocol, TypeVar

from agentwatch.session.call import Place, bounded, bounded_id
from agentwatch.session.events import (
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    PlanStatus,
    Prompt,
    Retry,
    RunInfo,
    TurnEnded,
)
from agentwatch.text.amounts import one_line

BAD_OUTCOMES = (Outcome.FAILED, Outcome.REJECTED)
DONE_ENTRIES = (PlanStatus.COMPLETED, PlanStatus.CANCELLED)
"""The states of a to-do entry on which no work is left."""

_MOST_ENTRIES = 10_000


class OfCall(Protocol):
    @property
    def call_id(self) -> str | None:
        """The call; None for a question about none."""


_Question = TypeVar("_Question", bound=OfCall)


def begins_turn(event: Prompt, *, awaits_prompt: bool) -> bool:
    """Return whether a prompt begins a turn: one of the user, unless the present turn still has no prompt."""
    return event.parent_call is None and not awaits_prompt


def repeats_end(event: TurnEnded, last: Outcome | None) -> bool:
    """Return whether the end of a turn only adds a duration to the end before it. `last` is the outcome of
    the turn that has ended already; None if a turn is open."""
    return last is not None and event == TurnEnded(last, duration_ms=event.duration_ms)


def span_ms(first_ms: int | None, last_ms: int | None) -> int | None:
    """Return the time between the first and the last line; None if unknown, or if both came at once."""
    return None if first_ms is None or last_ms is None or last_ms <= first_ms else last_ms - first_ms


def replaces_title(event: RunInfo, *, is_users_title: bool) -> bool:
    """Return whether an event has a title that replaces the present one: the agent's never the user's."""
    return bool(event.title) and (event.is_users_title or not is_users_title)


def retry_words(event: Retry, message: str) -> str:
    """Return a retry in words: `retry 4 of 10: overloaded`."""
    of_most = "" if event.most_attempts is None else f" of {event.most_attempts}"
    nth = "" if event.attempt is None else f" {event.attempt}{of_most}"
    return f"retry{nth}: {message}" if message else f"retry{nth}"


def question_key(event: Permission) -> str:
    return event.key or event.call_id or event.subject


def asks_user(event: Permission) -> bool:
    return event.answer is None and not event.is_automatic


def answered_at_ms(event: Permission, asked_ms: int | None) -> int | None:
    """Return when the agent answers a question by itself; None if it does not, or if that is unknown."""
    return None if asked_ms is None or event.limit_ms is None else asked_ms + event.limit_ms


def question_words(event: Permission) -> str:
    return f"{event.subject} {one_line(event.target)}" if event.target else event.subject


def add_question(questions: dict[str, _Question], key: str, question: _Question, most: int) -> None:
    """Add a question to those that are open; of more than `most`, the oldest is dropped."""
    questions[key] = question
    if len(questions) > most:
        del questions[next(iter(questions))]


def end_call(questions: dict[str, _Question], call_id: str) -> dict[str, _Question]:
    return {key: each for key, each in questions.items() if each.call_id != call_id}


def planned(before: tuple[PlanEntry, ...], event: Plan) -> tuple[PlanEntry, ...]:
    """Return the to-do list after an event. Entries with the same text are the same entry."""
    by_text = {entry.text: entry for entry in (*(before if event.is_update else ()), *event.entries)}
    return tuple(islice(by_text.values(), _MOST_ENTRIES))


_MOST_OPEN = 64
_MOST_HISTORY = 10_000


class Question(NamedTuple):
    words: str
    """What is asked for: `Bash rm -rf build`."""
    call_id: str | None
    place: Place
    at_ms: int | None
    """When it was asked, in agent time; None if unknown."""
    until_ms: int | None = None
    """When the agent answers it by itself, by the clock of the arrival times; None if it does not."""


class QuestionOrAnswer(NamedTuple):
    """A question or an answer, for the action log."""

    ended_calls: int
    run: int
    words: str
    at_ms: int | None
    """The agent's time, or else the arrival time of the line."""


class OpenQuestions:
    """The open questions of a session, oldest first; at most 64."""

    def __init__(
        self,
        history: list[QuestionOrAnswer] | None = None,
        by_key: dict[str, Question] | None = None,
        count: int = 0,
    ) -> None:
        self.history = history or []
        self.by_key = by_key or {}
        self.count = count
        """The number of questions that a person had to answer so far, the open ones included."""

    def __len__(self) -> int:
        return len(self.by_key)

    @property
    def oldest(self) -> Question | None:
        return next(iter(self.by_key.values()), None)

    def update(self, event: Permission, place: Place, run: int, ended_calls: int) -> None:
        key = bounded_id(question_key(event))
        at_ms = place.seen_ms if event.at_ms is None else event.at_ms
        words = ""
        if event.answer is not None:
            if (asked := self.by_key.pop(key, None)) is not None:
                words = f"{event.answer}{_waited(asked, event, place)}: {asked.words}"
        elif asks_user(event) and key not in self.by_key:
            words = f"asks: {question_words(event)}"
        if words and len(self.history) < _MOST_HISTORY:
            self.history.append(QuestionOrAnswer(ended_calls, run, bounded(words) or "", at_ms))
        if asks_user(event):
            self.count += key not in self.by_key
            call_id = event.call_id and bounded_id(event.call_id)
            words = bounded(question_words(event)) or ""
            until_ms = answered_at_ms(event, event.at_ms if place.seen_ms is None else place.seen_ms)
            asked = Question(words, call_id, place, event.at_ms, until_ms)
            add_question(self.by_key, key, asked, _MOST_OPEN)

    def call_ended(self, call_id: str) -> None:
        """Remove the questions about a call that has ended, whether or not an answer was seen."""
        if self.by_key:
            self.by_key = end_call(self.by_key, call_id)

    def clear(self) -> None:
        self.by_key.clear()


def _waited(asked: Question, event: Permission, place: Place) -> str:
    """Return ` after 14 s` for the time until the answer, by one clock; empty if it is unknown."""
    for start_ms, end_ms in ((asked.at_ms, event.at_ms), (asked.place.seen_ms, place.seen_ms)):
        if start_ms is not None and end_ms is not None and end_ms >= start_ms:
            return f" after {(end_ms - start_ms) // 1000} s"
    return ""
