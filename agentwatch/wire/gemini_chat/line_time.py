"""The time at which a line of a chat was written."""

from __future__ import annotations

from agentwatch.wire.fields import Fields, items, mapping
from agentwatch.wire.on_disk.iso_time import iso_ms


def line_time(fields: Fields) -> int | None:
    """Return the time of a line, in milliseconds since the epoch; None if it has none.

    A message with calls is written again when they have ended, with the time of its first line. It is
    therefore as late as the latest of its calls.
    """
    for at_ms in (iso_ms(mapping(fields.get("$set")).get("lastUpdated")), iso_ms(fields.get("startTime"))):
        if at_ms is not None:
            return at_ms
    calls = (iso_ms(mapping(call).get("timestamp")) for call in items(fields.get("toolCalls")))
    times = [at_ms for at_ms in (iso_ms(fields.get("timestamp")), *calls) if at_ms is not None]
    return max(times, default=None)
