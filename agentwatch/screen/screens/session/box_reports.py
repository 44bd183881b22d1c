"""The tabs of the session box that are reports: what happened, the time, and whether the recording is whole.

A report is made of lines of text, bars, and items about a call, among which the cursor moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from time import monotonic
from typing import NamedTuple, TypeVar

from agentwatch.analysis.episodes import Episode, EpisodeKind, Episodes, for_reading
from agentwatch.analysis.files import FileAction, TouchedFile
from agentwatch.analysis.integrity import Integrity, integrity
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.status import Wait, Waits, waiting_calls
from agentwatch.analysis.time import Account, Share, TimeBreakdown, ToolTime
from agentwatch.analysis.unread import Digest, KindCount, OpenFailure, Play, VerdictChange, ending_words
from agentwatch.analysis.unread_counts import Happened, Mark
from agentwatch.analysis.verdicts import Verdict
from agentwatch.base.clock import now_ms
from agentwatch.feed.feed import Feed
from agentwatch.screen.screens.session.box import BoxList, BoxState, Opened
from agentwatch.screen.widgets.line_view import Spans, rows_in_view
from agentwatch.session.actions import action, shown_note, shown_tool, target
from agentwatch.session.agent_process import AgentFacts
from agentwatch.session.call import Call
from agentwatch.session.events import Malformed, Outcome, ToolKind, Traits
from agentwatch.session.runs import Run
from agentwatch.session.session import Session
from agentwatch.text.amounts import line_counts, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, cut_middle, fitted, safe_line, wrapped
from agentwatch.text.signs import ASKS_SIGN, EIGHTHS, MINUS, SIGNS
from agentwatch.text.times import time_of_day

_LEAST_WORDS = 14
"""The least columns of the words beside a note."""
_MOST_COLUMNS = 84
"""The last column for a note: further to the right it is hard to connect with its words."""
_REDRAW_SECONDS = 0.2
"""The interval of redrawing while more is left to read."""


class Line(NamedTuple):
    """A line of text, which may be wrapped."""

    words: SafeText
    style: str = "plain"


class Item(NamedTuple):
    """A line about a call: what it is, and at the right what became of it."""

    key: str
    """The identity of the item, which stays the same while the words change."""
    sign: SafeText
    sign_style: str
    words: SafeText
    note: SafeText
    call: Call
    is_path: bool = False


class Bar(NamedTuple):
    """A share of a total, shown as a row with a bar."""

    name: str
    ms: int
    whole_ms: int
    percent: str
    style: str


Row = Line | Item | Bar
T = TypeVar("T")


class Report(NamedTuple):
    title: str
    take: Callable[[], bool]
    """Reads a small piece, and returns whether more is left."""
    rows: Callable[[], Iterable[Row]]
    hint: str = "enter open call"


class ReportList(BoxList[Row]):
    """The rows of a report. Keys that would move the cursor past the last item scroll instead."""

    def __init__(self, id: str, state: BoxState, report: Report, *, at_end: bool = False) -> None:
        super().__init__(id, state)
        self._report, self.hint = report, report.hint
        self._at_end = at_end
        self._built: list[Row] = []
        self._is_reading = True
        self._drawn_at = 0.0

    @property
    def chosen(self) -> Item | None:
        found = super().chosen
        return found if isinstance(found, Item) else None

    @property
    def item_rows(self) -> list[int]:
        return [row for row, item in enumerate(self.items) if isinstance(item, Item)]

    @property
    def first(self) -> int:
        return next((row for row, item in enumerate(self.items) if isinstance(item, Item)), -1)

    def key(self, item: Row) -> object:
        return item.key if isinstance(item, Item) else item

    def take(self) -> bool:
        return self._report.take()

    def update_items(self, *, is_more: bool) -> None:
        if is_more and monotonic() < self._drawn_at + _REDRAW_SECONDS:
            return
        self._built, self._drawn_at = [*self._report.rows()], monotonic()
        self._wrap(is_more=is_more)
        self._is_reading = self._is_reading and is_more

    def on_resize(self) -> None:
        self._wrap(is_more=self._is_reading)
        super().on_resize()

    def _wrap(self, *, is_more: bool) -> None:
        width = min(self.scrollable_content_region.width - 1, _MOST_COLUMNS)
        rows = [line for row in self._built for line in _wrapped(row, width)]
        title = f"{self._report.title} · still reading" if is_more else self._report.title
        self.show(rows, title, is_more=is_more, follows_first=self._is_reading)

    def row(self, y: int, width: int) -> Spans:
        row, width = self.items[y], min(width, _MOST_COLUMNS)
        if isinstance(row, Line):
            return [(cut(row.words, width), row.style)]
        return _bar_spans(row, width) if isinstance(row, Bar) else _item_spans(row, width)

    def opened(self) -> Opened | None:
        """Return the selected call; if it is out of view, scroll to it instead."""
        chosen = self.chosen
        return None if chosen is None or self._reveal() else Opened(chosen.call, self._at_end)

    def _reveal(self) -> bool:
        """Scroll to the selected item; return whether that was necessary."""
        is_hidden = self.chosen is not None and self.cursor not in rows_in_view(self)
        if is_hidden:
            self.bring_into_view(self.cursor)
        return is_hidden

    def go(self, row: int) -> None:
        if row in self.item_rows or row < 0:
            self.cursor = row

    def action_move(self, lines: int) -> None:
        """Select the next or previous item; scroll before the first, after the last, or to a hidden one."""
        items, view = self.item_rows, rows_in_view(self)
        is_behind = self.cursor < view.start if lines > 0 else self.cursor >= view.stop
        at = items.index(self.cursor) + lines if self.cursor in items and not is_behind else -1
        if at >= 0 and self._reveal():
            return
        if 0 <= at < len(items):
            self.choose(items[at])
            self.bring_into_view(items[at])
        else:
            self.scroll_relative(y=lines, animate=False, immediate=True)

    def action_move_page(self, pages: float) -> None:
        lines = int(pages * max(self.scrollable_content_region.height - 1, 2))
        self.scroll_relative(y=lines, animate=False, immediate=True)

    def action_top(self) -> None:
        self.choose(self.first)
        self.scroll_to(y=0, animate=False, immediate=True)

    def action_bottom(self) -> None:
        self.choose(next(reversed(self.item_rows), -1))
        self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)


def _wrapped(row: Row, width: int) -> list[Row]:
    """Return a row as rows that fit; only a line of text is wrapped."""
    if not isinstance(row, Line) or width < 1:
        return [row]
    return [Line(words, row.style) for words in wrapped(row.words, width)]


def _item_spans(row: Item, width: int) -> Spans:
    sign = SafeText(f"{row.sign} " if row.sign else "")
    room = width - columns(sign)
    note_room = room - min(columns(row.words), _LEAST_WORDS) - 2
    note = cut(row.note, note_room) if note_room > 0 else SafeText("")
    words_width = max(room - (columns(note) + 2 if note else 0), 1)
    words = cut_middle(row.words, words_width) if row.is_path else cut(row.words, words_width)
    gap = SafeText(" " * (room - columns(words) - columns(note)))
    words_style = "plain" if row.sign or row.sign_style == "plain" else row.sign_style
    return [(sign, row.sign_style), (words, words_style), (SafeText(gap + note), "muted")]


_NAME = 22
_CLOCK = 9
_PERCENT = 7
_LEAST_BAR = 6
_MOST_BAR = 40


def _bar_spans(row: Bar, width: int) -> Spans:
    number = f"{duration_words(row.ms):>{_CLOCK}}{row.percent:>{_PERCENT}}  "
    name_width = max(min(_NAME, width - len(number)), 1)
    room = min(width - name_width - len(number), _MOST_BAR)
    return [
        (fitted(safe_line(row.name), name_width), "plain"),
        (SafeText(number), "muted"),
        (SafeText(bar(row.ms, row.whole_ms, room) if room >= _LEAST_BAR else ""), row.style),
    ]


def bar(ms: int, whole_ms: int, width: int) -> str:
    """Return a bar in steps of an eighth of a column, at least one. `whole_ms` would fill `width` columns."""
    eighths = ms * width * 8 // whole_ms if whole_ms else 0
    full, rest = divmod(max(eighths, 1) if ms else 0, 8)
    return ("█" * full + EIGHTHS[rest]).rstrip()


_MOST_LISTED = 100


def _section(
    heading: str, found: Sequence[T], row: Callable[[T], Row], most: int = _MOST_LISTED, rest: str = ""
) -> Iterator[Row]:
    """Yield a heading and at most `most` rows; nothing if nothing was found. `rest` names the others."""
    if found:
        yield Line(SafeText(""))
        yield Line(SafeText(heading), "strong")
    yield from map(row, found[:most])
    if len(found) > most:
        yield Line(SafeText(rest or f"and {len(found) - most:,} more"), "muted")


def _of_call(key: str, call: Call, note: SafeText) -> Item:
    state = call.outcome
    words = SafeText(f"#{call.number} {shown_tool(call.tool)} {target(call)}".rstrip())
    return Item(key, SafeText(SIGNS[state]), str(state), words, note, call)


_COUNTED = (EpisodeKind.FAILURE, EpisodeKind.CYCLES)


def _episode(episode: Episode, call: Call) -> Item:
    first, last = episode.first, episode.last
    numbers = SafeText(f"#{first}" if first == last else f"#{first}\N{EN DASH}#{last}")
    subject = f"{first} {episode.subject}" if episode.files == 1 else ""  # a joined one grows
    sign, style = SafeText("\N{MIDDLE DOT}"), "muted"
    if episode.kind in _COUNTED:
        outcome = Outcome.SUCCEEDED if episode.is_fixed else Outcome.FAILED
        sign, style = SafeText(SIGNS[outcome]), str(outcome)
    return Item(f"episode {episode.kind} {subject}", sign, style, episode.words, numbers, call)


# What happened.

_MOST_READ_FILES = 20
_MOST_RUNNING = 20
_MOST_EPISODES = 20


def happened_report(
    feed: Feed, since: Mark, play: Callable[[], Play | None], facts: Callable[[], AgentFacts]
) -> Report:
    """Return the report of what happened since a moment, what needs the user first."""
    digest, session, played = Digest(feed, since), feed.session, cache(play)

    def rows() -> Iterator[Row]:
        now = session.last_seen_ms if feed.reader.growth.has_ended() else now_ms()
        ending = SafeText(ending_words(session, digest.happened))
        return _happened_rows(digest, ending, played(), now, waiting_calls(session, facts()))

    began = f" since {time_of_day(since.at_ms)}" if since.at_ms else ""
    return Report(f"what happened{began}", digest.update, rows, "enter open call · p play")


def _happened_rows(
    digest: Digest, ending: SafeText, play: Play | None, now_ms: int | None, waits: Waits
) -> Iterator[Row]:
    yield Line(_counts(digest.happened, digest.turns, ending))
    if play is not None:
        yield Line(_play_words(play), "muted")
    waiting = [call for call in digest.running if call.number in waits]
    yield from _section(
        "Waits for you", waiting, lambda call: _waiting(call, waits[call.number], now_ms), _MOST_RUNNING
    )
    episodes = digest.episodes
    listed = {each.last for each in episodes}
    failures = [each for each in digest.open_failures if each.call.number not in listed]
    yield from _section("Failures still open", failures, _failure)
    yield from _section(
        "Trouble", episodes, lambda each: _episode(each, digest.call(each.last)), _MOST_EPISODES
    )
    yield from _section("Tests, linters, builds", digest.verdicts.changes(), _verdict)
    running = [call for call in digest.running if call.number not in waits]
    yield from _section("Still running", running, lambda call: _running(call, now_ms), _MOST_RUNNING)
    yield from _section("Files changed", digest.changed_files, _changed)
    yield from _section("Files read", digest.read_files, _read, _MOST_READ_FILES)
    kinds = sorted(digest.kinds.items(), key=lambda each: (-each[1].calls, each[0]))
    yield from _section("Calls", kinds, lambda each: _kind(*each))


def _counts(new: Happened, turns: int, ending: SafeText) -> SafeText:
    if new.is_nothing:
        return SafeText("nothing happened")
    parts = [
        plural(new.events, "event") if new.events else "",
        plural(new.calls, "call") if new.calls else "",
        *(f"{count:,} {outcome}" for outcome, count in new.outcomes.items()),
        plural(turns, "prompt") if turns else "",
        plural(new.questions, "question") if new.questions else "",
        ending,
    ]
    return SafeText(", ".join(filter(None, parts)))


def _play_words(play: Play) -> SafeText:
    idle = play.max_idle
    cut = "" if idle is None else f", silences cut to {duration_words(1000 * idle)}"
    return SafeText(f"p: play it in {duration_words(1000 * play.seconds)} (×{play.speed}{cut})")


def _failure(failure: OpenFailure) -> Item:
    call, times = failure
    note = shown_note(call).removeprefix("failed: ")
    note = f"exit {call.exit_code}" if call.exit_code else note
    key = f"failure {call.tool} {call.target}"
    return _of_call(key, call, SafeText(f"×{times} {note}" if times > 1 else note))


def _running(call: Call, now_ms: int | None) -> Item:
    return _of_call(f"running {call.number}", call, SafeText(call_clock(call, now_ms)))


def _waiting(call: Call, wait: Wait, now_ms: int | None) -> Item:
    item = _of_call(f"running {call.number}", call, SafeText(wait.clock(now_ms)))
    return item._replace(sign=SafeText(ASKS_SIGN), sign_style="asks")


def _verdict(change: VerdictChange) -> Item:
    after = change.after
    state = Outcome.FAILED if after.is_red else Outcome.SUCCEEDED
    is_same = change.runs == 1 and change.before is after
    marks = _mark(after) if is_same else f"{_mark(change.before)} → {_mark(after)}"
    words = SafeText(f"{marks}  {change.tool}: {after.words}")
    note = SafeText(plural(change.runs, "run"))
    return Item(f"verdict {change.tool}", SafeText(""), str(state), words, note, change.call)


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


def _kind(kind: ToolKind, count: KindCount) -> Item:
    words, note = SafeText(f"{kind} ×{count.calls:,}"), f"{count.failed:,} failed" if count.failed else ""
    return Item(f"kind {kind}", SafeText(""), "plain", words, SafeText(note), count.last)


# Where the time went.

_MOST_TOOLS = 12
_MOST_RUNS = 5
_MOST_TIMED_EPISODES = 12
_ORDER = (Share.THINKING, Share.WRITING, Share.TOOLS, Share.NOTICED, Share.WAITING, Share.UNATTRIBUTED)
_STYLES = {Share.TOOLS: "accent", Share.THINKING: "muted", Share.WRITING: "muted"}


def time_report(feed: Feed, spent: TimeBreakdown) -> Report:
    episodes, session = Episodes(feed), feed.session

    def take() -> bool:
        return spent.update() or episodes.update() or episodes.read_one()

    def rows() -> Iterator[Row]:
        account = spent.account()
        yield from _shares(account, session.traits)
        found = for_reading(episodes.episodes())
        yield from _section(
            "Trouble", found, lambda each: _episode(each, session.calls[each.last - 1]), _MOST_TIMED_EPISODES
        )
        yield from _tools(account.tools)
        yield from _section("Slowest calls", account.slowest, _slow)
        yield from _tokens(session.runs)

    return Report("where the time went", take, rows)


def _shares(account: Account, traits: Traits) -> Iterator[Row]:
    yield Line(_heading(account, has_times=traits.has_times), "strong")
    yield Line(SafeText(""))
    for share in _ORDER:
        if ms := account.parts[share]:
            percent = 100 * ms / account.whole_ms
            words = "<1 %" if percent < 1 else f"{percent:.0f} %"
            yield Bar(share, ms, account.whole_ms, words, _STYLES.get(share, "rule"))
    if account.between_runs_ms:
        words = f"not counted: {duration_words(account.between_runs_ms)} between runs"
        yield Line(SafeText(words), "muted")
    if account.running:
        words = f"{account.running} running: not included in the tools until completed"
        yield Line(SafeText(words), "muted")


def _heading(account: Account, *, has_times: bool) -> SafeText:
    if account.is_agent_time:
        return SafeText(f"{duration_words(account.whole_ms)} by the agent's clock")
    if account.whole_ms:
        reason = "the stream has no timestamps" if has_times else "this agent writes no timestamps"
        return SafeText(f"{duration_words(account.whole_ms)} by arrival times: {reason}")
    return SafeText("no times known: neither the stream nor the recording has timestamps")


def _tools(tools: Sequence[ToolTime]) -> Iterator[Row]:
    left = tools[_MOST_TOOLS:]
    rest = f"{len(left):,} more, {duration_words(sum(tool.ms for tool in left))} in total"

    def row(tool: ToolTime) -> Bar:
        return Bar(f"{shown_tool(tool.tool)} ×{tool.calls:,}", tool.ms, tools[0].ms, "", "muted")

    yield from _section("Tools (overlapping calls counted separately)", tools, row, _MOST_TOOLS, rest)


def _slow(call: Call) -> Item:
    return _of_call(f"slow {call.number}", call, SafeText(call_clock(call, None)))


def _tokens(runs: Sequence[Run]) -> Iterator[Row]:
    usages = [(number, run.usage) for number, run in enumerate(runs, 1) if run.usage]
    if usages:
        yield Line(SafeText(""))
        yield Line(SafeText("Tokens (as reported by the agent)"), "strong")
    for number, usage in usages[-_MOST_RUNS:]:
        if len(runs) > 1:
            yield Line(SafeText(f"run {number}"), "muted")
        for name, count in usage.items():
            shown = f"{count:,}" if type(count) is int else str(count)
            yield Line(safe_line(f"{shown:>12}  {name}"))


# Whether the recording is whole.

_AROUND = 30
_EXCERPT_BYTES = 300


def checks_report(feed: Feed) -> Report:
    """Return the report of the integrity checks as of now: the lines, calls and texts that failed one."""
    found = cache(lambda: [*_findings(feed)])
    return Report("whether the recording is whole", lambda: False, found, hint="")


def _findings(feed: Feed) -> Iterator[Line]:
    session = feed.session
    found = integrity(session)
    yield Line(found.line(), "succeeded" if found.passes else "unfinished")
    yield from (Line(SafeText(words), "muted") for words in _explained(session, found))
    yield Line(SafeText(""))
    if (at := found.difference_at) is not None:
        yield Line(SafeText(f"text and result differ, starting at character {at}"), "unfinished")
        for name, text in (("text", session.run.text), ("result", session.run.result or "")):
            excerpt = text[max(at - _AROUND, 0) : at + _AROUND]
            yield Line(safe_line(f"    {name:<6} …{excerpt}…"), "muted")
    for call in session.calls:
        if call.started is None and session.traits.announces_calls:
            words = f"call #{call.number} completed without a start: {action(call)}"
            yield Line(safe_line(words), "unfinished")
        elif call.ended is None:
            yield Line(safe_line(f"call #{call.number} never completed: {action(call)}"), "unfinished")
    for event, place in session.lines.odd:
        what = event.reason if isinstance(event, Malformed) else f"unknown {event.what}"
        yield Line(safe_line(f"byte {place.offset:,}, {place.length:,} bytes: {what}"), "unfinished")
        beginning = feed.line_at(place._replace(length=min(place.length, _EXCERPT_BYTES)))
        yield Line(safe_line(f"    {beginning.decode('utf-8', 'replace')}"), "muted")
    left = session.lines.malformed + session.lines.unknown - len(session.lines.odd)
    if left > 0:
        yield Line(SafeText(f"… {left:,} more lines like these"), "muted")


def _explained(session: Session, found: Integrity) -> Iterator[str]:
    """Yield what each check means, with its numbers."""
    run = session.run
    if session.traits.has_result:
        yield f"text: the stream has {len(run.text):,} characters of text, the result {run.result_length:,}"
    else:
        yield "text: no result line in this format, so the text is compared with nothing"
    unended = found.calls - len(session.ended_calls) + session.never_completed
    if session.traits.announces_calls:
        yield (
            f"paired: of {plural(found.calls, 'call')}, {found.paired:,} have a line for their start and one "
            f"for their end, {unended:,} have no end, {session.completed_without_started:,} no start"
        )
    else:
        yield f"calls: a call has no start line in this format; of {found.calls:,}, {unended:,} have no end"
    yield f"malformed: {plural(found.malformed, 'line')} not in JSON"
    yield f"unknown: {plural(found.unknown, 'line')} of a type or tool that this version does not know"
    if found.repaired:
        yield f"repaired: {plural(found.repaired, 'line')} broken in two, read as one"
    if found.oversize:
        yield f"oversize: {plural(found.oversize, 'line')} too long to read whole"
