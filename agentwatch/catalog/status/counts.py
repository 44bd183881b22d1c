"""How many sessions are in each group of the list."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agentwatch.catalog.row import Row

UNKNOWN = "–"
LIMITS = "limits"
"""The field of a template for the usage limits in words."""
_MOST = 1 << 53


class Counts(NamedTuple):
    """The number of sessions in each group; None where it is unknown."""

    needs_you: int | None = 0
    working: int | None = 0
    failed: int | None = 0
    """Sessions whose last turn failed, and whose process still runs."""
    quiet: int | None = 0
    your_turn: int | None = 0
    ended_today: int | None = 0
    """Sessions that have ended since midnight, local time."""
    unknown: int | None = 0
    """Sessions with activity today that may run, and whose state is not known."""

    def line(self) -> str:
        """Return what deserves attention, in one line: `2 need you · 3 working`.

        It is empty if there is nothing, and a dash if nothing is known.
        """
        if self == UNKNOWN_COUNTS:
            return UNKNOWN
        needs = "needs you" if self.needs_you == 1 else "need you"
        words = (
            (self.needs_you, needs),
            (self.working, "working"),
            (self.failed, "failed"),
            (self.quiet, "quiet"),
            (self.unknown, "unknown"),
        )
        return " · ".join(f"{count} {word}" for count, word in words if count)

    def filled(self, template: str, limits: str = "") -> str:
        """Return a template with each `{field}` replaced by its count or by the limits, `–` if unknown. Raise
        `UnknownFieldError` if the template has something else in braces than the name of a field."""
        pieces, at = [], 0
        while (begin := template.find("{", at)) >= 0 and (end := template.find("}", begin)) >= 0:
            name = template[begin + 1 : end]
            if name == LIMITS:
                pieces += [template[at:begin], limits or UNKNOWN]
            elif name in self._fields:
                count = self[self._fields.index(name)]
                pieces += [template[at:begin], UNKNOWN if count is None else str(count)]
            else:
                raise UnknownFieldError(name)
            at = end + 1
        return "".join((*pieces, template[at:]))


UNKNOWN_COUNTS = Counts(*[None] * len(Counts._fields))


class UnknownFieldError(Exception):
    """A template names a field that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{{{name}}} is not a field; known fields: {known_fields()}")


def known_fields() -> str:
    """Return the fields of a template, in words."""
    return ", ".join(f"{{{name}}}" for name in (*Counts._fields, LIMITS))


def counts_of(rows: Iterable[Row], now_ms: int) -> Counts:
    """Return the counts of the sessions of this machine in a list. Those of other machines are left out:
    without an open list, nobody could count them. `rows` has the hidden sessions too."""
    from agentwatch.agents.reported import State
    from agentwatch.catalog.row_counts import counts

    all_rows = [row for row in rows if not row.host]
    counted = counts(all_rows, now_ms)
    begin_ms = midnight(now_ms)
    unknown = sum(
        row.standing.state is State.UNKNOWN and row.parent is None and (row.seen_ms or 0) >= begin_ms
        for row in all_rows
    )
    return Counts(
        needs_you=counted.needs_you,
        working=counted.working,
        failed=counted.failed,
        quiet=counted.quiet,
        your_turn=counted.your_turn,
        ended_today=counted.ended_today,
        unknown=unknown,
    )


def counts_in(kept: dict[str, object]) -> Counts | None:
    """Return the counts in an object that was read; None if one of them is missing, or no count."""
    values: list[int | None] = []
    for name in Counts._fields:
        value = kept.get(name, "")
        if value is not None and not (type(value) is int and 0 <= value < _MOST):
            return None
        values.append(value)
    return Counts(*values)


def midnight(at_ms: int) -> int:
    """Return the midnight before a time, in local time; the time itself if it is beyond the calendar."""
    try:
        now = time.localtime(at_ms // 1000)
        return int(time.mktime((now.tm_year, now.tm_mon, now.tm_mday, 0, 0, 0, 0, 0, -1))) * 1000
    except (OverflowError, ValueError, OSError):
        return at_ms
