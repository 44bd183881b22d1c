"""The name of an earlier moment, for the header."""

from __future__ import annotations

from agentwatch.text.safe import SafeText
from agentwatch.text.times import time_of_day


def moment_name(at_ms: int | None, offset: int, size: int) -> SafeText:
    """Return the name of a moment: its time of day, or without a time its share of the bytes, `62 %`.

    Args:
        at_ms: The recorded time that is shown, in milliseconds since the epoch; None if it is unknown.
        offset: The moment, as a number of bytes.
        size: The number of bytes of the recording that were read so far.
    """
    return SafeText(f"{100 * offset // max(size, 1)} %" if at_ms is None else time_of_day(at_ms))
