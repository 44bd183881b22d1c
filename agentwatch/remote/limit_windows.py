"""The windows of usage limits in what machines send each other: a JSON array of objects, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentwatch.base.json_fields import Field, values_in, values_of
from agentwatch.session.limits import Reported

_LARGEST = 1 << 53
_MOST = 8
_FIELDS = (
    Field("name", str, 40, ""),
    *(Field(name, int, _LARGEST) for name in ("used_percent", "resets_ms", "said_ms")),
)


def encoded(windows: Iterable[Reported]) -> list[dict[str, Any]]:
    """Return windows as JSON objects; their shares are whole percent."""
    return [
        values_of(_FIELDS, each, used_percent=None if each.used_percent is None else int(each.used_percent))
        for each in windows
    ]


def decoded(value: object) -> tuple[Reported, ...]:
    """Return the windows in a foreign value, at most 8; none if it is not an array of such objects."""
    given = value[:_MOST] if isinstance(value, list) else []
    found = (Reported(**values_in(_FIELDS, each)) for each in given if isinstance(each, dict))
    return tuple(each for each in found if each.name)
