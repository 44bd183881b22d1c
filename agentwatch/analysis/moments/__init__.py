"""The words for a moment of a session, such as `14:03:07`, `+95s`, `#12`, `50%` and `live`, and its offset.

A moment is the number of bytes of the recording that are shown.
"""

from agentwatch.analysis.moments.addressed import addressed, base_of, is_known
from agentwatch.analysis.moments.offsets import offset_of, time_of
from agentwatch.analysis.moments.part import EMPTY, NOTHING_ASKED, Asked, Part, part_of
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
    "EMPTY",
    "HINT",
    "NOTHING_ASKED",
    "Asked",
    "CallEnd",
    "End",
    "Instant",
    "Moment",
    "Named",
    "Part",
    "Problem",
    "Share",
    "Shift",
    "TimeOfDay",
    "addressed",
    "base_of",
    "is_known",
    "offset_of",
    "parse",
    "part_of",
    "time_of",
]
