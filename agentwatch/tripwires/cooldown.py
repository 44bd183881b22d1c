"""Limits the announcements of a rule: the first hit at once, the following ones together."""

from __future__ import annotations

from agentwatch.recording.alarms import Alarm

COOLDOWN_MS = 10_000
"""A rule is announced at most once in this time, in milliseconds."""


class Announcement:
    """A hit that is announced, and the number of hits since the last announcement of the rule."""

    def __init__(self, alarm: Alarm, more: int = 0) -> None:
        """Announce an alarm.

        Args:
            alarm: The newest alarm of the rule.
            more: The number of other alarms of the rule that were not announced.
        """
        self.alarm = alarm
        self.more = more


class Cooldown:
    """Counts the hits of rules that were announced a short time ago."""

    def __init__(self) -> None:
        self._announced: dict[tuple[str, str], int] = {}
        """When each rule was announced last, in milliseconds; by its name and its action."""
        self._waiting: dict[tuple[str, str], tuple[Alarm, int]] = {}
        """For each rule with waiting hits, the newest hit and the number of the others."""

    def add(self, alarm: Alarm) -> Announcement | None:
        """Return the announcement of a hit; None if it has to wait."""
        key = alarm.rule, alarm.action
        now_ms, last_ms = alarm.at_ms, self._announced.get(key)
        if last_ms is not None and 0 <= now_ms - last_ms < COOLDOWN_MS:
            _, more = self._waiting.get(key, (alarm, -1))
            self._waiting[key] = (alarm, more + 1)
            return None
        self._announced[key] = now_ms
        _, more = self._waiting.pop(key, (alarm, -1))
        return Announcement(alarm, more + 1)

    def due(self, now_ms: int, *, is_over: bool = False) -> list[Announcement]:
        """Return the announcements that are due; at the end of the session, all that wait."""
        found = []
        for key, (alarm, more) in list(self._waiting.items()):
            if is_over or not 0 <= now_ms - self._announced[key] < COOLDOWN_MS:
                del self._waiting[key]
                self._announced[key] = now_ms
                found.append(Announcement(alarm, more))
        return found
