"""How the lines of a recording were understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from agentwatch.events import Malformed, Unknown
from agentwatch.session.call import Place

_MOST_ODD_LINES = 1000


class OddLine(NamedTuple):
    """A line that was not understood, and where it stands."""

    event: Malformed | Unknown
    place: Place


@dataclass(slots=True)
class LineCounts:
    """How the recording's lines were understood: each line that is not blank counts once."""

    events: int = 0
    malformed: int = 0
    unknown: int = 0
    repaired: int = 0
    """Of the events, those that were not quite JSON and were read all the same."""
    oversize: int = 0
    """Lines over 16 MiB, of which only the two ends were read."""

    odd: list[OddLine] = field(default_factory=list, compare=False, repr=False)
    """The lines that are malformed or unknown, the first 1,000 of them."""

    @property
    def total(self) -> int:
        """All lines that are not blank."""
        return self.events + self.malformed + self.unknown

    def count_odd(self, event: Malformed | Unknown, place: Place, physical_lines: int) -> None:
        """Count a line that was not understood."""
        if isinstance(event, Malformed):
            self.malformed += physical_lines
        else:
            self.unknown += physical_lines
        if len(self.odd) < _MOST_ODD_LINES:
            self.odd.append(OddLine(event, place))
