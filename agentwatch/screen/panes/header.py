"""The two lines at the top: the run with its counts, and what the agent does; and the to-do list below."""

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.widgets import Static

from agentwatch.analysis.integrity import Integrity
from agentwatch.analysis.status import Wait, context_words, figures, limit_words, turn_words
from agentwatch.feed.playhead import Playhead
from agentwatch.screen.keys import key_label
from agentwatch.screen.panes.moment import Moment
from agentwatch.screen.terminal.themes import muted
from agentwatch.screen.widgets.line_view import Posted
from agentwatch.session.actions import count_words
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus, Tokens
from agentwatch.session.limits import WAITS_FOR_LIMIT
from agentwatch.session.rules import DONE_ENTRIES
from agentwatch.session.runs import Run
from agentwatch.session.session import Session, calls_by_outcome
from agentwatch.sources.agent_processes import Survivor
from agentwatch.sources.source import Elsewhere, Publication, Source
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.durations import countdown, duration_words, running_clock
from agentwatch.text.paths import last_name
from agentwatch.text.safe import SafeText, columns, cut, safe_line
from agentwatch.text.signs import ASKS_SIGN, PLAN_SIGNS, SIGNS

# The part of the header about another machine: where the session runs, or where it is published.

_LEAST = 10
"""Columns. In fewer, no part of the name of a host says where it is."""


def machine_place(source: Source | None, width: int) -> tuple[SafeText, str]:
    """Return where a session runs or is published, in at most a third of `width`, and the colour of the
    words; empty if it is neither on another machine nor published."""
    if source is None:
        return SafeText(""), ""
    if source.elsewhere is not None:
        return SafeText(f"│ {_host(source.elsewhere, max(width // 3 - 3, 1))} "), "$text-accent"
    publication = source.written.publication
    if publication is None:
        return SafeText(""), ""
    colour = "$text-warning" if publication.has_trouble else "$text-accent"
    return SafeText(f"│ {_published(publication, width // 3 - 3)} "), colour


def _host(elsewhere: Elsewhere, most: int) -> SafeText:
    """Return the engine and the machine of a session if both fit, or the machine: `⇣ team · build-7`."""
    place = elsewhere.address.partition("://")[2].partition("/")[0].rpartition("@")[2]
    host = elsewhere.host or place
    if place.partition(":")[0] != host:
        both = safe_line(f"⇣ {place} · {host}")
        if columns(both) <= most:
            return both
    return cut(safe_line(f"⇣ {host}"), most)


def _published(publication: Publication, most: int) -> SafeText:
    forms = [*map(safe_line, publication.forms())]
    if most >= _LEAST:
        forms.insert(-1, cut(forms[-2], most))
    return next((form for form in forms if columns(form) <= most), forms[-1])


COLOURS = {
    **dict.fromkeys(Outcome, "$text-warning"),
    Outcome.RUNNING: "$text-accent",
    Outcome.SUCCEEDED: "$text-success",
    Outcome.FAILED: "$text-error",
}
_ASKS_COLOUR = "$text-warning"
_LEAST_FOR_WAIT = 120
"""Columns in which the state says what is waited for; the line below says it in any width."""
_LEAST_FOR_COUNTDOWN = 70
"""Columns in which the state says what the time that is left is for."""
_LEAST_FOR_BACK = 60
"""Columns in which the past says what the key at its right end does."""
_VERSION_COLUMNS = 20
_ID = 2
"""The group of the facts that contains the id; the group after it weighs less."""


class Count(NamedTuple):
    """A piece of the counts, which can be clicked if it counts an outcome."""

    words: SafeText
    outcome: Outcome | None = None
    asks: bool = False
    """Whether it counts the running calls that wait for the user."""
    key: str = ""

    @property
    def colour(self) -> str:
        """The colour of the count; empty for counts that matter less."""
        return _ASKS_COLOUR if self.asks else "" if self.outcome is None else COLOURS[self.outcome]


class HeaderLine(Static):
    """State and clock; agent and model, project, session, permission mode, key source; the counts: turn,
    calls by outcome, tokens, context and cost."""

    class CountClicked(Posted):
        outcome: Outcome

    def __init__(self, source: Source | None = None, live_key: str = "L") -> None:
        super().__init__(id="header")
        self._source = source
        self._live_key = live_key
        self._drawn: tuple[object, ...] = ()
        self._counts: list[Count] = []

    def show_run(
        self,
        session: Session,
        now_ms: int | None,
        as_of: Callable[[int], SafeText] = lambda _: SafeText(""),
        wait: Wait | None = None,
        asking: int = 0,
        *,
        is_closed: bool = False,
        is_preview: bool = False,
        is_read: bool = True,
    ) -> None:
        """Show the state of the run; redraw only if something changed. `now_ms` is None to hide the running
        clock. `as_of` returns, in a number of columns, how far the moment is behind the live one, which
        replaces the state. If it `is_closed`, an earlier moment is before its end, not behind live. A preview
        contains only the head and tail of a recording, so the counts are hidden. Until all that the recording
        contained when it was opened `is_read`, the state and the counts are old."""
        outcome, width = session.outcome, self.size.width
        pausing = None if self._source is None else self._source.pausing
        is_paused = pausing is not None and bool(pausing.rule)
        is_preview = is_preview or not is_read
        named = "? unknown format" if outcome is None else f"{SIGNS[outcome]} {session.outcome_words}"
        named = "‖ paused" if is_paused else named if is_read else "… reading"
        state = SafeText(f" {named}{_run_clock(session, now_ms) if is_read else ''} ")
        if wait is not None and not is_paused:
            state = _asks(wait, now_ms, width)
        limited = limit_words(session, now_ms) if wait is None and is_read and not is_paused else None
        if limited is not None:
            state = SafeText(f" ‖ limited{limited.removeprefix(WAITS_FOR_LIMIT)} ")
        where = "end" if is_closed else "live"
        if width >= _LEAST_FOR_BACK:
            where = "to the end" if is_closed else "back to live"
        back = SafeText(f"{key_label(self._live_key)} {where}")
        if earlier := as_of(width - columns(back) - 4):
            state = SafeText(f" {earlier} ")
        place, colour = machine_place(self._source, width)
        if earlier:
            width -= columns(back) + 4
        room = width - columns(state) - columns(place)
        counts = [Count(SafeText("… calls"))] if is_preview else _fitting_counts(session, room, asking)
        room -= _width(counts)
        context = None if is_preview or not counts else context_words(session.run.tokens)
        found = _fitting_facts(session, room, 0 if context is None else columns(context) + 4)
        if not is_preview and counts:
            counts = _with_figures(counts, session.tokens, found.room)
        room = width - columns(state) - columns(place) - _width(counts)
        left = room - sum(columns(group) + 3 for group in found.groups)
        facts = _with_folders(found._replace(room=left), session.run).groups
        if earlier:
            counts = [*counts, Count(back, key=self._live_key)]
            room += columns(back) + 4 - _width(counts) + _width(counts[:-1])
        dim = "" if earlier else muted(self.app.current_theme)
        outcome = outcome if is_read else Outcome.RUNNING
        shown_outcome = Outcome.UNFINISHED if is_paused else outcome or Outcome.UNFINISHED
        colour_of_state = COLOURS[shown_outcome] if wait is None and limited is None else _ASKS_COLOUR
        drawn = (state, colour_of_state, place, *facts, *counts, self.size.width, dim)
        if drawn == self._drawn:
            return
        self._drawn, self._counts = drawn, counts
        middle = "".join(f"│ {fact} " for fact in facts)
        gap = " " * (room - columns(SafeText(middle)))
        pieces: list[tuple[str, str]] = [(state, "bold" if earlier else f"bold {colour_of_state}")]
        pieces += [(place[:2], dim), (place[2:], "" if earlier else colour), (middle, dim), (gap, "")]
        for number, count in enumerate(counts):
            pieces.append((" · " if number else "", dim))
            style = "bold" if count.key else "" if earlier else count.colour
            pieces.append((count.words, style or dim))
        self.update(Content.assemble(*pieces, " " if counts else ""), layout=False)

    def on_click(self, event: events.Click) -> None:
        end = self.size.width - 1
        for count in reversed(self._counts):
            start = end - columns(count.words)
            if start <= event.x < end and count.key:
                self.app.simulate_key(count.key)
            elif start <= event.x < end and count.outcome is not None:
                self.post_message(self.CountClicked(count.outcome))
            end = start - 3


def _fitting_counts(session: Session, room: int, asking: int = 0) -> list[Count]:
    """Return the turn, the number of calls, and the number of each outcome, with signs instead of words if
    necessary. Calls that wait for the user (`asking`) are counted apart from running ones."""
    by_outcome = calls_by_outcome(session)
    total, *_ = count_words(by_outcome)
    by_outcome[Outcome.RUNNING] = by_outcome.get(Outcome.RUNNING, 0) - asking
    odd = [(n, SIGNS[each], each) for each, n in by_outcome.items() if n and each is not Outcome.SUCCEEDED]
    whole = [Count(SafeText(f"{number:,} {outcome}"), outcome) for number, _, outcome in odd]
    short = [Count(SafeText(f"{number:,} {sign}"), outcome) for number, sign, outcome in odd]
    if asking:
        whole.insert(0, Count(SafeText(f"{asking} asks"), Outcome.RUNNING, asks=True))
        short.insert(0, Count(SafeText(f"{asking} {ASKS_SIGN}"), Outcome.RUNNING, asks=True))
    turn = [Count(words)] if (words := turn_words(session.turns)) is not None else []
    forms = ([*turn, Count(total), *whole], [*turn, Count(total), *short], [Count(total), *short], short)
    return next((counts for counts in forms if _width(counts) <= room), [])


def _with_figures(counts: list[Count], tokens: Tokens, room: int) -> list[Count]:
    """Return the counts with as many figures as fit beside them; the context weighs most, the cost least."""
    whole, context, fitting = [*figures(tokens)], context_words(tokens), []
    for words in sorted(whole, key=lambda words: words != context):
        if columns(words) + 3 > room - 1:
            break
        fitting.append(words)
        room -= columns(words) + 3
    return [*counts, *(Count(words) for words in whole if words in fitting)]


def _width(counts: list[Count]) -> int:
    return sum(columns(count.words) + 3 for count in counts) - 2 if counts else 0


class Facts(NamedTuple):
    groups: list[SafeText]
    """The groups of facts in the order in which they are shown, each after a rule."""
    project: int | None
    room: int
    is_complete: bool


def _fitting_facts(session: Session, room: int, context: int) -> Facts:
    """Return the facts that fit; a fact that is too long is skipped. The first to give way are the key
    source, the permission mode and the id; then the agent's version, its name and the model. The `context`
    takes its columns first, because a full context ends a session."""
    whole = room
    run, agent = session.run, session.agent_name or session.run.format
    version = cut(safe_line(run.agent_version or ""), _VERSION_COLUMNS)
    order = (
        (last_name(_short(run.cwd) or ""),),
        (run.model,),
        (f"{agent} {version}" if agent and version else None, agent),
        ((run.session_id or "")[:8],),
        (run.permission_mode,),
        (run.api_key_source if run.api_key_source != "none" else None,),
    )
    shown: list[list[SafeText]] = [[], [], [], []]
    for forms, group in zip(order, (1, 0, 0, 2, 3, 3), strict=True):
        facts = [safe_line(form) for form in forms if form]
        if group == _ID and context <= room:
            room -= context
        fitting = next((fact for fact in facts if columns(fact) + 3 <= room), None)
        if fitting is not None:
            shown[group].append(fitting)
            room -= columns(fitting) + 3
        elif facts and group >= _ID:
            break  # the facts after the id weigh less than it
    shown[0].reverse()  # the agent's name is less important than the model, and comes before it
    groups = [SafeText(" · ".join(group)) for group in shown if group]
    room = whole - sum(columns(group) + 3 for group in groups)
    is_complete = sum(map(len, shown)) == sum(any(forms) for forms in order)
    return Facts(groups, bool(shown[0]) if shown[1] else None, room, is_complete)


def _with_folders(facts: Facts, run: Run) -> Facts:
    folders, name = safe_line(_short(run.cwd) or ""), safe_line(last_name(_short(run.cwd) or ""))
    more = columns(folders) - columns(name)
    has_all = run.model and run.format and run.session_id and run.permission_mode and run.api_key_source
    if facts.project is None or not (facts.is_complete and has_all) or more >= facts.room:
        return facts
    groups = [*facts.groups]
    groups[facts.project] = folders
    return facts._replace(groups=groups, room=facts.room - more)


def _asks(wait: Wait, now_ms: int | None, width: int) -> SafeText:
    """Return how long the session asks, such as ` ! asks 0:14 · waits for your answer `."""
    clock = wait.clock(now_ms)
    if left := countdown(wait.until_ms, now_ms):
        clock = f"(answers itself in {left})" if width >= _LEAST_FOR_COUNTDOWN else f"{left} left"
    about = f" · {wait.words}" if width >= _LEAST_FOR_WAIT else ""
    return SafeText(f" {f'{ASKS_SIGN} asks {clock}'.rstrip()}{about} ")


def _run_clock(session: Session, now_ms: int | None) -> str:
    """Return the duration of the session; while a turn is open, how long it has lasted."""
    run = session.run
    if session.outcome is not Outcome.RUNNING:
        return "" if session.duration_ms is None else f" {duration_words(session.duration_ms)}"
    began_ms = run.began_seen_ms if run.turn_seen_ms is None else run.turn_seen_ms
    return "" if now_ms is None or began_ms is None else f" {running_clock(now_ms - began_ms)}"


def _short(cwd: str | None) -> str | None:
    home = os.path.expanduser("~")
    if cwd and home != "/" and (cwd == home or cwd.startswith(f"{home}/")):
        return f"~{cwd[len(home) :]}"
    return cwd


# The agent's to-do list, shown above the panes.

Entries = tuple[PlanEntry, ...]
_LEAST_WIDE = 100
_MOST_LINES = 3
_GAP = 3
_MORE = 15
"""Columns reserved for `… N more`."""


class PlanView(Static):
    """Shows how many items are done, and the current one; on a wide screen all, in three lines, if open."""

    def __init__(self, session: Session) -> None:
        super().__init__(id="todo")
        self._session = session
        self._drawn: tuple[Entries, int] = ((), 0)

    def show(self, session: Session) -> None:
        self._session = session
        self.sync()

    def on_resize(self) -> None:
        self.sync()

    def sync(self) -> None:
        plan, width = self._session.plan, self.app.size.width
        if (plan, width) == self._drawn or not (plan or self._drawn[0]):  # an empty update is a layout too
            return
        self._drawn = plan, width
        self.set_class(bool(plan), "-shown")
        draw = _whole if width >= _LEAST_WIDE and any(map(_is_open, plan)) else _line
        self.update(draw(plan, width - 2, muted(self.app.current_theme)))


def _is_open(entry: PlanEntry) -> bool:
    return entry.status in (PlanStatus.IN_PROGRESS, PlanStatus.PENDING)


def _count(plan: Entries) -> SafeText:
    done = sum(entry.status is PlanStatus.COMPLETED for entry in plan)
    return SafeText(f"{done} of {len(plan)} done")


def _line(plan: Entries, width: int, dim: str) -> Content:
    first = {entry.status: entry for entry in reversed(plan)}
    now = first.get(PlanStatus.IN_PROGRESS) or first.get(PlanStatus.PENDING)
    count = cut(_count(plan), width)
    if now is None:
        return Content.styled(cut(SafeText(f"to-do list: {count}"), width), dim)
    room = width - columns(count) - _GAP
    item = cut(_item(now), room) if room > 3 else SafeText("")
    return Content.assemble((f"{count} · " if item else count, dim), _styled(now, item, dim))


def _whole(plan: Entries, width: int, dim: str) -> Content:
    """Return the count and the items in a few lines; if not all fit, start at the first open item."""
    rows, left = _rows(_count(plan), plan, width, dim)
    if left:
        opened = next((number for number, entry in enumerate(plan) if _is_open(entry)), 0)
        rows, _ = _rows(_count(plan), plan[opened:], width, dim)
    return Content("\n").join(Content(" " * _GAP).join(row) for row in rows)


def _rows(count: SafeText, plan: Entries, width: int, dim: str) -> tuple[list[list[Content]], int]:
    """Return the rows of the items, and the number of items that do not fit; the last row shows it."""
    rows: list[list[Content]] = [[Content.styled(count, dim)]]
    room = width - columns(count)
    for number, entry in enumerate(plan):
        item, left = cut(_item(entry), width - 2 * _MORE), len(plan) - number
        is_last_row = len(rows) == _MOST_LINES
        if columns(item) + _GAP + (_MORE if is_last_row and left > 1 else 0) > room:
            if is_last_row:
                rows[-1].append(Content.styled(f"… {left} more", dim))
                return rows, left
            rows.append([])
            room = width
        rows[-1].append(_styled(entry, item, dim))
        room -= columns(item) + _GAP
    return rows, 0


def _item(entry: PlanEntry) -> SafeText:
    return safe_line(f"{PLAN_SIGNS[entry.status]} {entry.text}")


def _styled(entry: PlanEntry, item: SafeText, dim: str) -> Content:
    is_current = entry.status is PlanStatus.IN_PROGRESS
    rest = dim if entry.status in DONE_ENTRIES else ""
    return Content.styled(item, "bold $text-accent" if is_current else rest)


# The line below the header: what the agent does, and the state of the view, or if the recording is whole.


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
        """Show the status; redraw only if something changed. If `view`, the state of the view, is empty, the
        line says whether the recording is whole. `left` is the remaining work, the most important first, each
        with the outcome whose colour it has."""
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
"""The number of unread bytes from which reading has priority over drawing."""
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
    """Return the state of the view, and what needs attention; usually empty. `below` is the number of new
    lines below the viewport; 0 if the pane's border shows it."""
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
        words.append(f"{below:,} new below ▾")
    return SafeText(" · ".join(words))
