"""The usage limits that an agent has reported: how full they are, and whether one refuses requests."""

from collections.abc import Iterable
from typing import NamedTuple

from agentwatch.session.events import Limits

WAITS_FOR_LIMIT = "waits for the limit"
_MOST_WINDOWS = 8
_FULL = 100


class Reported(NamedTuple):
    name: str
    """Its length, and the model if it counts only one: `5h`, `7d`, `7d opus`."""
    used_percent: float | None
    resets_ms: int | None
    said_ms: int | None
    """When it was reported; None if unknown."""

    def is_current(self, now_ms: int) -> bool:
        """Return whether the window is not over: after its reset, its share is not known."""
        return self.resets_ms is None or self.resets_ms > now_ms


class KnownLimits(NamedTuple):
    """What is known about the limits of a session's account."""

    windows: tuple[Reported, ...] = ()
    is_refused: bool = False
    """Whether a limit has refused the last request, and no turn or call has begun since."""
    until_ms: int | None = None
    """When that limit ends; None if the agent does not say it."""

    def waits(self, now_ms: int | None) -> bool:
        if not self.is_refused or now_ms is None:
            return False
        return self.until_ms is None or self.until_ms > now_ms

    def words(self, now_ms: int) -> str:
        if self.until_ms is None:
            return WAITS_FOR_LIMIT
        from agentwatch.text.times import coming  # 3 ms, which a printed session seldom needs

        return f"{WAITS_FOR_LIMIT} until {coming(self.until_ms, now_ms)}"


NO_LIMITS = KnownLimits()


def with_report(known: KnownLimits, event: Limits, at_ms: int | None) -> KnownLimits:
    """Return what is known after a report. A share that the report does not repeat stays known until the
    window is another one. A refusal that names no time lasts until the full windows are empty again."""
    said_ms = at_ms if event.at_ms is None else event.at_ms
    windows = {window.name: window for window in known.windows}
    for name, used, resets_ms in event.windows:
        before = windows.get(name)
        if used is not None or before is None or before.resets_ms != resets_ms:
            windows[name] = Reported(name, used, resets_ms, said_ms)
    kept = tuple(windows.values())[-_MOST_WINDOWS:]
    if event.is_refused is None:
        return known._replace(windows=kept)
    until_ms = event.until_ms
    if event.is_refused and until_ms is None:
        until_ms = full_until_ms(kept)
    return KnownLimits(kept, event.is_refused, until_ms)


def full_until_ms(windows: Iterable[Reported]) -> int | None:
    """Return when the windows of which nothing is left are empty again; None if that is not known."""
    resets = (each.resets_ms for each in windows if each.resets_ms and (each.used_percent or 0) >= _FULL)
    return max(resets, default=None)


def most_used(windows: Iterable[Reported], now_ms: int) -> float | None:
    """Return the share of the fullest window that is not over, in percent; None if none is known."""
    current = (each.used_percent for each in windows if each.is_current(now_ms))
    return max((used for used in current if used is not None), default=None)
