"""Shows the user of the list that rules were hit: bell, notification, toasts and marks in the rows.

The list starts without rules too. The language of rules is imported only with the first rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.found import Key
from agentwatch.base.config import OnSetting
from agentwatch.catalog.row import Row
from agentwatch.catalog.watched import Rows
from agentwatch.rules.alarms.words import rule_words
from agentwatch.screen.screens.sessions.rings import Rings
from agentwatch.screen.terminal.attention import Signals
from agentwatch.text.safe import SafeText, cut, safe_line

if TYPE_CHECKING:
    from agentwatch.output.commands import Commands
    from agentwatch.rules.alarms.watch import Announcement
    from agentwatch.screen.screens.sessions.session_alarms import SessionAlarms

_MOST_TOASTS = 3
_MOST_MARKS = 1000
_NEED_AGENT = ("pause", "stop")
_TITLE_COLUMNS = 60
_COLUMNS = 240
_NOT_STARTED = "agentwatch has not started this agent, and cannot {} it"


class RuleHit(NamedTuple):
    """A rule that was hit in a session of the list."""

    key: Key
    announcement: Announcement


def session_alarms(
    rules: Sequence[OnSetting], report: Callable[[list[RuleHit]], object], commands: Commands | None = None
) -> SessionAlarms | None:
    """Return what judges the sessions of the list; None without rules. `report` is called with new hits, in
    the thread that steps; `commands` is None if no rule has one."""
    if not rules:
        return None
    from agentwatch.rules.alarms.tripwire import tripwire
    from agentwatch.screen.screens.sessions.session_alarms import SessionAlarms

    return SessionAlarms([tripwire(*each, allows_patterns=True) for each in rules], report, commands)


class AlarmSigns:
    """The marks of the sessions in which a rule was hit, until the user looks at them."""

    def __init__(
        self,
        rings: Rings,
        signals: Signals,
        toast: Callable[[SafeText], object],
        listed: Callable[[], tuple[Rows, Key | None]],
        show: Callable[[], object],
    ) -> None:
        """Mark no session. `toast` shows words for some seconds. `listed` returns the sessions of the list,
        and the one that is open on the screen, if any."""
        self._rings = rings
        self._signals = signals
        self._toast, self._listed, self._show = toast, listed, show
        self._marked: dict[Key, str] = {}
        """The name of the last rule that each session has hit."""

    def take(self, hits: list[RuleHit]) -> None:
        """Ring, notify and show toasts for hits, and mark their sessions. One that is open is not marked."""
        rows, open_key = self._listed()
        words = [_words(hit, rows.get(hit.key)) for hit in hits]
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
        """Remove the mark of a session; return whether it had one."""
        return self._marked.pop(key, None) is not None

    def applied(self, rows: Mapping[Key, Row]) -> Mapping[Key, Row]:
        """Return the rows with their marks."""
        marked = self._marked.keys() & rows.keys()
        if not marked:
            return rows
        return {**rows, **{key: replace(rows[key], alarm=self._marked[key]) for key in marked}}


def _words(hit: RuleHit, row: Row | None) -> SafeText:
    alarm, more = hit.announcement.alarm, hit.announcement.more
    title = "" if row is None else cut(safe_line(row.title), _TITLE_COLUMNS)
    words = f"{rule_words(alarm.rule)} in {title or safe_line(hit.key[1][:_TITLE_COLUMNS])}"
    words += f": {safe_line(alarm.words)}" if alarm.words else ""
    words += f" … and {more:,} more" if more else ""
    if alarm.action in _NEED_AGENT:
        words = f"{cut(SafeText(words), _COLUMNS // 2)} ({_NOT_STARTED.format(alarm.action)})"
    return cut(SafeText(words), _COLUMNS)
