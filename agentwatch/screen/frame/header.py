"""The line at the top: state and clock, facts about the run, and the counts of calls."""

from __future__ import annotations

import os
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from agentwatch.actions import count_words
from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, columns, safe_line
from agentwatch.screen.lines.format import SIGNS, clock
from agentwatch.screen.lines.themes import muted
from agentwatch.session import Run, Session, calls_by_outcome

COLOURS = {
    Outcome.RUNNING: "$text-accent",
    Outcome.SUCCEEDED: "$text-success",
    Outcome.FAILED: "$text-error",
    Outcome.REJECTED: "$text-warning",
    Outcome.CANCELLED: "$text-warning",
    Outcome.RETURNED: "$text-warning",
    Outcome.UNFINISHED: "$text-warning",
}


class Count(NamedTuple):
    """A piece of the counts, which can be clicked if it counts an outcome."""

    words: SafeText
    outcome: Outcome | None = None


class HeaderLine(Static):
    """State and clock; agent and model, project, session, permission mode, key source; the call counts."""

    class CountClicked(Message):
        """Posted when the number of calls with an outcome is clicked."""

        def __init__(self, outcome: Outcome) -> None:
            super().__init__()
            self.outcome = outcome

    def __init__(self) -> None:
        super().__init__(id="header")
        self._drawn: tuple[object, ...] = ()
        self._counts: list[Count] = []

    def show_run(self, session: Session, now_ms: int | None, *, is_preview: bool = False) -> None:
        """Show the state of the run at `now_ms`; redraw only if something changed.

        Args:
            session: The session.
            now_ms: The session's current time, in ms since the epoch; None hides the running clock.
            is_preview: The session contains only the head and tail of a recording, so the counts are hidden.
        """
        outcome, width = session.outcome, self.size.width
        state = SafeText(f" {_outcome_words(outcome)}{_run_clock(session, now_ms)} ")
        room = width - columns(state)
        counts = [Count(SafeText("… calls"))] if is_preview else _fitting_counts(session, room)
        room -= _width(counts)
        facts = _fitting_facts(session.run, room)
        dim = muted(self.app.current_theme)
        drawn = (state, *facts, *counts, width, dim)
        if drawn == self._drawn:
            return
        self._drawn, self._counts = drawn, counts
        middle = "".join(f"│ {fact} " for fact in facts)
        gap = " " * (room - columns(SafeText(middle)))
        pieces = [(state, f"bold {COLOURS[outcome or Outcome.UNFINISHED]}"), (middle, dim), (gap, "")]
        for number, count in enumerate(counts):
            pieces.append((" · " if number else "", dim))
            pieces.append((count.words, COLOURS[count.outcome] if count.outcome else dim))
        self.update(Content.assemble(*pieces, " " if counts else ""), layout=False)

    def on_click(self, event: events.Click) -> None:
        """Report a click on the number of calls with an outcome."""
        end = self.size.width - 1
        for count in reversed(self._counts):
            start = end - columns(count.words)
            if start <= event.x < end and count.outcome is not None:
                self.post_message(self.CountClicked(count.outcome))
            end = start - 3


def _fitting_counts(session: Session, room: int) -> list[Count]:
    """Return the number of calls and of each outcome, with signs instead of words if these do not fit."""
    by_outcome = calls_by_outcome(session)
    total, *_ = count_words(by_outcome)
    odd = [(outcome, number) for outcome, number in by_outcome.items() if outcome is not Outcome.SUCCEEDED]
    whole = [Count(SafeText(f"{number} {outcome}"), outcome) for outcome, number in odd]
    short = [Count(SafeText(f"{number} {SIGNS[outcome]}"), outcome) for outcome, number in odd]
    forms = ([Count(total), *whole], [Count(total), *short], short)
    return next((counts for counts in forms if _width(counts) <= room), [])


def _width(counts: list[Count]) -> int:
    """Return the columns that counts take, with the dots between them and the blank after them."""
    return sum(columns(count.words) + 3 for count in counts) - 2 if counts else 0


def _fitting_facts(run: Run, room: int) -> list[SafeText]:
    """Return the facts that fit, in the order in which they are shown; a fact that is too long is skipped.

    The first to give way are the key source, the permission mode and the id; then the agent's name and the
    model. The folders that the project is in are shown if everything fits.
    """
    cwd = _short(run.cwd) or ""
    project = os.path.basename(cwd.rstrip("/")) or cwd
    order = (
        project,
        run.model,
        run.format,
        (run.session_id or "")[:8],
        run.permission_mode,
        run.api_key_source,
    )
    by_weight = [safe_line(fact or "") for fact in order]
    shown: list[list[SafeText]] = [[], [], [], []]
    for fact, group in zip(by_weight, (1, 0, 0, 2, 3, 3), strict=True):
        if fact and columns(fact) + 3 <= room:
            shown[group].append(fact)
            room -= columns(fact) + 3
        elif fact and group > 1:
            break  # the facts after the id weigh less than it
    folders = safe_line(cwd)
    if shown[1] and all(by_weight) and columns(folders) - columns(by_weight[0]) <= room:
        shown[1] = [folders]
    shown[0].reverse()  # the agent's name weighs less than the model, and stands before it
    return [SafeText(" · ".join(group)) for group in shown if group]


def _outcome_words(outcome: Outcome | None) -> str:
    """Return the sign and the word of an outcome; None is that of a stream of no known agent."""
    return "? unknown format" if outcome is None else f"{SIGNS[outcome]} {outcome}"


def _run_clock(session: Session, now_ms: int | None) -> str:
    run = session.run
    if run.duration_ms is not None:
        return f" {clock(run.duration_ms)}"
    if run.is_over or now_ms is None or run.began_seen_ms is None:
        return ""
    minutes, seconds = divmod(max(now_ms - run.began_seen_ms, 0) // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f" {hours}:{minutes:02}:{seconds:02}" if hours else f" {minutes}:{seconds:02}"


def _short(cwd: str | None) -> str | None:
    """Return a path with the user's home directory shortened to `~`."""
    home = os.path.expanduser("~")
    if cwd and home != "/" and (cwd == home or cwd.startswith(f"{home}/")):
        return f"~{cwd[len(home) :]}"
    return cwd
