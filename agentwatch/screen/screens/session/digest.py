"""The rows of the digest: lines of text, and items about a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.analysis.episodes import Episode
from agentwatch.analysis.files import FileAction, TouchedFile
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.status import NO_WAITS, Wait, Waits, waiting_calls
from agentwatch.analysis.unread import Digest, OpenFailure, Play, VerdictChange, ending_words, play_missed
from agentwatch.analysis.unread_counts import Happened, Mark
from agentwatch.analysis.verdicts import Verdict
from agentwatch.base.clock import now_ms
from agentwatch.feed.feed import Feed, Timeline
from agentwatch.screen.screens.session.breakdown import keep_updated, take_slice
from agentwatch.screen.screens.session.call_rows import CallRowsView
from agentwatch.screen.screens.session.episodes import episode_calls, episode_sign
from agentwatch.screen.widgets.line_view import Spans
from agentwatch.session.actions import shown_note, shown_tool, target
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.text.amounts import line_counts, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, cut_middle, safe_line, wrapped
from agentwatch.text.signs import ASKS_SIGN, MINUS, SIGNS
from agentwatch.text.times import time_of_day

_MOST_LISTED = 100
_MOST_READ_FILES = 20
_MOST_RUNNING = 20
_MOST_EPISODES = 20


class Line(NamedTuple):
    """A line of text. It may be wrapped."""

    words: SafeText
    style: str = "plain"


class Item(NamedTuple):
    """A line about a call: what it is, and at the right what became of it."""

    key: str
    """What the line is about. The words may change while it stays the same."""
    sign: SafeText
    sign_style: str
    words: SafeText
    note: SafeText
    call: Call
    is_path: bool = False
    """Whether the words are a path, which is cut in the middle."""


Row = Line | Item


def digest_rows(
    digest: Digest, ending: SafeText, play: Play | None, now_ms: int | None, waits: Waits = NO_WAITS
) -> Iterator[Row]:
    """Yield the rows of a digest, what needs the user first. `ending` is empty if the run did not end. `play`
    says how a key plays what happened; None if its times are unknown."""
    new, turns = digest.happened, digest.turns
    yield Line(_counts(new, turns, ending))
    if play is not None:
        yield Line(_play_words(play), "muted")
    waiting = [_waiting(call, waits[call.number], now_ms) for call in digest.running if call.number in waits]
    yield from _section("Waits for you", waiting, _MOST_RUNNING)
    episodes = digest.episodes
    listed = {each.last for each in episodes}
    failures = [each for each in digest.failures.newest_first() if each.call.number not in listed]
    yield from _section("Failures still open", map(_failure, failures))
    trouble = (_episode(each, digest.call(each.last)) for each in episodes)
    yield from _section("Trouble", trouble, _MOST_EPISODES)
    yield from _section("Tests, linters, builds", map(_verdict, digest.verdicts.changes()))
    running = [_running(call, now_ms) for call in digest.running if call.number not in waits]
    yield from _section("Still running", running, _MOST_RUNNING)
    yield from _section("Files changed", map(_changed, digest.changed_files))
    yield from _section("Files read", map(_read, digest.read_files), _MOST_READ_FILES)
    yield from _section("Calls", _kinds(digest))


def _counts(new: Happened, turns: int, ending: SafeText) -> SafeText:
    if new.is_nothing:
        return SafeText("nothing happened")
    parts = [
        plural(new.events, "event") if new.events else "",
        plural(new.calls, "call") if new.calls else "",
        *(f"{count} {outcome}" for outcome, count in new.outcomes.items()),
        plural(turns, "prompt") if turns else "",
        plural(new.questions, "question") if new.questions else "",
        ending,
    ]
    return SafeText(", ".join(filter(None, parts)))


def _play_words(play: Play) -> SafeText:
    idle = play.max_idle
    cut = "" if idle is None else f", silences cut to {duration_words(1000 * idle)}"
    return SafeText(f"p: play it in {duration_words(1000 * play.seconds)} (×{play.speed}{cut})")


def _section(heading: str, items: Iterable[Item], most: int = _MOST_LISTED) -> Iterator[Row]:
    """Yield a heading and at most `most` items; nothing without items."""
    listed = [*items]
    if listed:
        yield Line(SafeText(""))
        yield Line(SafeText(heading), "strong")
    yield from listed[:most]
    if len(listed) > most:
        yield Line(SafeText(f"and {len(listed) - most} more"), "muted")


def _failure(failure: OpenFailure) -> Item:
    call, times = failure
    note = shown_note(call).removeprefix("failed: ")
    note = f"exit {call.exit_code}" if call.exit_code else note
    key = f"failure {call.tool} {call.target}"
    return _of_call(key, call, SafeText(f"×{times} {note}" if times > 1 else note))


def _episode(episode: Episode, call: Call) -> Item:
    sign, style = episode_sign(episode)
    key = f"episode {episode.kind} {episode.first} {episode.subject}"
    return Item(key, sign, style, episode.words, episode_calls(episode), call)


def _running(call: Call, now_ms: int | None) -> Item:
    return _of_call(f"running {call.number}", call, SafeText(call_clock(call, now_ms)))


def _waiting(call: Call, wait: Wait, now_ms: int | None) -> Item:
    item = _of_call(f"running {call.number}", call, SafeText(wait.clock(now_ms)))
    return item._replace(sign=SafeText(ASKS_SIGN), sign_style="asks")


def _of_call(key: str, call: Call, note: SafeText) -> Item:
    state = call.outcome
    words = SafeText(f"#{call.number} {shown_tool(call.tool)} {target(call)}".rstrip())
    return Item(key, SafeText(SIGNS[state]), str(state), words, note, call)


def _verdict(change: VerdictChange) -> Item:
    after = change.after
    state = Outcome.FAILED if after.is_red else Outcome.SUCCEEDED
    marks = _mark(after) if change.runs == 1 and change.before is after else _change(change)
    words = SafeText(f"{marks}  {change.tool}: {after.words}")
    note = SafeText(plural(change.runs, "run"))
    return Item(f"verdict {change.tool}", SafeText(""), str(state), words, note, change.call)


def _change(change: VerdictChange) -> str:
    """Return the first and the last verdict: `✗3 → ✓`."""
    return f"{_mark(change.before)} → {_mark(change.after)}"


def _mark(verdict: Verdict) -> str:
    if not verdict.is_red:
        return SIGNS[Outcome.SUCCEEDED]
    count = verdict.counts.failed + verdict.counts.errors
    return f"{SIGNS[Outcome.FAILED]}{count or ''}"


def _changed(file: TouchedFile) -> Item:
    lines = line_counts(file.lines_added or None, file.lines_removed or None, MINUS)
    done = file.file_actions
    verb = next((str(each) for each in (FileAction.DELETED, FileAction.CREATED) if done[each]), "")
    return _of_file(file, SafeText(" ".join(filter(None, (verb, lines)))))


def _read(file: TouchedFile) -> Item:
    times = file.file_actions[FileAction.READ]
    return _of_file(file, SafeText(f"×{times}" if times > 1 else ""))


def _of_file(file: TouchedFile, note: SafeText) -> Item:
    words, call = safe_line(file.shown), file.calls[-1]
    return Item(f"file {words}", SafeText(""), "plain", words, note, call, is_path=True)


def _kinds(digest: Digest) -> Sequence[Item]:
    """Return the calls by kind, the most frequent first; enter opens the last one of a kind."""
    kinds = sorted(digest.kinds.items(), key=lambda each: (-each[1].calls, each[0]))
    return [
        Item(
            f"kind {kind}",
            SafeText(""),
            "plain",
            SafeText(f"{kind} ×{count.calls}"),
            SafeText(f"{count.failed} failed" if count.failed else ""),
            count.last,
        )
        for kind, count in kinds
    ]


# The list of the digest.

_LEAST_WORDS = 14
"""Minimum width of the words beside a note, which is cut for them."""
_MOST_COLUMNS = 84
"""Maximum width of a row: a note further to the right is hard to connect with its words."""


class DigestView(CallRowsView):
    """What happened since a moment: counts, open failures, verdicts, running calls, files, kinds of calls."""

    fits_content = True

    def __init__(
        self, feed: Feed, digest: Digest, play: Play | None, facts: Callable[[], AgentFacts]
    ) -> None:
        super().__init__("What happened", id="digest")
        self._feed = feed
        self._facts = facts
        self._digest = digest
        self._play = play
        self._rows: list[Row] = []
        self._built: list[Row] = []
        """The rows before wrapping."""
        self._is_reading = True
        """Whether calls from before the screen was opened may still be unread."""

    def call_at(self, row: int) -> Call | None:
        """Return the call that a row is about; None for a heading."""
        found = self._rows[row]
        return found.call if isinstance(found, Item) else None

    def line_count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def sync(self) -> bool:
        """Process new calls for one time slice and show the result; return whether more are left."""
        is_more = take_slice(self._digest.update)
        self.border_title = Content(self._title(is_more=is_more))
        session = self._feed.session
        now = session.last_seen_ms if self._feed.reader.growth.has_ended() else now_ms()
        ending = ending_words(session, self._digest.happened)
        waits = waiting_calls(session, self._facts())
        self._show([*digest_rows(self._digest, SafeText(ending), self._play, now, waits)])
        self._is_reading = self._is_reading and is_more
        return is_more

    def on_resize(self) -> None:
        """Wrap the lines again."""
        self._show(self._built)
        super().on_resize()

    def row(self, y: int, width: int) -> Spans:
        """Return a line of text, or what a call was about and what became of it."""
        row, width = self._rows[y], min(width, _MOST_COLUMNS)
        if isinstance(row, Line):
            return [(cut(row.words, width), row.style)]
        sign = SafeText(f"{row.sign} " if row.sign else "")
        room = width - columns(sign)
        note_room = room - min(columns(row.words), _LEAST_WORDS) - 2
        note = cut(row.note, note_room) if note_room > 0 else SafeText("")
        words_width = max(room - (columns(note) + 2 if note else 0), 1)
        words = cut_middle(row.words, words_width) if row.is_path else cut(row.words, words_width)
        gap = SafeText(" " * (room - columns(words) - columns(note)))
        words_style = "plain" if row.sign or row.sign_style == "plain" else row.sign_style
        return [(sign, row.sign_style), (words, words_style), (SafeText(gap + note), "muted")]

    def _title(self, *, is_more: bool) -> str:
        since_ms = self._digest.since.at_ms
        since = f" since {time_of_day(since_ms)}" if since_ms else ""
        return f"What happened{since} · still reading" if is_more else f"What happened{since}"

    def _show(self, built: list[Row]) -> None:
        """Show rows; the selected item stays selected, or the first one while the digest is read."""
        is_first = self._is_reading and self.cursor == next(iter(self.call_rows), -1)
        before = None if is_first or self.chosen is None else self._rows[self.cursor]
        width = min(self.scrollable_content_region.width - 1, _MOST_COLUMNS)
        self._built = built
        self._rows = [line for row in built for line in _wrapped(row, width)]
        self.cursor = self._row_of(before)
        self.show_lines()

    def _row_of(self, before: Row | None) -> int:
        """Return the row of the item that was selected before, or else the first row with a call."""
        items = {row.key: at for at, row in enumerate(self._rows) if isinstance(row, Item)}
        first = next(iter(items.values()), -1)
        return items.get(before.key, first) if isinstance(before, Item) else first


def _wrapped(row: Row, width: int) -> list[Row]:
    """Return a row as rows that fit; only a line of text is wrapped."""
    if isinstance(row, Item) or width < 1:
        return [row]
    return [Line(words, row.style) for words in wrapped(row.words, width)]


# The screen with the digest.


class DigestScreen(ModalScreen[Call | Play | None]):
    """What happened since a moment.

    It is dismissed with the call that the user opened, with how to play the part since the moment, or with
    None.
    """

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,D", "dismiss", "Back"),
        Binding("enter", "open", "Open"),
        Binding("p", "play", "Play"),
    ]

    def __init__(
        self,
        feed: Feed,
        since: Mark,
        timeline: Timeline,
        facts: Callable[[], AgentFacts] = lambda: NO_FACTS,
    ) -> None:
        super().__init__(id="digest-screen")
        self._feed = feed
        self._since = since
        self._timeline = timeline
        self._view = DigestView(feed, Digest(feed, since), self._play(), facts)

    def compose(self) -> ComposeResult:
        """Show the single view."""
        yield self._view

    def on_mount(self) -> None:
        """Focus the view and start the updates."""
        self._view.border_subtitle = Content("p play · enter open call · esc back")
        self._view.focus()
        keep_updated(self, self.sync)

    def sync(self) -> bool:
        """Update the view for one time slice; return whether more work is left."""
        return self._view.sync()

    def action_open(self) -> None:
        """Close the screen with the selected call; if it is out of view, scroll to it first."""
        if self._view.chosen is not None and not self._view.reveal():
            self.dismiss(self._view.chosen)

    def action_play(self) -> None:
        """Close the screen with how to play the part since the moment; say so if it has no times."""
        play = self._play()
        if play is None:
            self.notify("cannot play: the recording has no times", markup=False)
        else:
            self.dismiss(play)

    def _play(self) -> Play | None:
        return play_missed(self._timeline, self._since.offset, self._feed.offset)
