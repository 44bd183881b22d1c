"""The preview beside the list: it follows the selected session, and reads its end in a thread."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from textual.content import Content
from textual.strip import Strip
from textual.timer import Timer

from agentwatch.agents.opening import MOST_FILE_BYTES, MOST_STORE_BYTES, store_for
from agentwatch.agents.state_report import State
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.silence import call_clock, since_ms
from agentwatch.analysis.status import waiting_calls
from agentwatch.base.clock import now_ms
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE
from agentwatch.feed.feed import Feed, preview_feed
from agentwatch.recording.lines import LineReader, Until
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import nameless_file
from agentwatch.recording.times import ArrivalTimes
from agentwatch.screen.panes.transcript.block_list import (
    EntryRenderer,
    call_line,
    fitting_action,
    rule_line,
    shown_length,
    thought_for,
)
from agentwatch.screen.screens.sessions.words import facts_of, last_act, tests_words, way_to_answer
from agentwatch.screen.widgets.line_view import LineView
from agentwatch.screen.widgets.syntax import code_theme
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.blocks import Block, FieldsBlock
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Channel, Event, Outcome, PlanEntry, PlanStatus, Prompt, Text, TextEnded
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.rules import DONE_ENTRIES
from agentwatch.session.session import Session, ending_of_turn
from agentwatch.session.transcript import Entry, Kind
from agentwatch.sources.stores.lines import Store
from agentwatch.text.durations import running_clock
from agentwatch.text.safe import SafeText, columns, cut, exact_text, fitted, safe_line, title_line, wrapped
from agentwatch.text.signs import ASKS_SIGN, PLAN_SIGNS, SIGNS

_MOST_CALLS = 4
_MOST_CHARACTERS = 4000
"""The characters that are laid out, of the end of an answer or the beginning of a question."""
_MOST_DEPTH = 6
_TOOL_COLUMNS = 20

# The question of a session, with its whole text and the way to its answer.


class Question(NamedTuple):
    words: str
    """The whole text of the question, a foreign text; for a command, all of its lines."""
    since_ms: int | None
    way: SafeText
    call: Call | None = None


class Previewed(NamedTuple):
    session: Session
    wanted: Mapping[int, str]
    """The requests of the open calls, by their numbers: all lines of a command, or all questions."""


def question_of(previewed: Previewed, row: Row | None, facts: AgentFacts, key: str) -> Question | None:
    """Return the question of a session. The list has only the beginning of a question; the session has its
    call. `key` switches to the terminal of the session."""
    if row is None or row.status.state is not State.ASKS or row.lost_ms is not None:
        return None
    session, wanted = previewed
    status, waits = row.status, waiting_calls(session, facts)
    named = AgentFacts(asks=status.now or "you", asks_since_ms=status.since_ms)
    number = next(iter(waits or waiting_calls(session, named)), None)
    asked = session.questions.oldest
    words = status.now if asked is None else asked.words
    words = wanted.get(number or 0) or words
    call = None if number is None else session.calls[number - 1]
    return Question(words or "an answer", status.since_ms, way_to_answer(row, key), call)


def _wanted(feed: Feed) -> Iterator[tuple[int, str]]:
    for call in list(feed.session.open_calls.values())[-_MOST_CALLS:]:
        if (place := call.arguments_place) is not None:
            lines = [line for block in feed.blocks(place, call.call_id) for line in _block_lines(block)]
            yield call.number, "\n".join(lines)[:_MOST_CHARACTERS]


def _block_lines(block: Block) -> Iterator[str]:
    if isinstance(block, FieldsBlock):
        yield from _texts(block.fields, _MOST_DEPTH)
    else:
        yield block_text(block)


def _texts(value: object, depth: int) -> Iterator[str]:
    """Yield the texts in the arguments of a call; those of an innermost object are one line."""
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and not any(isinstance(each, Mapping | list) for each in members):
        yield " · ".join(each for each in members if isinstance(each, str) and each)
    elif depth:
        for each in members:
            yield from _texts(each, depth - 1)


# The lines of a preview: the last lines of a session, its open calls with clocks, and its to-do list.

_MOST_PLAN = 8


class PreviewLines:
    def __init__(
        self,
        pane: LineView,
        session: Session,
        width: int,
        height: int,
        facts: AgentFacts = NO_FACTS,
        question: Question | None = None,
    ) -> None:
        """Lay out the `question` whole, and as many of the last lines as `height` leaves."""
        self._waits = waiting_calls(session, facts)
        self._pane = pane
        self._width, self._height = width, height
        self._question = question
        self._asked = [] if question is None else self._question_lines(question, max(height - 2, 2))
        most_calls = min(_MOST_CALLS, max(height // 4, 1))
        asking = None if question is None else question.call
        self._calls = [call for call in session.open_calls.values() if call is not asking][-most_calls:]
        plan = _plan_lines(session.plan, max(height // 3, 1))
        self._plan = [pane.strip_of([(cut(words, width), style)]) for words, style in plan]
        others = len(self._plan) + len(self._calls) + bool(self._plan) + bool(self._calls) + len(self._asked)
        self._last = self._last_lines(session, max(height - others - bool(self._asked), 1))

    @property
    def has_clocks(self) -> bool:
        return bool(self._calls or self._asked)

    def lines(self, now_ms: int) -> list[Strip]:
        found = list(self._last)
        if self._question is not None:
            waited = since_ms(self._question.since_ms, now_ms)
            clock = "" if waited is None else f" · {running_clock(waited)}"
            call = self._question.call
            about = "" if call is None else f" · {cut(safe_line(call.tool), _TOOL_COLUMNS)}"
            title = rule_line(self._pane, SafeText(f"{ASKS_SIGN} asks{clock}{about}"), self._width)
            found = [title, *self._asked, *found]
        if self._calls:
            found.append(rule_line(self._pane, SafeText("now"), self._width))
            found += [self._call_line(call, now_ms) for call in self._calls]
        if self._plan:
            found.append(rule_line(self._pane, SafeText("to-do list"), self._width))
            found += self._plan
        return found[: self._height]

    def _question_lines(self, question: Question, most: int) -> list[Strip]:
        text = exact_text(question.words[:_MOST_CHARACTERS])
        lines = map(SafeText, text.split("\n"))
        rows = [row for line in lines for row in wrapped(line, self._width) or [line]]
        spans = [(SafeText(row), "strong") for row in rows[: most - 1]]
        if len(rows) > len(spans) == 1:
            spans = [(cut(SafeText(f"{spans[0][0]} {rows[1]}"), self._width), "strong")]
        elif len(rows) > len(spans):
            spans[-1] = (SafeText(f"… {len(rows) - len(spans) + 1:,} more lines: enter"), "muted")
        spans.append((cut(question.way, self._width), "accent"))
        return [*(self._pane.strip_of([each]) for each in spans), Strip.blank(self._width)]

    def _call_line(self, call: Call, now_ms: int) -> Strip:
        wait = self._waits.get(call.number)
        state, mark = ("running", SIGNS[Outcome.RUNNING]) if wait is None else ("asks", ASKS_SIGN)
        clock = SafeText(call_clock(call, now_ms) if wait is None else wait.clock(now_ms))
        sign = SafeText(f"{mark} ")
        room = self._width - columns(sign) - columns(clock) - 1
        words = fitted(fitting_action(call, wait, room), room)
        pieces = [(sign, state), (words, "plain"), (SafeText(f" {clock}"), state)]
        return self._pane.strip_of(pieces)

    def _last_lines(self, session: Session, count: int) -> list[Strip]:
        entries = EntryRenderer(self._pane, code_theme(self._pane.app.current_theme))
        found: list[Strip] = []
        later: Kind | None = None
        for entry in reversed(session.transcript):
            if later is not None and (entry.kind, later) != (Kind.CALL, Kind.CALL):
                found.insert(0, Strip.blank(self._width))
            found[:0] = self._entry_lines(entries, entry, session)
            later = entry.kind
            if len(found) >= count:
                break
        return found[-count:]

    def _entry_lines(self, entries: EntryRenderer, entry: Entry, session: Session) -> list[Strip]:
        if entry.call is not None:
            wait = self._waits.get(entry.call.number)
            return [call_line(self._pane, entry.call, SafeText(""), self._width, wait)]
        if entry.kind is Kind.REASONING:
            return [self._pane.strip_of([(thought_for(entry), "reasoning")])]
        end = shown_length(entry)
        if entry.result is not None and not end:
            return entries.outcome(entry.result, ending_of_turn(session, entry.result))
        start = max(end - _MOST_CHARACTERS, 0)
        return entries.render(entry, start, end, self._width, is_code=False)


def _plan_lines(plan: Sequence[PlanEntry], most: int) -> list[tuple[SafeText, str]]:
    """Return how many entries of a to-do list are done, and those from the first open one on, with styles."""
    if not plan:
        return []
    done = sum(entry.status is PlanStatus.COMPLETED for entry in plan)
    room = min(max(most - 1, 0), _MOST_PLAN)
    opened = next((number for number, entry in enumerate(plan) if entry.status not in DONE_ENTRIES), 0)
    first = min(opened, max(len(plan) - room, 0))
    shown = plan[first : first + room]
    count = SafeText(f"{done} of {len(plan)} done")
    styles = {PlanStatus.IN_PROGRESS: "accent", **dict.fromkeys(DONE_ENTRIES, "muted")}
    lines = ((safe_line(f"{PLAN_SIGNS[each.status]} {each.text}"), each.status) for each in shown)
    return [(count, "muted"), *((words, styles.get(status, "plain")) for words, status in lines)]


# Reads the end of a session for its preview, without opening the session.

_WHOLE_BYTES = 1 << 19
"""A smaller recording is read whole, in 20 ms. Of a larger one 320 KiB are read: head and tail."""
_LINES = (".jsonl", ".ndjson")
"""A file of lines is read by itself. Subagents may have files beside it, which its store would merge."""


def tail_session(path: Path, *, is_live: bool) -> Previewed:
    """Return a session that contains at least the last lines of a recording or of a store, without open calls
    unless it `is_live`. Raise `OSError` if it cannot be read, or is a document that is too large."""
    if path.suffix not in _LINES and path.is_file() and path.stat().st_size > MOST_FILE_BYTES:
        raise OSError(errno.EFBIG, "it is too large for a preview", str(path))
    store = None if path.suffix in _LINES else store_for(path)
    if store is None:
        reader = open_saved(path, is_live)
    else:
        fd = _copied(store, MOST_STORE_BYTES)
        reader = LineReader(fd, Until(os.fstat(fd).st_size), ArrivalTimes())
    try:
        found = _read(reader)
    finally:
        os.close(reader.fd)
    if store is not None and not is_live:
        close_session(found.session)
    return found


def row_session(row: Row) -> Previewed:
    """Return a session that contains at least the last lines of the session of a row. For a session of
    another machine these are the lines of its local copy, which is not filled for this, or else a prompt and
    the end of the last answer. Raise `OSError` if it cannot be read, or is a document that is too large."""
    is_live = row.status.state in LIVE and row.lost_ms is None
    if not row.address:
        return tail_session(row.path, is_live=is_live)
    from agentwatch.remote.copying import known_copy

    path = known_copy(row.address, os.environ)
    return Previewed(_reported(row), {}) if path is None else tail_session(path, is_live=is_live)


def _reported(row: Row) -> Session:
    session, last = Session(), row.last_text or row.status.now
    events: list[Event] = [Prompt(row.title)] if row.title else []
    if last:
        events += (Text(Channel.ANSWER, last), TextEnded(Channel.ANSWER))
    apply_line(session, events, Place(0, 0, row.seen_ms))
    return session


def _copied(store: Store, most: int) -> int:
    """Close a store, and return the descriptor of a nameless file with its first `most` bytes."""
    fd = nameless_file()
    try:
        size = 0
        while size < most and (lines := store.new_lines()):
            size += os.write(fd, b"".join(lines)[: most - size])
    except OSError:
        os.close(fd)
        raise
    finally:
        store.close()
    return fd


def _read(reader: LineReader) -> Previewed:
    if reader.growth.size() > _WHOLE_BYTES:
        feed = preview_feed(reader)
    else:
        feed = Feed(reader)
        feed.takes_agent_times = True
        feed.advance()
    return Previewed(feed.session, dict(_wanted(feed)))


_DEBOUNCE_SECONDS = 0.12
"""How long a session must be selected before it is read: a held key moves 30 times a second."""
_AGAIN_SECONDS = 1.0
"""The shortest time between two readings of the session that is shown."""


class PreviewPane(LineView, can_focus=False):
    """Shows the last lines of a session, its open calls and its to-do list. The keys stay in the list."""

    def __init__(self, key: str) -> None:
        super().__init__("Preview", id="preview")
        self.display = False
        self._key = key
        self._title = self._subtitle = ""
        self._row: Row | None = None
        self._session: Previewed | None = None
        self._read: Row | None = None
        self._is_reading = False
        self._lines: PreviewLines | None = None
        self._facts = NO_FACTS
        self._strips: list[Strip] = []
        self._due: Timer | None = None

    def show_row(self, row: Row | None) -> None:
        before, self._row = self._row, row
        is_other = row is None or before is None or row.key != before.key
        if is_other:
            self._session = self._lines = None
            self._strips = []
            self._say("" if row is None else "reading …")
        title = "Preview" if row is None else f"Preview · {title_line(row.title) or '…'}"
        if title != self._title:  # the list may have read the session's title only now
            self._title, self.border_title = title, Content(title)
        self._show_subtitle()
        facts = facts_of(row)
        if facts != self._facts or (row and row.status) != (before and before.status):
            self._facts = facts
            self._lay_out()
        if row is not None and (self._read is None or _version(row) != _version(self._read) or is_other):
            self._read_within(_DEBOUNCE_SECONDS if is_other else _AGAIN_SECONDS, is_other=is_other)

    def line_count(self) -> int:
        return len(self._strips)

    def draw(self, y: int, width: int) -> Strip:
        return self._strips[y] if y < len(self._strips) else Strip.blank(width)

    def show_below(self) -> None:
        """Do nothing: new lines are not counted."""

    def on_resize(self) -> None:
        self._lay_out()
        super().on_resize()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._lay_out()

    def _read_within(self, seconds: float, *, is_other: bool) -> None:
        if self._due is not None:
            if not is_other:
                return
            self._due.stop()
        self._due = self.set_timer(seconds, self._read_now)

    def _read_now(self) -> None:
        self._due = None
        row = self._row
        if row is None or not self.display or self._is_reading:
            return
        self._read = row
        if not row.can_open:
            self._say("only its metadata can be read")
            return
        self._is_reading = True
        self.run_worker(self._read_tail(row))

    async def _read_tail(self, row: Row) -> None:
        found: Previewed | OSError
        try:
            found = await asyncio.to_thread(row_session, row)
        except OSError as error:
            found = error
        self._take(row, found)

    def _take(self, row: Row, found: Previewed | OSError) -> None:
        self._is_reading = False
        wanted = self._row
        if wanted is None or wanted.key != row.key:
            if wanted is not None:
                self._read_within(0, is_other=True)
            return
        if isinstance(found, OSError):
            self._say(f"cannot be read: {safe_line(found.strerror or str(found)).lower()}")
            return
        self._session = found
        self._say("" if len(found.session.transcript) else "nothing in it yet")
        self._lay_out()
        if _version(wanted) != _version(row):
            self._read_within(_AGAIN_SECONDS, is_other=False)

    def _lay_out(self) -> None:
        region = self.scrollable_content_region
        if self._session is None or region.width < 1 or region.height < 1:
            return
        question = question_of(self._session, self._row, self._facts, self._key)
        session, size = self._session.session, region.size
        self._lines = PreviewLines(self, session, size.width, size.height, self._facts, question)
        self._redraw()

    def _show_subtitle(self) -> None:
        row = self._row
        words = "" if row is None else " · ".join(filter(None, (last_act(row, now_ms()), tests_words(row))))
        if words != self._subtitle:
            self._subtitle, self.border_subtitle = words, Content(words)

    def tick(self) -> None:
        self._show_subtitle()
        if self.display and self._lines is not None and self._lines.has_clocks:
            self._redraw()

    def _redraw(self) -> None:
        if self._lines is not None:
            strips = self._lines.lines(now_ms())
            if strips != self._strips:
                self._strips = strips
                self.painter.forget()
                self.show_lines()

    def _say(self, words: str) -> None:
        self.empty_words = SafeText(words)
        if not self._strips:
            self.painter.forget()
            self.show_lines()


def _version(row: Row) -> tuple[object, ...]:
    """Return what changes when the session of a row goes on."""
    return row.size, row.seen_ms, row.status.now
