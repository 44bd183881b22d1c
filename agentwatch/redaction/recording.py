"""Copies a recording without its secrets and personal data.

The recording is read three times. The first reading finds the secrets, which may have a label in one place
only. The second one finds each of them everywhere, and the personal data. The third one writes the copy.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from agentwatch.recording import ArrivalTimes, LineReader, Lines, nameless_file
from agentwatch.redaction.decoding import decoded, plain_value
from agentwatch.redaction.edits import Edits
from agentwatch.redaction.homes import Homes
from agentwatch.redaction.mask import Masks
from agentwatch.redaction.report import Report
from agentwatch.redaction.secrets import find
from agentwatch.redaction.secrets.key_files import KeyFiles
from agentwatch.redaction.texts.levels import Hit
from agentwatch.redaction.texts.unit import Unit
from agentwatch.redaction.texts.walk import Walk
from agentwatch.redaction.values import Values
from agentwatch.redaction.writing import Writer

Progress = Callable[[int, int], None]
"""Is called with the number of bytes that are done and with their total."""
_SHARES = (6, 3, 1)
"""The parts of the time that the three readings take."""
_MASK = re.compile(r"\[(?:secret:)?[a-z -]{1,40} [0-9a-f]{4}\]|user-[0-9a-f]{4}")


class Complete:
    """The growth of a recording that is complete."""

    def __init__(self, size: int) -> None:
        self._size = size

    def size(self) -> int:
        """Return the number of bytes that may be read."""
        return self._size

    def has_ended(self) -> bool:
        """Return True."""
        return True


class Redacted(NamedTuple):
    """A redacted recording."""

    reader: LineReader
    """Reads it. It has the same lines as the recording, with their arrival times."""
    report: Report
    before: array[int]
    """The offset of the end of each line in the recording."""
    after: array[int]
    """The offset of the end of the same line in the redacted recording."""

    def offset_of(self, offset: int) -> int:
        """Return the place that a line end of the recording has in the redacted recording."""
        if offset <= 0 or not self.before:
            return 0
        return self.after[min(bisect_left(self.before, offset), len(self.after) - 1)]


def redacted(reader: LineReader, progress: Progress | None = None, masks: Masks | None = None) -> Redacted:
    """Return a copy of a complete recording without its secrets and personal data.

    Args:
        reader: Reads the recording from its start.
        progress: Is called now and then.
        masks: Makes the masks; those of several recordings, if equal values must get equal masks in all.

    Raises:
        OSError: The copy cannot be written.
    """
    redaction = _Redaction(reader, progress, masks or Masks())
    redaction.find_secrets()
    redaction.find_everywhere()
    return redaction.copy()


class _Redaction:
    """The readings of a recording, and what they have found."""

    def __init__(self, reader: LineReader, progress: Progress | None, masks: Masks) -> None:
        self._reader = reader
        self._progress = progress
        self._masks = masks
        self._values = Values()
        self._homes = Homes()
        self._edits = Edits()

    def find_secrets(self) -> None:
        """Find the secrets, and whose recording it is."""

        def secrets(text: str) -> Iterator[Hit]:
            self._homes.read(text)
            return _secrets(text)

        walk = Walk(secrets, self._take_secrets, KeyFiles())
        for lines in self._batches(0):
            walk.read(lines, self._reader)
        walk.finish()

    def find_everywhere(self) -> None:
        """Find where the secrets occur again, and the personal data."""
        personal = self._homes.personal()

        def known(text: str) -> Iterator[Hit]:
            yield from self._values.find(text)
            for found in personal.find(text):
                value = text[found.start : found.end]
                if not _MASK.fullmatch(value):
                    yield Hit(*found, value)

        def known_in_escapes(text: str) -> Iterator[Hit]:
            yield from known(text)
            hidden = decoded(text)
            if hidden is not None:
                for hit in known(hidden.text):
                    yield Hit(*hidden.span(hit.start, hit.end), hit.kind, hit.value)

        walk = Walk(known_in_escapes, self._take_known)
        for lines in self._batches(1):
            walk.read(lines, self._reader)
        walk.finish()

    def copy(self) -> Redacted:
        """Write the copy."""
        fd, times = nameless_file(), ArrivalTimes()
        writer = Writer(fd, times, self._edits)
        for lines in self._batches(2):
            writer.write(lines, self._reader)
        reader = LineReader(fd, Complete(writer.size), times)
        return Redacted(reader, writer.report, writer.before, writer.after)

    def _batches(self, number: int) -> Iterator[Lines]:
        """Yield the lines of the recording from its start, for one of the readings."""
        reader = LineReader(self._reader.fd, self._reader.growth, self._reader.times)
        done, share = sum(_SHARES[:number]), _SHARES[number]
        while lines := reader.read():
            yield lines
            if self._progress is not None:
                size = reader.growth.size()
                self._progress(done * size + share * reader.offset, sum(_SHARES) * size)

    def _take_secrets(self, unit: Unit, hits: Sequence[Hit]) -> None:
        for hit in hits:
            self._values.add(hit.value, hit.kind)
        self._mask(unit, hits)

    def _take_known(self, unit: Unit, hits: Sequence[Hit]) -> None:
        self._mask(unit, [*hits, *self._values.cut_off(unit)])

    def _mask(self, unit: Unit, hits: Sequence[Hit]) -> None:
        if not hits:
            return
        places = unit.places([(hit.start, hit.end) for hit in hits], self._reader.line_at)
        for hit, spans in zip(hits, places, strict=True):
            mask, kind = self._masks.mask(hit.value, hit.kind), hit.kind
            for start, end in spans:
                self._edits.add(start, end, mask, kind)
                mask, kind = ("" if unit.is_escaped else mask), ""


def _secrets(text: str) -> Iterator[Hit]:
    """Yield the secrets in a text. A mask is no secret."""
    masked = [match.span() for match in _MASK.finditer(text)] if "[secret:" in text else []
    at = 0
    for found in find(text):
        while at < len(masked) and masked[at][1] <= found.start:
            at += 1
        if at == len(masked) or masked[at][0] >= found.end:
            yield Hit(*found, plain_value(text[found.start : found.end]))
