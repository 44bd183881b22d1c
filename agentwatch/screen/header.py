"""The two lines above the panes: facts about the run, and the current status."""

from __future__ import annotations

import os

from textual.content import Content
from textual.widgets import Static

from agentwatch.actions import count_words
from agentwatch.analysis.integrity import Integrity
from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, columns, safe_line
from agentwatch.screen.lines.format import SIGNS, clock
from agentwatch.session import Session, calls_by_outcome

_COLOURS = {
    Outcome.RUNNING: "$text-accent",
    Outcome.SUCCEEDED: "$text-success",
    Outcome.FAILED: "$text-error",
    Outcome.REJECTED: "$text-warning",
    Outcome.RETURNED: "$text-warning",
    Outcome.UNFINISHED: "$text-warning",
}


class HeaderLine(Static):
    """The run: outcome, clock, model, cwd, session, permission mode, API key source; and the call counts."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._drawn: tuple[object, ...] = ()

    def show_run(self, session: Session, now_ms: int | None, *, is_preview: bool = False) -> None:
        """Show the state of the run at `now_ms`; redraw only if something changed.

        Args:
            session: The session.
            now_ms: The session's current time, in ms since the epoch; None hides the running clock.
            is_preview: The session contains only the head and tail of a recording, so the counts are hidden.
        """
        run, outcome = session.run, session.outcome
        state = f" {_outcome_words(outcome)}{_run_clock(session, now_ms)} "
        facts = [
            safe_line(fact)
            for fact in (
                run.model,
                _short(run.cwd),
                run.session_id and run.session_id[:8],
                " · ".join(filter(None, (run.permission_mode, run.api_key_source))),
            )
            if fact
        ]
        counts = SafeText("… calls ") if is_preview else _counts(session)
        drawn = (state, *facts, counts, self.size.width)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        room = self.size.width - len(state) - len(counts)
        middle = ""
        for fact in facts:
            if columns(SafeText(middle)) + columns(fact) + 4 <= room:
                middle += f"│ {fact} "
        if room < 1:
            counts, room = SafeText(""), self.size.width - len(state)
        gap = " " * (room - columns(SafeText(middle)))
        colour = f"bold {_COLOURS[outcome or Outcome.UNFINISHED]}"
        line = Content.assemble(
            (state, colour), (middle, "$foreground-muted"), gap, (counts, "$foreground-muted")
        )
        self.update(line, layout=False)


class StatusLine(Static):
    """The current status; at the right, the view's state (frozen, replaying, behind) or the integrity."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._drawn: tuple[object, ...] = ()

    def show_status(self, words: SafeText, view: SafeText, integrity: Integrity) -> None:
        """Show the status; redraw only if something changed.

        Args:
            words: The status of the session.
            view: The state of the view; if it is empty, the integrity is shown in its place.
            integrity: The result of the integrity checks, shortened to the space available.
        """
        drawn = (words, view, integrity, self.size.width)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        is_integrity = not view
        view = view or self._fitting(integrity, self.size.width - columns(words) - 4)
        room = self.size.width - columns(view) - 3
        shown = words
        while columns(shown) > room and shown:
            shown = SafeText(shown[: room - 1] if len(shown) >= room else shown[:-2])
        gap = " " * max(room - columns(shown) + 1, 0)
        style = "$foreground-muted" if is_integrity and integrity.passes else "$text-accent"
        self.update(Content.assemble(f" {shown}{gap}", (view, style), " "), layout=False)

    def _fitting(self, integrity: Integrity, room: int) -> SafeText:
        lines = (integrity.line(), integrity.problems() or SafeText("checks pass"), SafeText("i: integrity"))
        return next((line for line in lines if columns(line) <= room), SafeText(""))


def _outcome_words(outcome: Outcome | None) -> str:
    """Return the sign and the word of an outcome; None is that of a stream of no known agent."""
    return "? unknown format" if outcome is None else f"{SIGNS[outcome]} {outcome}"


def _run_clock(session: Session, now_ms: int | None) -> str:
    run = session.run
    if run.duration_ms is not None:
        return f" {clock(run.duration_ms)}"
    if run.is_over or now_ms is None or run.began_seen_ms is None:
        return ""
    seconds = max(now_ms - run.began_seen_ms, 0) // 1000
    return f" {seconds // 60}:{seconds % 60:02}"


def _short(cwd: str | None) -> str | None:
    """Return a path with the user's home directory shortened to `~`."""
    home = os.path.expanduser("~")
    if cwd and home != "/" and (cwd == home or cwd.startswith(f"{home}/")):
        return f"~{cwd[len(home) :]}"
    return cwd


def _counts(session: Session) -> SafeText:
    return SafeText(" · ".join(count_words(calls_by_outcome(session))) + " ")
