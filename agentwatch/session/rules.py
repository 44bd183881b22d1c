"""The rules of turns, questions, retries and calls. A session and the digest of a list both follow them.

The two keep different data: a session all of a recording, a digest 2 KB of a file's head and tail. What an
event means is decided here, once.
"""

from __future__ import annotations

from itertools import islice
from typing import Protocol, TypeVar

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
"""The outcomes of a call that count as failed."""
DONE_ENTRIES = (PlanStatus.COMPLETED, PlanStatus.CANCELLED)
"""The states of a to-do entry on which no work is left."""

_MOST_ENTRIES = 10_000


class OfCall(Protocol):
    """A question that may be about a call."""

    @property
    def call_id(self) -> str | None:
        """The call; None for a question about none."""


Question = TypeVar("Question", bound=OfCall)


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
    """Return the key by which an answer finds its question."""
    return event.key or event.call_id or event.subject


def asks_user(event: Permission) -> bool:
    """Return whether an event is a question that a person must answer."""
    return event.answer is None and not event.is_automatic


def answered_at_ms(event: Permission, asked_ms: int | None) -> int | None:
    """Return when the agent answers a question by itself; None if it does not, or if that is unknown."""
    return None if asked_ms is None or event.limit_ms is None else asked_ms + event.limit_ms


def question_words(event: Permission) -> str:
    """Return what a question asks for: the tool and its target, in one line."""
    return f"{event.subject} {one_line(event.target)}" if event.target else event.subject


def add_question(questions: dict[str, Question], key: str, question: Question, most: int) -> None:
    """Add a question to those that are open; of more than `most`, the oldest is dropped."""
    questions[key] = question
    if len(questions) > most:
        del questions[next(iter(questions))]


def end_call(questions: dict[str, Question], call_id: str) -> dict[str, Question]:
    """Return the questions that stay open when a call ends: those about it need no answer any more."""
    return {key: each for key, each in questions.items() if each.call_id != call_id}


def planned(before: tuple[PlanEntry, ...], event: Plan) -> tuple[PlanEntry, ...]:
    """Return the to-do list after an event: the event's entries, merged into `before` if it is an update.

    Entries with the same text are the same entry.
    """
    by_text = {entry.text: entry for entry in (*(before if event.is_update else ()), *event.entries)}
    return tuple(islice(by_text.values(), _MOST_ENTRIES))
