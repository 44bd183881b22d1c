"""The counts of a session at a moment, and their difference to its later counts."""

from collections.abc import Mapping
from typing import NamedTuple

from agentwatch.session.events import Outcome
from agentwatch.session.session import Session

_NAMED = (Outcome.FAILED, Outcome.REJECTED, Outcome.CANCELLED)


class Mark(NamedTuple):
    offset: int
    """The moment: the number of bytes of the recording before it."""
    at_ms: int | None
    """The time of the moment, in milliseconds since the epoch; None if it is unknown."""
    lines: int
    ended_calls: int
    never_completed: int
    outcomes: tuple[int, ...]
    """The number of calls that failed, were rejected or were cancelled."""
    asked: int
    """The number of questions that a person had to answer."""
    runs: int
    turns: int
    """The number of the user's prompts in the last run."""
    ended_turns: int


START = Mark(0, None, 0, 0, 0, (0,) * len(_NAMED), 0, 0, 0, 0)
"""The mark of a session of which nothing was read yet."""


def mark(session: Session, offset: int, at_ms: int | None) -> Mark:
    """Return the present counts of a session, also of an earlier moment; `offset` is in bytes."""
    return Mark(
        offset=offset,
        at_ms=at_ms,
        lines=session.lines.total,
        ended_calls=len(session.ended_calls),
        never_completed=session.never_completed,
        outcomes=tuple(session.ended_by_outcome[outcome] for outcome in _NAMED),
        asked=session.questions.count,
        runs=len(session.runs),
        turns=session.runs[-1].turns if session.runs else 0,
        ended_turns=ended_turns(session),
    )


class Happened(NamedTuple):
    events: int
    """The number of lines that are not blank."""
    calls: int
    """The number of calls that ended, or that can no longer end."""
    outcomes: Mapping[Outcome, int]
    """The number of these calls by outcome, without those that succeeded or returned."""
    questions: int
    """The number of questions that a person had to answer."""
    ending: Outcome | None
    """The outcome of the last turn, if a turn ended and no other one is running; otherwise None."""

    @property
    def is_nothing(self) -> bool:
        """Whether no line arrived and no turn ended."""
        return not self.events and not self.calls and self.ending is None


def happened(session: Session, since: Mark) -> Happened:
    new = zip(_NAMED, since.outcomes, strict=True)
    outcomes = {outcome: session.ended_by_outcome[outcome] - before for outcome, before in new}
    outcomes[Outcome.UNFINISHED] = session.never_completed - since.never_completed
    outcome = session.outcome
    has_ended = ended_turns(session) > since.ended_turns and outcome is not Outcome.RUNNING
    return Happened(
        events=session.lines.total - since.lines,
        calls=len(session.ended_calls) - since.ended_calls,
        outcomes={outcome: count for outcome, count in outcomes.items() if count > 0},
        questions=session.questions.count - since.asked,
        ending=(outcome or Outcome.UNFINISHED) if has_ended else None,
    )


def new_turns(session: Session, since: Mark) -> int:
    """Return the number of the user's prompts since a mark; prompts that were rewound do not count."""
    first = max(since.runs - 1, 0)
    return max(sum(run.turns for run in session.runs[first:]) - since.turns, 0)


def ended_turns(session: Session) -> int:
    """Return the number of turns that are over, including those without a result or a run."""
    if not session.runs:
        return int(session.is_closed)
    return len(session.runs) - (not session.run.is_over) + session.continued_turns
