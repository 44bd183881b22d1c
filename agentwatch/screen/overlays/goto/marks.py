"""The marked moments of a session in words: the user's bookmarks, and the moments that mark themselves."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

from agentwatch.actions import shown_target
from agentwatch.analysis.markers import Marker, MarkerKind, Markers
from agentwatch.events import ToolKind
from agentwatch.feed.timeline import Timeline
from agentwatch.recording.bookmarks import Bookmark, Bookmarks
from agentwatch.session import Kind, Session
from agentwatch.text.safe import SafeText, cut, safe_line
from agentwatch.text.times import time_of_day

_TOOL_COLUMNS = 12
_MOST_PROMPT = 200
_STEP_SECONDS = 0.03
"""Markers that are not read yet are read for this time before a step: 10,000 calls."""
_SIGN = SafeText("◈")


class Mark(NamedTuple):
    """A marked moment, in words."""

    offset: int
    """The moment: the number of bytes of the recording before it."""
    time: SafeText
    """The recorded time of day; without times, the share of the recording before the moment."""
    sign: SafeText
    style: str
    """The style of the sign."""
    words: SafeText
    bookmark: Bookmark | None = None
    """The bookmark, if the user has set it."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.time, self.sign, self.words)))


class Marks:
    """The marked moments of a session, for the keys that set them and go to them, and for the goto box."""

    def __init__(self, session: Session, bookmarks: Bookmarks, markers: Markers, timeline: Timeline) -> None:
        """Create the marks of a session.

        Args:
            session: The session as far as it was read, not that of an earlier moment.
            bookmarks: The user's bookmarks.
            markers: The moments that mark themselves.
            timeline: The times of the recording.
        """
        self.session = session
        self.bookmarks = bookmarks
        self.markers = markers
        self.timeline = timeline

    def update(self, seconds: float) -> bool:
        """Read calls that have ended, for about this time; return whether more are left."""
        until = perf_counter() + seconds
        while is_more := self.markers.update():
            if perf_counter() >= until:
                break
        return is_more

    def toggle(self, offset: int) -> SafeText:
        """Set a bookmark at a moment, or remove the one that is there; return what happened, for a toast."""
        is_set = self.bookmarks.toggle(offset, self.timeline.ms_at(offset))
        warning = safe_line(self.bookmarks.take_warning())
        if is_set:
            return SafeText(f"bookmark at {self.time(offset)} · {warning or 'press : to name it'}")
        return warning or SafeText("bookmark removed · b sets it again")

    def name(self, offset: int, name: str) -> SafeText:
        """Name the bookmark at a moment, or set one with this name; return what happened, for a toast."""
        bookmarks, ms = self.bookmarks, self.timeline.ms_at(offset)
        if not bookmarks.rename(offset, name) and not bookmarks.toggle(offset, ms, name):
            return safe_line(bookmarks.take_warning()) or SafeText("no line of the recording ends there")
        words = f"{bookmark_words(name)} at {self.time(offset)}"
        warning = safe_line(bookmarks.take_warning())
        return SafeText(f"{words} · {warning}" if warning else words)

    def step(self, offset: int, direction: int) -> Mark | None:
        """Return the next (1) or previous (-1) marked moment; None without one."""
        self.update(_STEP_SECONDS)
        self.bookmarks.refresh()
        if direction > 0:
            bookmark, marker = self.bookmarks.next(offset), self.markers.next(offset)
        else:
            bookmark, marker = self.bookmarks.previous(offset), self.markers.previous(offset)
        if bookmark is None or (marker is not None and (bookmark.offset - marker.offset) * direction > 0):
            return None if marker is None else self.of_marker(marker)
        return self.of_bookmark(bookmark)

    def of_bookmark(self, bookmark: Bookmark) -> Mark:
        """Return a bookmark in words: `◈ bookmark "before the rewrite"`."""
        words = bookmark_words(bookmark.name)
        return Mark(bookmark.offset, self.time(bookmark.offset), _SIGN, "accent", words, bookmark)

    def of_marker(self, marker: Marker) -> Mark:
        """Return a marker in words: `✗ #15 pytest -q`, `#17 edit tidepool/nearest.py`."""
        sign, style = _sign(marker)
        return Mark(marker.offset, self.time(marker.offset), sign, style, self.words(marker))

    def words(self, marker: Marker) -> SafeText:
        """Return the words of a marker: the call and the verdict on it, or the prompt of a turn."""
        if marker.kind is MarkerKind.TURN:
            return self._prompt(marker.number)
        call = self.session.calls[marker.number - 1]
        tool = "" if call.kind is ToolKind.EXECUTE else f"{cut(safe_line(call.tool), _TOOL_COLUMNS)} "
        words = f"#{marker.number} {tool}{shown_target(call)}".rstrip()
        return SafeText(f"{words} ({safe_line(marker.verdict.words)})" if marker.verdict else words)

    def _prompt(self, number: int) -> SafeText:
        """Return the beginning of the prompt with which a turn began; `turn` without a prompt."""
        entry = self.session.transcript[number]
        if entry.kind is not Kind.PROMPT:
            return SafeText("turn")
        text = entry.content.part(0, _MOST_PROMPT)
        return safe_line(text.strip().partition("\n")[0])

    def time(self, offset: int) -> SafeText:
        """Return the time of a moment: `14:03:07`, or `42 %` of a recording without times."""
        timeline = self.timeline
        if timeline.first_ms is None:
            return SafeText(f"{100 * min(offset, timeline.size) // max(timeline.size, 1)} %")
        ms = timeline.ms_at(offset)
        return SafeText(time_of_day(timeline.first_ms if ms is None else ms))


def _sign(marker: Marker) -> tuple[SafeText, str]:
    """Return the sign of a marker, and the style of the sign."""
    if marker.kind is MarkerKind.TURN:
        return SafeText("›"), "prompt"
    is_red = marker.kind is MarkerKind.FAILURE if marker.verdict is None else marker.verdict.is_red
    if is_red:
        return SafeText("✗"), "failed"
    return (SafeText(" "), "plain") if marker.verdict is None else (SafeText("✓"), "succeeded")


def bookmark_words(name: str) -> SafeText:
    """Return `bookmark "before the rewrite"`, or `bookmark` without a name."""
    return SafeText(f'bookmark "{safe_line(name)}"' if name else "bookmark")


def step_words(mark: Mark | None, direction: int) -> SafeText:
    """Return the toast for a step to a marked moment; `mark` is None if no moment is marked there."""
    if mark is None:
        where = "later" if direction > 0 else "earlier"
        return SafeText(f"no {where} bookmark, failure, edit, verdict or turn")
    return SafeText(f"{mark.sign} {mark.words} · {mark.time}".strip())
