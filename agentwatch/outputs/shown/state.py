"""The state of a session at a moment, as text or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.actions import action, count_words
from agentwatch.analysis.episodes import for_reading, whole_episodes
from agentwatch.analysis.silence import running_ms, since_ms
from agentwatch.analysis.status.line import status
from agentwatch.feed import Feed
from agentwatch.outputs.summary import whole_summary
from agentwatch.session import Run, Session, calls_by_outcome
from agentwatch.text.durations import UNKNOWN, running_clock
from agentwatch.text.safe import SafeText, cut, safe_line, safe_text
from agentwatch.text.signs import PLAN_SIGNS
from agentwatch.text.times import date_and_time

_MOST_EPISODES = 20
_PROMPT_COLUMNS = 200
_TEXT_LINES = 10
_MOST_TEXT = 4096
"""The number of characters at the end of the text from which the last lines are taken."""


class State(NamedTuple):
    """A session at a moment."""

    feed: Feed
    """The feed that stands at the moment."""
    offset: int
    """The number of bytes of the recording that the session has read."""
    size: int
    """The number of bytes of the whole recording."""
    at_ms: int | None
    """The time of the moment, in milliseconds since the epoch; None if unknown."""

    @property
    def session(self) -> Session:
        """The session at the moment."""
        return self.feed.session


def state_text(state: State) -> Iterator[SafeText]:
    """Yield the lines of a state: the moment, the session, what it does, and the last lines of its text."""
    session, now_ms = state.session, state.at_ms
    yield SafeText(f"at {date_and_time(now_ms)} · byte {state.offset:,} of {state.size:,}")
    yield from _about(session)
    doing, counts = status(session, now_ms), ", ".join(count_words(calls_by_outcome(session)))
    yield doing
    if counts not in doing:
        yield SafeText(counts)
    for call in session.open_calls.values():
        running = running_ms(call, now_ms)
        running = since_ms(call.started_ms, now_ms) if running is None else running
        clock = UNKNOWN if running is None else running_clock(running)
        yield SafeText(f"  #{call.number} {action(call)} · {clock}")
    if trouble := for_reading(whole_episodes(state.feed)):
        yield SafeText("")
        yield SafeText("── trouble")
        yield from (each.words for each in trouble[:_MOST_EPISODES])
    if session.plan:
        yield SafeText("")
        yield SafeText("── to-do list")
        yield from (safe_line(f"{PLAN_SIGNS[entry.status]} {entry.text}") for entry in session.plan)
    if lines := _last_lines(session.run):
        yield SafeText("")
        yield SafeText("── last lines of the text")
        yield from lines


def state_json(state: State) -> Iterator[bytes]:
    """Yield the summary at a moment in pieces, with `episodes`, `at_ms`, `offset` and `status`.

    The summary format has no `episodes`: for 100 MB they cost a quarter of its CPU time.
    """
    more = {
        "episodes": _episodes(state.feed),
        "at_ms": state.at_ms,
        "offset": state.offset,
        "status": status(state.session, state.at_ms),
    }
    return whole_summary(state.feed, more)


def _episodes(feed: Feed) -> list[dict[str, object]]:
    """Return the members of each episode of trouble, in the order of their last calls; the newest 500."""
    return [
        {
            "number": number,
            "kind": each.kind,
            "words": each.words,
            "first_call": each.first,
            "last_call": each.last,
            "tries": each.tries,
            "duration_ms": each.duration_ms,
            "fixed": each.is_fixed,
            "over": each.is_over,
        }
        for number, each in enumerate(whole_episodes(feed), 1)
    ]


def _about(session: Session) -> Iterator[SafeText]:
    """Yield the facts of the header: the agent, its model and mode, the folder, the id, and the prompt."""
    run = session.run
    facts = (session.agent_name or session.format, run.model, run.permission_mode, run.cwd)
    if words := " · ".join(filter(None, facts)):
        yield safe_line(words)
    if run.session_id:
        yield safe_line(f"session {run.session_id}{f' · turn {run.turns}' if run.turns > 1 else ''}")
    if run.prompt:
        yield SafeText(f"prompt: {cut(safe_line(run.prompt[:_MOST_TEXT]), _PROMPT_COLUMNS)}")


def _last_lines(run: Run) -> list[SafeText]:
    """Return the last lines of the assistant's text that are not blank."""
    pieces: list[str] = []
    left = _MOST_TEXT
    for text in reversed(run.answer):
        length = len(text)
        pieces.append(text.part(max(length - left, 0), length))
        left -= len(pieces[-1])
        if left <= 0:
            break
    lines = safe_text("\n".join(reversed(pieces))).split("\n")
    return [SafeText(line) for line in lines if line.strip()][-_TEXT_LINES:]
