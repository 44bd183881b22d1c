"""The lines above the list: how many sessions need the user, and which machines do not answer."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from agentwatch.machine.listing.counts import Counts
from agentwatch.screen.lines.themes import muted
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut

Piece = tuple[str, str]
"""Words and their style."""

_NAME = ("agentwatch", "bold")
_MOST_NOTES = 3
_LEAST_FOR_NOTES = 16
"""In a terminal of fewer rows, there is one line for notes."""


class HomeHeader(Static):
    """The counts of the list, and how many older sessions it does not show.

    In a narrow terminal the words give way in this order: the name of the program, `older`, the sessions that
    have ended and the number of machines, then all words, in whose place signs stand.
    """

    def __init__(self) -> None:
        super().__init__(id="header")
        self._drawn: tuple[object, ...] = ()
        self._counts = Counts()
        self._key = ""
        self._is_known = True

    def show(self, counts: Counts, key: str, *, is_known: bool = True) -> None:
        """Show counts; draw only if something differs.

        Args:
            counts: The numbers of sessions.
            key: The key that shows the hidden sessions; empty while they are shown.
            is_known: Whether every machine answers.
        """
        self._counts, self._key, self._is_known = counts, key, is_known
        self._draw()

    def on_resize(self) -> None:
        """Show as many words as fit now."""
        self._draw()

    def _draw(self) -> None:
        counts, width = self._counts, self.size.width
        theme = self.app.current_theme
        dim = muted(theme)
        drawn = (counts, self._key, self._is_known, width, dim)
        if width and drawn != self._drawn:
            self._drawn = drawn
            working = "$text-accent" if theme.ansi else "$text-primary"
            left, right = _fitting(counts, self._key, width, working, is_known=self._is_known)
            pieces: list[Piece] = []
            for number, (words, style) in enumerate(left):
                pieces += [(_between(left, number), dim), (words, style or dim)]
            gap = " " * max(width - 2 - _width(left) - columns(right), 0)
            self.update(Content.assemble(" ", *pieces, gap, (right, dim), " "), layout=False)


class HomeNotes(Static):
    """A line for each note, as many as there is room for; without notes it takes no row."""

    def __init__(self) -> None:
        super().__init__(id="home-notes")
        self.display = False
        self._notes: tuple[SafeText, ...] = ()
        self._drawn: tuple[object, ...] = ()

    def show(self, notes: Sequence[SafeText]) -> None:
        """Show notes; draw only if one differs."""
        self._notes = tuple(notes)
        self._draw()

    def on_resize(self) -> None:
        """Cut the lines to the width."""
        self._draw()

    def _draw(self) -> None:
        width, height = self.app.size
        drawn = (self._notes, width, height)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        most = _MOST_NOTES if height >= _LEAST_FOR_NOTES else 1
        more = f" · {len(self._notes) - most} more" if len(self._notes) > most else ""
        shown = [cut(note, max(width - 2, 1)) for note in self._notes[:most]]
        if more:
            shown[-1] = SafeText(f"{cut(shown[-1], max(width - 2 - len(more), 1))}{more}")
        lines = [Content(f" {line}") for line in shown]
        self.display = bool(lines)
        self.update(Content("\n").join(lines))


def _fitting(
    counts: Counts, key: str, width: int, working: str, *, is_known: bool
) -> tuple[list[Piece], SafeText]:
    """Return the counts and the words about hidden sessions, in the longest form that fits.

    Args:
        counts: The numbers of sessions.
        key: The key that shows the hidden ones.
        width: The width of the line, in columns.
        working: The style of the number of sessions that work.
        is_known: Whether every machine answers.
    """
    hidden = ("", "", "")
    if counts.hidden and key:
        hidden = (f"{counts.hidden:,} older hidden: {key}", f"{counts.hidden:,} hidden: {key}", "")
    whole, signs = _words(counts, working, is_known=is_known), _signs(counts, working, is_known=is_known)
    live = _words(counts._replace(ended_today=0, machines=0), working, is_known=is_known)
    forms = [([_NAME, *whole], hidden[0]), (whole, hidden[0]), (whole, hidden[1]), (live, hidden[1])]
    forms += [(signs, hidden[1]), (signs, "")]
    for left, right in forms:
        if _width(left) + (len(right) + 2 if right else 0) <= width - 2:
            return left, SafeText(right)
    return signs[:1], SafeText("")


def _between(pieces: list[Piece], number: int) -> str:
    """Return what stands before a piece; it has three columns, except before the first one."""
    return "" if not number else " │ " if pieces[number - 1] == _NAME else " · "


def _words(counts: Counts, working: str, *, is_known: bool) -> list[Piece]:
    named = (
        (counts.needs_you, "need you" if counts.needs_you != 1 else "needs you", "bold $text-warning"),
        (counts.failed, "failed", "$text-error"),
        (counts.working, "working", working),
        (counts.quiet, "quiet", "$text-warning"),
        (counts.your_turn, "your turn", ""),
        (counts.ended_today, "ended today", ""),
    )
    shown = [(f"{count:,} {words}", style) for count, words, style in named if count]
    shown = shown or [("no session is running" if is_known else "not known what is running", "")]
    return [*shown, (plural(counts.machines, "machine"), "")] if counts.machines else shown


def _signs(counts: Counts, working: str, *, is_known: bool) -> list[Piece]:
    named = (
        (counts.needs_you, "!", "bold $text-warning"),
        (counts.failed, "✗", "$text-error"),
        (counts.working, "◐", working),
        (counts.quiet, "?", "$text-warning"),
        (counts.your_turn, "›", ""),
    )
    shown = [(f"{sign} {count:,}", style) for count, sign, style in named if count]
    return shown or [("none running" if is_known else "not known", "")]


def _width(pieces: list[Piece]) -> int:
    return sum(columns(SafeText(words)) + 3 for words, _ in pieces) - 3
