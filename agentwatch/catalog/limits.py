"""The usage limits of the agents of this machine, as the newest lines of their sessions report them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from agentwatch.session.limits import Reported, full_until_ms
from agentwatch.text.durations import age_words
from agentwatch.text.safe import SafeText, safe_line
from agentwatch.text.times import coming

if TYPE_CHECKING:
    from agentwatch.catalog.row import Row

FRESH_MS = 5 * 3_600_000
"""A report is shown for as long as the shortest window lasts. Another machine may use the account too."""
_LEAST_AGE_MS, _RECENT_MS = 60_000, 600_000
_SCARCE = 80
"""The share in percent from which a window is shown in the colour of a warning."""
_MOST_AGENTS = 8
_MOST_WINDOWS = 4
_LENGTHS = {"h": "h", "m": "min", "d": "d"}

Limits = Mapping[str, Sequence[Reported]]
"""The reported limits by the short name of the agent."""


class NewestLimits:
    """The newest report of each window by agent. Sessions of other machines may use other accounts."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Reported]] = {}

    def update(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if not row.limits or row.host or not row.agent:
                continue
            if row.agent not in self._known and len(self._known) >= _MOST_AGENTS:
                continue
            windows = self._known.setdefault(row.agent, {})
            for window in row.limits:
                before = windows.get(window.name)
                is_newer = before is None or (before.said_ms or 0) <= (window.said_ms or 0)
                if window.used_percent is not None and is_newer and (before or len(windows) < _MOST_WINDOWS):
                    windows[window.name] = window

    def shown(self, now_ms: int) -> Limits:
        """The windows that are not over, and whose report is fresh."""
        since_ms = now_ms - FRESH_MS
        fresh = {
            agent: [
                each
                for each in windows.values()
                if each.said_ms is not None and each.said_ms > since_ms and each.is_current(now_ms)
            ]
            for agent, windows in sorted(self._known.items())
        }
        return {agent: windows for agent, windows in fresh.items() if windows}


def limits_words(limits: Limits, now_ms: int) -> SafeText:
    """`claude 5 h 62 % · week 87 % · resets 14:00 · 3 min ago, codex 5 h 7 % · resets 15:30`."""
    return SafeText(", ".join(_agent_words(agent, windows, now_ms) for agent, windows in limits.items()))


def forms(limits: Limits, now_ms: int) -> list[SafeText]:
    """The longest form first. The other agents give way first, then the reset, then the windows that are less
    full; at last the age, if the report is younger than 10 minutes."""
    if not limits:
        return []
    agent = max(limits, key=lambda each: max(map(_used, limits[each])))
    windows = limits[agent]
    fullest = [max(windows, key=_used)]
    found = [limits_words(limits, now_ms), _agent_words(agent, windows, now_ms)]
    found += [_agent_words(agent, windows, now_ms, has_reset=False), _agent_words(agent, fullest, now_ms)]
    found.append(_agent_words(agent, fullest, now_ms, has_reset=False))
    if now_ms - (fullest[0].said_ms or 0) < _RECENT_MS:
        found.append(_shares(agent, fullest))
    return [SafeText(each) for each in dict.fromkeys(found)]


def is_scarce(limits: Limits) -> bool:
    return any(_used(each) >= _SCARCE for windows in limits.values() for each in windows)


def _used(window: Reported) -> float:
    return window.used_percent or 0


def _agent_words(agent: str, windows: Sequence[Reported], now_ms: int, *, has_reset: bool = True) -> str:
    words = [_shares(agent, windows)]
    resets = [each.resets_ms for each in windows if each.resets_ms is not None]
    if resets and has_reset:
        words.append(f"resets {coming(full_until_ms(windows) or min(resets), now_ms)}")
    age_ms = now_ms - min(each.said_ms or 0 for each in windows)
    if age_ms >= _LEAST_AGE_MS:
        words.append(f"{age_words(age_ms)} ago")
    return " · ".join(words)


def _shares(agent: str, windows: Sequence[Reported]) -> str:
    shares = (f"{_label(each.name)} {int(_used(each))} %" for each in windows)
    return f"{safe_line(agent)} {' · '.join(shares)}"


def _label(name: str) -> str:
    """`5 h`, `week`, `week opus`."""
    length, _, model = name.partition(" ")
    words = "week" if length == "7d" else f"{length[:-1]} {_LENGTHS.get(length[-1:], '')}"
    return safe_line(f"{words} {model}").strip()
