"""The detail of the chosen call: what it was given and what it gave back, read from the recording."""

from __future__ import annotations

from collections.abc import Iterator

from textual.strip import Strip

from agentwatch.actions import action
from agentwatch.events import Part
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText, fitting, safe_line, safe_text
from agentwatch.screen.line_view import LineView
from agentwatch.screen.words import call_clock, time_of_day
from agentwatch.session import Call

_MOST_LINES = 20_000
_MOST_COLUMNS = 20_000
_LOOKS = {"stderr": "failed", "error": "failed", "arguments": "muted", "result": "muted"}
_DIFF_LOOKS = {"+": "added", "-": "removed", "@": "hunk"}


class DetailView(LineView):
    """One call's arguments and result; the payload stays on disk until it is looked at."""

    def __init__(self, feed: Feed) -> None:
        super().__init__("3 Detail", id="detail")
        self._feed = feed
        self._call: Call | None = None
        self._shown: tuple[object, ...] = ()
        self._is_raw = False
        self._lines: list[tuple[SafeText, str]] = []
        self._rows: list[tuple[SafeText, str]] = []
        self._width = 0

    def line_count(self) -> int:
        """Return how many rows the detail takes at this width."""
        return len(self._rows)

    def show_call(self, call: Call) -> None:
        """Show a call from its beginning."""
        if call is not self._call:
            self._call = call
            self.following = False
            self.sync()
            self.settle_at(0)

    def sync(self) -> None:
        """Read the call's lines again if it has come further since."""
        call = self._call
        now = (call, call and call.outcome, call and call.ended, self._is_raw)
        if call is None or now == self._shown:
            return
        self._shown = now
        lines = self._raw_lines(call) if self._is_raw else self._told_lines(call)
        self._lines = [(SafeText(text[:_MOST_COLUMNS]), look) for text, look in _limited(lines, _MOST_LINES)]
        self._wrap()

    def toggle_raw(self) -> None:
        """Show the lines of the recording as they are, or what they say."""
        self._is_raw = not self._is_raw
        self.sync()
        self.settle_at(0)

    def draw(self, y: int, width: int) -> Strip:  # noqa: ARG002 - rows are as wide as the pane already
        """Return one row."""
        return self.strip_of([self._rows[y]])

    def chosen_text(self) -> SafeText:
        """Return what `y` copies: all of the detail."""
        return SafeText("\n".join(text for text, _ in self._lines))

    def on_resize(self) -> None:
        """Wrap anew."""
        if self._width != self.scrollable_content_region.width:
            self._wrap()
        super().on_resize()

    def show_below(self) -> None:
        """A detail does not grow at its end: nothing is ever new below."""

    def _wrap(self) -> None:
        self._width = width = max(self.scrollable_content_region.width, 1)
        self._rows = []
        for text, look in self._lines:
            self._rows += [(piece, look) for piece in folded(text, width)]
        self.show_lines()

    def _told_lines(self, call: Call) -> Iterator[tuple[SafeText, str]]:
        yield action(call), str(call.outcome)
        yield _facts(call), "muted"
        yield safe_line(call.call_id), "muted"
        if call.error:
            yield from ((SafeText(line), "failed") for line in safe_text(call.error).split("\n"))
        for place in (call.ended, call.started):
            for part in self._feed.parts(place) if place else ():
                if part.text != call.error:
                    yield from _part_lines(part)

    def _raw_lines(self, call: Call) -> Iterator[tuple[SafeText, str]]:
        for title, place in (("started", call.started), ("ended", call.ended)):
            if place:
                yield SafeText(f"{title} · byte {place.offset} · {place.length} bytes"), "heading"
                shown = place._replace(length=min(place.length, _MOST_COLUMNS * 4))
                yield safe_line(self._feed.line_at(shown).decode("utf-8", "replace")), "plain"


def folded(text: SafeText, width: int) -> Iterator[SafeText]:
    """Yield a line in pieces of at most `width` columns, cut behind a blank where one is near."""
    start = 0
    while (end := fitting(text, start, width)) < len(text):
        blank = text.rfind(" ", start, end) + 1
        end = blank if blank - start > width // 2 else end
        yield SafeText(text[start:end])
        start = end
    yield SafeText(text[start:])


def _facts(call: Call) -> SafeText:
    facts = [f"tool {call.tool}", call_clock(call, None)]
    if call.started_ms is not None:
        facts.append(f"started {time_of_day(call.started_ms)}")
    if call.exit_code is not None:
        facts.append(f"exit {call.exit_code}")
    return safe_line(" · ".join(facts))


def _part_lines(part: Part) -> Iterator[tuple[SafeText, str]]:
    yield SafeText(""), "plain"
    yield safe_line(f"── {part.kind}"), "heading"
    look = _LOOKS.get(part.kind, "plain")
    lines = safe_text(part.text).rstrip("\n").split("\n")
    if part.kind == "diff":
        hunks = next((number for number, line in enumerate(lines) if line.startswith("@@")), 0)
        yield from ((SafeText(line), _DIFF_LOOKS.get(line[:1], "plain")) for line in lines[hunks:])
    else:
        yield from ((SafeText(line), look) for line in lines)


def _limited(lines: Iterator[tuple[SafeText, str]], most: int) -> Iterator[tuple[SafeText, str]]:
    """Yield the first lines, and say how many are left out."""
    left_out = 0
    for number, line in enumerate(lines):
        if number < most:
            yield line
        else:
            left_out += 1
    if left_out:
        yield SafeText(f"… {left_out} more lines; r shows the recording's line"), "muted"
