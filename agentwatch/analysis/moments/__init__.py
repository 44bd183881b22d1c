"""The words for a moment of a session, such as `14:03:07`, `+95s`, `#12`, `50%` and `live`, and its offset.

A moment is the number of bytes of the recording that are shown.
"""

from agentwatch.analysis.moments.offsets import offset_of, time_of
from agentwatch.analysis.moments.words import (
    HINT,
    CallEnd,
    End,
    Instant,
    Moment,
    Named,
    Problem,
    Share,
    Shift,
    TimeOfDay,
    parse,
)

__all__ = [
    "HINT",
    "CallEnd",
    "End",
    "Instant",
    "Moment",
    "Named",
    "Problem",
    "Share",
    "Shift",
    "TimeOfDay",
    "offset_of",
    "parse",
    "time_of",
]
