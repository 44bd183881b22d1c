"""Rings for and marks the sessions that begin to need the user, or that have hit a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.catalog.hiding import key_of, name_of
from agentwatch.catalog.row import Row, Rows
from agentwatch.catalog.session_status import LIVE, Ground
from agentwatch.recording.alarms import rule_words
from agentwatch.recording.remembered import Choices
from agentwatch.text.safe import SafeText, cut, safe_line, title_line

if TYPE_CHECKING:
    from agentwatch.rules.alarms.watch import Announcement
    from agentwatch.screen.terminal.attention import Signals


_CHOSEN = Choices("rings.json", 500, bool)
_MOST_RUNG = 1000
_BLINK_MS = 500
"""Claude Code is busy or idle for up to 300 ms in a question; nobody misses the next one meanwhile."""


def is_silenced(key: Key) -> bool:
    """Return whether the user has chosen, in any list, that a session does not ring."""
    return not _CHOSEN.read().get(name_of(key), True)


def why_silent(row: Row) -> str:
    """Return why a session cannot ring; empty if it can."""
    if row.parent is not None:
        return "a subagent does not ring: the session that started it does"
    if row.status.state in LIVE:
        return ""
    why = "unknown whether it runs" if row.status.state is State.UNKNOWN else "it has ended"
    return f"it cannot ring: {why}"


class Rings:
    def __init__(self, *, by_default: bool, began_ms: int) -> None:
        """Read which sessions the user has chosen to ring, or not to ring; other sessions ring `by_default`.
        Sessions that needed the user before `began_ms`, the start of the list, do not ring for that."""
        self._by_default = by_default
        self._began_ms = began_ms
        self._chosen: dict[str, bool] = {}
        self._unwritten: dict[str, bool] = {}
        self.refresh()
        self._known: set[Key] = set()
        """All sessions, in any state."""
        self._asking: set[Key] = set()
        """The sessions that need the user, as reported by their agents."""
        self._rung: dict[Key, int | None] = {}
        """The beginning of the state for which each session has rung last."""
        self._ceased: dict[Key, int | None] = {}
        """Since when those that needed the user are in another state."""
        self.begun: list[Row] = []
        """The sessions that began to need the user at the last update, including those that do not ring."""
        self.marked: dict[Key, None] = {}
        """The sessions that have begun to need the user, and were not looked at since."""

    def rings(self, key: Key) -> bool:
        return self._chosen.get(name_of(key), self._by_default)

    def is_silenced(self, key: Key) -> bool:
        return not self._chosen.get(name_of(key), True)

    def toggle(self, *keys: Key) -> bool:
        """Let sessions ring, or stop that if all of them do; return whether they ring now. After an OSError
        the choice is valid in this list only, and the next choice writes it again."""
        rings = not all(map(self.rings, keys))
        for choices in (self._chosen, self._unwritten):
            choices.update(dict.fromkeys(map(name_of, keys), rings))

        def change(chosen: dict[str, bool]) -> None:
            for each in self._unwritten:
                chosen.pop(each, None)
            chosen.update(self._unwritten)

        self._chosen = _CHOSEN.change(change)
        self._unwritten = {}
        return rings

    def refresh(self) -> bool:
        """Read the choices, which other lists change too, and return whether any differs from before."""
        before, self._chosen = self._chosen, {**_CHOSEN.read(), **self._unwritten}
        return before != self._chosen

    def update(
        self, changed: Iterable[Row], vanished: Iterable[Key] = (), open_key: Key | None = None
    ) -> list[Row]:
        """Mark the sessions that have begun to need the user; return those that ring. Only a state that an
        agent reports counts, because an inferred state may be wrong."""
        begun = []
        for row in changed:
            key, status = row.key, row.status
            if status.state is State.ASKS and status.ground is Ground.SAID and row.parent is None:
                if key not in self._asking and self._is_new(row):
                    begun.append(row)
                self._asking.add(key)
            elif key in self._asking:
                self._asking.discard(key)
                self._ceased[key] = status.since_ms or 0
            self._known.add(key)
        self._asking.difference_update(vanished := set(vanished))
        self._known -= vanished
        for row in begun:
            self._rung[row.key] = row.status.since_ms
            if row.key != open_key:
                self.marked[row.key] = None
        for known in (self._rung, self._ceased):
            while len(known) > _MOST_RUNG:
                known.pop(next(iter(known)))
        self.begun = begun
        return [row for row in begun if self.rings(row.key)]

    def look_at(self, key: Key) -> bool:
        return key in self.marked and self.marked.pop(key) is None

    def applied(self, rows: Mapping[Key, Row]) -> Mapping[Key, Row]:
        """Return the rows with their rings and marks. The rings of sessions that have ended are left out."""
        keys = self.marked.keys() & rows.keys()
        if self._by_default:
            chosen = {key_of(name) for name, rings in self._chosen.items() if not rings}
            keys |= chosen & rows.keys()
        else:
            keys |= {key for key, row in rows.items() if row.status.state in LIVE}
        changed = {
            key: rows[key]._replace(rings=self.rings(key), is_marked=key in self.marked) for key in keys
        }
        return {**rows, **changed} if changed else rows

    def _is_new(self, row: Row) -> bool:
        since_ms = row.status.since_ms
        if since_ms is None:
            return row.key in self._known
        is_blink = 0 <= since_ms - (self._ceased.pop(row.key, None) or 0) < _BLINK_MS
        return since_ms >= self._began_ms and self._rung.get(row.key) != since_ms and not is_blink


# The hits of rules: bell, notification, toasts and marks in the rows.

_MOST_TOASTS = 3
_MOST_MARKS = 1000
_NEED_AGENT = ("pause", "stop")
_TITLE_COLUMNS = 60
_COLUMNS = 240
_NOT_STARTED = "agentwatch has not started this agent, and cannot {} it"


class RuleHit(NamedTuple):
    key: Key
    announcement: Announcement


class AlarmSigns:
    def __init__(
        self,
        rings: Rings,
        signals: Signals,
        toast: Callable[[SafeText], object],
        listed: Callable[[], tuple[Rows, Key | None]],
        show: Callable[[], object],
    ) -> None:
        """Mark no session; `listed` returns the sessions of the list, and the one that is open."""
        self._rings = rings
        self._signals = signals
        self._toast, self._listed, self._show = toast, listed, show
        self._marked: dict[Key, str] = {}

    def take(self, hits: list[RuleHit]) -> None:
        """Ring, notify and show toasts for hits, and mark their sessions. One that is open is not marked."""
        rows, open_key = self._listed()
        words = [_alarm_words(hit, rows.get(hit.key)) for hit in hits]
        loud = [
            (hit.announcement.alarm.action, said)
            for hit, said in zip(hits, words, strict=True)
            if hit.announcement.alarm.action not in ("log", "run") and self._rings.rings(hit.key)
        ]
        if loud:
            actions, first = {action for action, _ in loud}, loud[0][1]
            said = first if len(loud) == 1 else f"{len(loud)} alarms: {first}"
            self._signals.alert(said, rings=actions != {"note"}, notes=actions != {"bell"})
        for each in words[:_MOST_TOASTS]:
            self._toast(each)
        if len(words) > _MOST_TOASTS:
            self._toast(SafeText(f"{len(words) - _MOST_TOASTS:,} more alarms"))
        for hit in hits:
            if hit.key != open_key:
                self._marked.pop(hit.key, None)
                self._marked[hit.key] = hit.announcement.alarm.rule
        while len(self._marked) > _MOST_MARKS:
            self._marked.pop(next(iter(self._marked)))
        self._show()

    def look_at(self, key: Key) -> bool:
        return self._marked.pop(key, None) is not None

    def applied(self, rows: Mapping[Key, Row]) -> Mapping[Key, Row]:
        marked = self._marked.keys() & rows.keys()
        if not marked:
            return rows
        return {**rows, **{key: rows[key]._replace(alarm=self._marked[key]) for key in marked}}


def _alarm_words(hit: RuleHit, row: Row | None) -> SafeText:
    alarm, more = hit.announcement.alarm, hit.announcement.more
    title = "" if row is None else cut(title_line(row.title), _TITLE_COLUMNS)
    words = f"{rule_words(alarm.rule)} in {title or safe_line(hit.key[1][:_TITLE_COLUMNS])}"
    words += f": {safe_line(alarm.words)}" if alarm.words else ""
    words += f" … and {more:,} more" if more else ""
    if alarm.action in _NEED_AGENT:
        words = f"{cut(SafeText(words), _COLUMNS // 2)} ({_NOT_STARTED.format(alarm.action)})"
    return cut(SafeText(words), _COLUMNS)
