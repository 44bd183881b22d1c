"""Copies a recording without its secrets and personal data, in three readings: the first finds the secrets,
which may have a label in one place only, the second all their places, and the third writes the copy."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from agentwatch.output.redact.decoding import decoded, plain_value
from agentwatch.output.redact.mask import Masks
from agentwatch.output.redact.personal import Homes
from agentwatch.output.redact.secrets.key_files import KeyFiles
from agentwatch.output.redact.secrets.scanner import find
from agentwatch.output.redact.texts import Hit, Unit, Walk
from agentwatch.output.redact.writing import Edits, Report, Writer
from agentwatch.recording.lines import LineReader, Lines, Until
from agentwatch.recording.store import nameless_file
from agentwatch.recording.times import ArrivalTimes

_MOST = 10_000
_MOST_CHARACTERS = 1 << 20
"""The characters of all values that are kept."""
_LEAST = 6
_LEAST_INSIDE_A_WORD = 8
_LEAST_WORD = 16
"""A value of letters alone is a word, unless it is this long."""
_LEAST_NUMBER = 12
_FEW = 16
"""The number of values up to which values are searched one by one."""
_GRAMS: tuple[tuple[int, Literal["Q", "I"]], ...] = ((8, "Q"), (4, "I"))
_BEGINNING = 8
"""The least number of characters of a value whose rest was cut off."""
_MOST_CUT = 1024
"""The most characters that are left of a value that was cut off."""


class Values:
    """The values that are masked everywhere."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._characters = 0
        self._by_gram: dict[int, dict[int, list[str]]] | None = None
        self._by_beginning: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, value: str, kind: str) -> None:
        if value in self._kinds or len(self._kinds) >= _MOST or not _is_distinctive(value):
            return
        if self._characters + len(value) > _MOST_CHARACTERS:
            return
        self._characters += len(value)
        self._kinds[value] = kind
        if len(value) > _BEGINNING:
            self._by_beginning.setdefault(value[:_BEGINNING], []).append(value)
        self._by_gram = None

    def find(self, text: str) -> Iterator[Hit]:
        for value in self._candidates(text):
            kind, size = self._kinds[value], len(value)
            at = text.find(value)
            while at >= 0:
                if size >= _LEAST_INSIDE_A_WORD or _is_word(text, at, at + size):
                    yield Hit(at, at + size, kind, value)
                at = text.find(value, at + size)

    def cut_off(self, unit: Unit) -> Iterator[Hit]:
        """Yield where a text ends with the beginning of a value."""
        if not unit.is_cut or not self._by_beginning:
            return
        text = "".join(unit.texts)
        for at in self._beginnings(text):
            for value in self._by_beginning.get(text[at : at + _BEGINNING], ()):
                if value.startswith(text[at:]):
                    yield Hit(at, len(text), self._kinds[value], value)

    def _beginnings(self, text: str) -> Iterable[int]:
        """Return where values may begin that continue after the end of a text."""
        first = max(0, len(text) - _MOST_CUT)
        if len(self._by_beginning) > _FEW:
            return range(first, len(text) - _BEGINNING + 1)
        return [at for each in self._by_beginning if (at := text.rfind(each, first)) >= 0]

    def _candidates(self, text: str) -> Iterable[str]:
        """Return the values that a text may have. One of 15 bytes or more has 8 bytes that begin at a
        multiple of 8 of the text, one of 7 bytes has 4; the numbers that these bytes are make one set."""
        if len(self._kinds) <= _FEW:
            return self._kinds
        if self._by_gram is None:
            self._by_gram = self._grams()
        data = text.encode("utf-8", "surrogatepass")
        found: set[str] = set(self._by_gram[0].get(0, ()))
        for size, code in _GRAMS:
            wanted = self._by_gram[size]
            numbers = memoryview(data[: len(data) // size * size]).cast(code)
            if wanted and not wanted.keys().isdisjoint(numbers):
                for number in wanted.keys() & set(numbers):
                    found.update(wanted[number])
        return found

    def _grams(self) -> dict[int, dict[int, list[str]]]:
        """Return the values by each number that their first bytes can be in a text."""
        found: dict[int, dict[int, list[str]]] = {0: {0: []}, 4: {}, 8: {}}
        for value in self._kinds:
            data = value.encode("utf-8", "surrogatepass")
            for size, code in _GRAMS:
                if len(data) >= 2 * size - 1:
                    for at in range(size):
                        number = memoryview(data[at : at + size]).cast(code)[0]
                        found[size].setdefault(number, []).append(value)
                    break
            else:
                found[0][0].append(value)
        return found


def _is_distinctive(value: str) -> bool:
    """Return whether a value is masked without its label: it is neither a word nor a short number."""
    if len(value) < _LEAST:
        return False
    if value.isdigit():
        return len(value) >= _LEAST_NUMBER
    if value.replace("_", "").replace("-", "").isalpha():
        is_mixed = not (value.islower() or value.isupper() or value.istitle())
        return len(value) >= (_LEAST_NUMBER if is_mixed else _LEAST_WORD)
    return True


def _is_word(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


Progress = Callable[[int, int], None]
"""Is called with the number of bytes that are done and with their total."""
_SHARES = (6, 3, 1)
"""The parts of the time that the three readings take."""
_MASK = re.compile(r"\[(?:secret:)?[a-z -]{1,40} [0-9a-f]{4}\]|user-[0-9a-f]{4}")


class Redacted(NamedTuple):
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
    """Return a copy of a complete recording without its secrets and personal data. Recordings with the same
    `masks` have equal masks for equal values. Raise `OSError` if the copy cannot be written."""
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
        fd, times = nameless_file(), ArrivalTimes()
        writer = Writer(fd, times, self._edits)
        for lines in self._batches(2):
            writer.write(lines, self._reader)
        reader = LineReader(fd, Until(writer.size, is_over=True), times)
        return Redacted(reader, writer.report, writer.before, writer.after)

    def _batches(self, number: int) -> Iterator[Lines]:
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
    """Yield the secrets in a text. A mask is not a secret."""
    masked = [match.span() for match in _MASK.finditer(text)] if "[secret:" in text else []
    at = 0
    for found in find(text):
        while at < len(masked) and masked[at][1] <= found.start:
            at += 1
        if at == len(masked) or masked[at][0] >= found.end:
            yield Hit(*found, plain_value(text[found.start : found.end]))
