"""The usage limits in the lines of Claude Code: `rate_limit_info` in a stream, `quotaLimits` in a file."""

from __future__ import annotations

from agentwatch.agents.fields import Fields, mapping, percent, seconds_ms, text
from agentwatch.session.events import Limits, LimitWindow

_LENGTHS = {"five_hour": "5h", "seven_day": "7d"}
_MOST_NAME = 40
_MOST_WINDOWS = 6


def limits_in(info: Fields, at_ms: int | None = None) -> list[Limits]:
    """Return how full the windows of the account are, and whether one refuses requests.

    `unifiedWindows` has all windows; older versions name only the fullest. While the account pays for more
    (`isUsingOverage`), nothing is refused.
    """
    windows: dict[str, LimitWindow] = {}
    for key, window in mapping(info.get("unifiedWindows")).items():
        found = _window(key, mapping(window))
        if found is not None and len(windows) < _MOST_WINDOWS:
            windows[found.name] = found
    own = _window(text(info, "rateLimitType") or "", info)
    if own is not None:
        windows.setdefault(own.name, own)
    status = text(info, "status") or ""
    is_refused = status == "rejected" and info.get("isUsingOverage") is not True
    if not windows and not is_refused:
        return []
    until_ms = seconds_ms(info, "resetsAt") if is_refused else None
    return [Limits(tuple(windows.values()), is_refused if status else None, until_ms, at_ms)]


def _window(key: str, fields: Fields) -> LimitWindow | None:
    """Return a window by its name: `five_hour`, `seven_day`, `seven_day_opus`; None for another one."""
    length = next((each for each in _LENGTHS if key == each or key.startswith(f"{each}_")), None)
    if length is None:
        return None
    model = key[len(length) : _MOST_NAME].replace("_", " ")
    used, resets_ms = percent(fields.get("utilization"), 1), seconds_ms(fields, "resetsAt")
    return (
        None if used is None and resets_ms is None else LimitWindow(_LENGTHS[length] + model, used, resets_ms)
    )
