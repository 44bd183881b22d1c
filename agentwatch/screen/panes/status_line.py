"""The line below the header: what the agent does, and the state of the view, or if the recording is whole."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from agentwatch.analysis.integrity import Integrity
from agentwatch.feed.playhead import Playhead
from agentwatch.screen.panes.header import COLOURS
from agentwatch.screen.panes.moment import Moment
from agentwatch.screen.terminal.themes import muted
from agentwatch.session.events import Outcome
from agentwatch.sources.agent_processes import Survivor
from agentwatch.sources.source import Elsewhere, Source
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, safe_line
from agentwatch.text.signs import SIGNS


class StatusLine(Static):
    """The current status and what is left of the work; at the right, faults, or if the recording is whole."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._drawn: tuple[object, ...] = ()

    def show_status(
        self,
        words: SafeText,
        view: SafeText,
        integrity: Integrity,
        left: Sequence[tuple[SafeText, Outcome | None]] = (),
        *,
        is_asking: bool = False,
    ) -> None:
        """Show the status; redraw only if something changed. If `view`, the state of the view, is empty,
        whether the recording is whole is shown. `left` is what is left of the work, the most important first,
        each with the outcome whose colour it has; only those are shown for which there is room. If the agent
        waits for an answer (`is_asking`), the status is highlighted."""
        dim = muted(self.app.current_theme)
        drawn = (words, view, integrity, *left, is_asking, self.size.width, dim)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        width, is_integrity = self.size.width, not view
        if is_integrity and not integrity.passes:
            view = _fitting(integrity, width - columns(words) - 4)
        view = cut(view, max(width - 2, 1))
        room = width - columns(view) - 3
        shown = words
        while columns(shown) > room and shown:
            shown = SafeText(shown[: room - 1] if len(shown) >= room else shown[:-2])
        pieces: list[tuple[str, str]] = [(shown, "bold $text-warning" if is_asking else "")] if shown else []
        room -= columns(shown)
        for text, outcome in left:
            gap = " · " if pieces else ""
            if len(gap) + columns(text) > room:
                break
            pieces += [(gap, dim), (text, "" if outcome is None else COLOURS[outcome])]
            room -= len(gap) + columns(text)
        if is_integrity and integrity.passes:
            view = _fitting(integrity, room - 1)
            room -= columns(view)
        style = dim if is_integrity and integrity.passes else "$text-accent"
        self.update(Content.assemble(" ", *pieces, (" " * (room + 1), ""), (view, style), " "), layout=False)


def _fitting(integrity: Integrity, room: int) -> SafeText:
    """Return whether the recording is whole, in the longest form that fits."""
    if integrity.is_empty:
        return SafeText("")
    unknown = f" · {integrity.unknown:,} unknown" if integrity.unknown and integrity.is_known else ""
    sign = SIGNS[Outcome.SUCCEEDED if integrity.passes else Outcome.FAILED]
    found = f"{sign} {integrity.words()}"
    forms = [f"{found}{unknown}", found]
    if not integrity.passes:
        forms += [found.replace("recording ", "", 1), found.partition(":")[0], "i: recording"]
    return next((SafeText(form) for form in forms if columns(SafeText(form)) <= room), SafeText(""))


# What the status line shows at the right: faults, processes that still run, bytes that are not read yet.

BEHIND_BYTES = 1 << 18
"""If more bytes than this are unread, reading has priority over drawing."""
_LEAST_CUT_MS = 1000
"""Shorter parts of a silence are cut without a word."""


def pause_words(playhead: Playhead) -> str:
    """Return what the key that pauses the moment does now: `Pause` or `Play`; empty at the end."""
    return "" if playhead.is_at_end else "Play" if playhead.is_paused else "Pause"


def elsewhere_words(elsewhere: Elsewhere | None) -> list[str]:
    """Return why a copy of a session of another machine does not have all bytes; usually nothing."""
    if elsewhere is None:
        return []
    words: list[str] = [safe_line(elsewhere.problem)] if elsewhere.problem else []
    if elsewhere.beginning:
        words.append(f"the beginning is no longer kept: {byte_size(elsewhere.beginning)}")
    return words


def view_words(source: Source, moment: Moment, survivors: Sequence[Survivor], *, below: int) -> SafeText:
    """Return the state of the view for the status line, and what needs attention; usually empty. `below` is
    the number of new lines below the viewport; 0 if the pane's border shows it."""
    feed, playhead = moment.feed, moment.playhead
    words = elsewhere_words(source.elsewhere)
    if source.pausing is not None and source.pausing.rule:
        words.append("C: continue (q to stop)")
    words += [what.upper() for what, why in source.faults.items() if why is not None]
    ended = feed.session.run.ended
    if ended is not None and source.outlives(ended.seen_ms):
        words.append(f"process {source.agent_pid} still running (q to stop)")
    if survivors:
        named = ", ".join(f"{survivor.pid} {safe_line(survivor.name)}" for survivor in survivors[:2])
        more = f" and {len(survivors) - 2} more" if len(survivors) > 2 else ""
        words.append(f"still running: {named}{more} (q to stop)")
    if playhead.cut_ms >= _LEAST_CUT_MS:
        words.append(f"{duration_words(playhead.cut_ms)} of silence cut")
    if feed.backlog() > BEHIND_BYTES:
        words.append(f"reading · {byte_size(feed.backlog())} left")
    if held := feed.held_lines:
        words.append(f"{plural(held, 'line')} of no known agent yet")
    if below:
        words.append(f"{below} new below ▾")
    return SafeText(" · ".join(words))
