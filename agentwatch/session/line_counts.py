"""Counts the lines of a recording by how they were decoded."""

from dataclasses import dataclass, field
from typing import NamedTuple

from agentwatch.events import Malformed, Unknown
from agentwatch.session.bounds import bounded
from agentwatch.session.call import Place

_MOST_ODD_LINES = 1000
_JSON_STARTS = ("{", "[")
"""How an event begins. A line that begins so and is no JSON is an event of which a part is missing."""


class OddLine(NamedTuple):
    """A malformed or unknown line, and its place in the recording.

    Example:
        >>> import agentwatch
        >>> odd = agentwatch.load("recordings/malformed.ndjson").lines.odd[0]
        >>> odd.event.reason, odd.place.offset
        ('not JSON', 0)
    """

    event: Malformed | Unknown
    place: Place


@dataclass(slots=True)
class LineCounts:
    """The number of lines of each kind. Every line that is not blank counts once.

    Example:
        >>> import agentwatch
        >>> lines = agentwatch.load("recordings/malformed.ndjson").lines
        >>> lines.total, lines.events, lines.malformed, lines.repaired
        (12, 9, 3, 1)
    """

    events: int = 0
    malformed: int = 0
    unknown: int = 0
    repaired: int = 0
    """The lines among `events` that were not valid JSON and were repaired."""
    oversize: int = 0
    """Lines over 16 MiB, of which only the head and the tail were read."""

    first_text: str = field(default="", compare=False, repr=False)
    """The beginning of the first line, if it was malformed or written by no known agent."""
    last_text: str = field(default="", compare=False, repr=False)
    """The beginning of the last line that is no JSON, since the last run started."""

    odd: list[OddLine] = field(default_factory=list, compare=False, repr=False)
    """The first 1,000 malformed or unknown lines."""

    @property
    def total(self) -> int:
        """The number of all lines that are not blank."""
        return self.events + self.malformed + self.unknown

    def count_odd(self, event: Malformed | Unknown, place: Place, physical_lines: int) -> None:
        """Count a malformed or unknown line.

        Args:
            event: The event that the line was decoded to.
            place: Where the line is in the recording.
            physical_lines: The number of lines of the recording that were joined to this one.
        """
        if isinstance(event, Malformed):
            if not self.total:
                self.first_text = event.text
            if not event.text.startswith(_JSON_STARTS):
                self.last_text = event.text
            self.malformed += physical_lines
        else:
            if not self.total:
                self.first_text = event.line
            self.unknown += physical_lines
        if isinstance(event, Unknown):
            event = event._replace(what=bounded(event.what) or "")
        if len(self.odd) < _MOST_ODD_LINES:
            self.odd.append(OddLine(event, place))
