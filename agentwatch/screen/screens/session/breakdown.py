"""The time screen: where the session's time went, trouble, the tools, the slowest calls and the tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message_pump import MessagePump
from textual.screen import ModalScreen

from agentwatch.analysis.episodes import Episode, Episodes, for_reading
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.time import Account, Share, TimeBreakdown, ToolTime
from agentwatch.feed.feed import Feed
from agentwatch.screen.screens.session.call_rows import CallRowsView
from agentwatch.screen.screens.session.episodes import episode_calls, episode_sign
from agentwatch.screen.widgets.line_view import Spans
from agentwatch.session.actions import shown_tool, target
from agentwatch.session.call import Call
from agentwatch.session.events import Traits
from agentwatch.session.runs import Run
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, fitted, safe_line
from agentwatch.text.signs import EIGHTHS, SIGNS

# Keep open screens up to date, one time slice of new data at a time.

_SYNC_SECONDS = 0.5
_SLICE_SECONDS = 0.01
"""Seconds of work per slice, and the pause between two slices while more is left."""


def take_slice(take: Callable[[], bool]) -> bool:
    """Call `take` until nothing is left or the time slice is used up. `take` does a small piece of work, and
    returns whether more is left."""
    until = time.perf_counter() + _SLICE_SECONDS
    while (is_more := take()) and time.perf_counter() < until:
        pass
    return is_more


def keep_updated(screen: MessagePump, sync: Callable[[], bool]) -> None:
    """Call `sync` repeatedly while the screen is open. `sync` returns whether more is left. If so, the next
    call follows after 10 ms instead of 0.5 s."""
    screen.set_timer(_SLICE_SECONDS if sync() else _SYNC_SECONDS, partial(keep_updated, screen, sync))


_NAME = 22
_CALL_CLOCK = 8
_CLOCK = 9
_PERCENT = 7
_LEAST_BAR = 6
_MOST_BAR = 40
_MOST_TOOLS = 12
_MOST_RUNS = 5
_MOST_EPISODES = 12
_ORDER = (Share.THINKING, Share.WRITING, Share.TOOLS, Share.NOTICED, Share.WAITING, Share.UNATTRIBUTED)
_STYLES = {Share.TOOLS: "accent", Share.THINKING: "muted", Share.WRITING: "muted"}


class Bar(NamedTuple):
    """A share of a total, shown as a row with a bar."""

    name: str
    ms: int
    whole_ms: int
    percent: str
    style: str


Row = Bar | Call | Episode | tuple[SafeText, str]
"""A bar, a call, an episode of trouble, or a line of text with its style name."""


class TimeView(CallRowsView):
    """One bar per share of the time, followed by the lists of tools, calls and tokens."""

    fits_content = True

    def __init__(self, feed: Feed, spent: TimeBreakdown) -> None:
        super().__init__("Time breakdown", id="spent")
        self._session = feed.session
        self._spent = spent
        self._episodes = Episodes(feed)
        self._shown: tuple[Account, Sequence[Episode]] | None = None
        self._rows: list[Row] = []

    def call_at(self, row: int) -> Call | None:
        """Return the call in a row; None for a bar or a line of text."""
        found = self._rows[row]
        if isinstance(found, Episode):
            return self._session.calls[found.last - 1]
        return found if isinstance(found, Call) else None

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self._rows)

    def sync(self) -> bool:
        """Process new events for one time slice and show the result; return whether more are left."""
        is_more = take_slice(self._spent.update) or take_slice(self._read_episodes)
        self.border_title = Content("Time breakdown · still reading" if is_more else "Time breakdown")
        shown = self._spent.account(), self._episodes.episodes()
        if shown != self._shown:
            self._shown = shown
            chosen = self._key(self.cursor)
            self._rows = [*_rows(*shown, self._session.traits), *_tokens(self._session.runs)]
            calls = self.call_rows
            self.cursor = next((row for row in calls if self._key(row) == chosen), calls[0] if calls else -1)
            self.show_lines()
        return is_more

    def _read_episodes(self) -> bool:
        return self._episodes.update() or self._episodes.read_one()

    def _key(self, at: int) -> object:
        """Return what a row is about: the number of its call, or the beginning of its episode."""
        row = self._rows[at] if 0 <= at < len(self._rows) else None
        if isinstance(row, Episode):
            return row.kind, row.first, row.subject
        return row.number if isinstance(row, Call) else None

    def row(self, y: int, width: int) -> Spans:
        """Return a line of text, a call, or a bar with its duration and percentage."""
        row = self._rows[y]
        if isinstance(row, Call):
            words = SafeText(f"{shown_tool(row.tool)} {target(row)}")
            return [
                (SafeText(f"{call_clock(row, None):>{_CALL_CLOCK}}  "), "muted"),
                (SafeText(f"{SIGNS[row.outcome]} "), str(row.outcome)),
                (cut(words, max(width - _CALL_CLOCK - 4, 1)), "plain"),
            ]
        if isinstance(row, Episode):
            return _episode(row, width)
        if not isinstance(row, Bar):
            return [(cut(row[0], width), row[1])]
        name, ms, whole_ms, percent, style = row
        number = f"{duration_words(ms):>{_CLOCK}}{percent:>{_PERCENT}}  "
        name_width = max(min(_NAME, width - len(number)), 1)
        room = min(width - name_width - len(number), _MOST_BAR)
        return [
            (fitted(safe_line(name), name_width), "plain"),
            (SafeText(number), "muted"),
            (SafeText(bar(ms, whole_ms, room) if room >= _LEAST_BAR else ""), style),
        ]


class TimeScreen(ModalScreen[Call | None]):
    """Where the session's time went; dismissed with the call that the user opened, or with None."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,T", "dismiss", "Back"),
        Binding("enter", "open", "Open"),
    ]

    def __init__(self, feed: Feed, spent: TimeBreakdown) -> None:
        super().__init__(id="spent-screen")
        self._view = TimeView(feed, spent)

    def compose(self) -> ComposeResult:
        """Show the single view."""
        yield self._view

    def on_mount(self) -> None:
        """Focus the view and start the updates."""
        self._view.border_subtitle = Content("enter open call · esc back")
        self._view.focus()
        keep_updated(self, self.sync)

    def sync(self) -> bool:
        """Update the view for one time slice; return whether more work is left."""
        return self._view.sync()

    def action_open(self) -> None:
        """Close the screen with the selected call; if it is out of view, scroll to it first."""
        if self._view.chosen is not None and not self._view.reveal():
            self.dismiss(self._view.chosen)


def bar(ms: int, whole_ms: int, width: int) -> str:
    """Return a bar of block characters, drawn to an eighth of a column. A share that is not 0 is at least an
    eighth of a column long; `whole_ms` fills `width` columns."""
    eighths = ms * width * 8 // whole_ms if whole_ms else 0
    full, rest = divmod(max(eighths, 1) if ms else 0, 8)
    return ("█" * full + EIGHTHS[rest]).rstrip()


def _percent(ms: int, whole_ms: int) -> str:
    percent = ms * 100 / whole_ms
    return "<1 %" if 0 < percent < 1 else f"{percent:.0f} %"


def _rows(account: Account, episodes: Sequence[Episode], traits: Traits) -> Iterator[Row]:
    yield _heading(account, has_times=traits.has_times), "strong"
    yield SafeText(""), "plain"
    for share in _ORDER:
        if ms := account.parts[share]:
            percent = _percent(ms, account.whole_ms)
            yield Bar(share, ms, account.whole_ms, percent, _STYLES.get(share, "rule"))
    if account.between_runs_ms:
        yield SafeText(f"not counted: {duration_words(account.between_runs_ms)} between runs"), "muted"
    if account.running:
        yield SafeText(f"{account.running} running: not included in the tools until completed"), "muted"
    yield from _trouble(episodes)
    yield from _tools(account.tools)
    yield from _slowest(account.slowest)


def _heading(account: Account, *, has_times: bool) -> SafeText:
    if account.is_agent_time:
        return SafeText(f"{duration_words(account.whole_ms)} by the agent's clock")
    if account.whole_ms:
        reason = "the stream has no timestamps" if has_times else "this agent writes no timestamps"
        return SafeText(f"{duration_words(account.whole_ms)} by arrival times: {reason}")
    return SafeText("no times known: neither the stream nor the recording has timestamps")


def _trouble(episodes: Sequence[Episode]) -> Iterator[Row]:
    """Yield the episodes of trouble: what is not fixed first, then the newest."""
    if episodes:
        yield SafeText(""), "plain"
        yield SafeText("Trouble"), "strong"
    yield from for_reading(episodes)[:_MOST_EPISODES]
    if (left := len(episodes) - _MOST_EPISODES) > 0:
        yield SafeText(f"and {left} more"), "muted"


def _episode(episode: Episode, width: int) -> Spans:
    sign, style = episode_sign(episode)
    calls = episode_calls(episode)
    words = cut(episode.words, max(width - columns(calls) - 4, 1))
    return [(SafeText(f"{sign} "), style), (words, "plain"), (SafeText(f"  {calls}"), "muted")]


def _tools(tools: Sequence[ToolTime]) -> Iterator[Row]:
    if tools:
        yield SafeText(""), "plain"
        yield SafeText("Tools (overlapping calls counted separately)"), "strong"
    for tool, calls, ms in tools[:_MOST_TOOLS]:
        yield Bar(f"{shown_tool(tool)} ×{calls}", ms, tools[0].ms, "", "muted")
    if left := tools[_MOST_TOOLS:]:
        yield SafeText(f"{len(left)} more, {duration_words(sum(tool.ms for tool in left))} in total"), "muted"


def _slowest(calls: Sequence[Call]) -> Iterator[Row]:
    if calls:
        yield SafeText(""), "plain"
        yield SafeText("Slowest calls"), "strong"
    yield from calls


def _tokens(runs: Sequence[Run]) -> Iterator[Row]:
    """Yield the token counts of the last runs, exactly as the agent reported them."""
    usages = [(number, run.usage) for number, run in enumerate(runs, 1) if run.usage]
    if usages:
        yield SafeText(""), "plain"
        yield SafeText("Tokens (as reported by the agent)"), "strong"
    for number, usage in usages[-_MOST_RUNS:]:
        if len(runs) > 1:
            yield SafeText(f"run {number}"), "muted"
        for name, count in usage.items():
            shown = f"{count:,}".replace(",", " ") if type(count) is int else str(count)
            yield safe_line(f"{shown:>12}  {name}"), "plain"
