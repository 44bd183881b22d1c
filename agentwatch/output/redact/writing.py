"""Writes a recording with its changes, and counts what was masked. All other bytes are copied as they are."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentwatch.agents.fields import parse
from agentwatch.base.files import write_all
from agentwatch.output.redact.mask import PERSONAL
from agentwatch.recording.lines import LineReader, Lines
from agentwatch.recording.times import ArrivalTimes
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText

_BUCKET_BITS = 20
"""Changes are kept by MiB of the recording, each in 16 bytes."""
_INDEX_BITS = 32
_REST = ""
"""Takes the place of the rest of a value whose beginning has its mask."""


class _Edit(NamedTuple):
    start: int
    end: int
    mask: str
    kind: str
    """The kind of the value; empty for the rest of one whose mask is elsewhere."""


class Edits:
    """The changes of a recording, added in any order."""

    def __init__(self) -> None:
        self._buckets: dict[int, array[int]] = {}
        self._masks: list[tuple[str, str]] = [(_REST, "")]
        self._indices: dict[tuple[str, str], int] = {(_REST, ""): 0}

    def add(self, start: int, end: int, mask: str = _REST, kind: str = "") -> None:
        """Add a change. `start` is the offset of the first byte, `end` that after the last one."""
        index = self._indices.setdefault((mask, kind), len(self._masks))
        if index == len(self._masks):
            self._masks.append((mask, kind))
        bucket = self._buckets.setdefault(start >> _BUCKET_BITS, array("Q"))
        bucket.append(start)
        bucket.append(end - start << _INDEX_BITS | index)

    def between(self, start: int, end: int) -> list[_Edit]:
        """Return the changes in a part without overlaps; the longest of overlapping ones gives the mask."""
        changes: list[tuple[int, int, int]] = []
        for number in range(start >> _BUCKET_BITS, (end - 1 >> _BUCKET_BITS) + 1):
            bucket = self._buckets.get(number, ())
            for at, packed in zip(bucket[::2], bucket[1::2], strict=True):
                if start <= at < end:
                    changes.append((at, packed >> _INDEX_BITS, packed & (1 << _INDEX_BITS) - 1))
        merged: list[_Edit] = []
        longest = 0
        for at, length, index in sorted(changes, key=lambda change: (change[0], -change[1], change[2])):
            edit = _Edit(at, at + length, *self._masks[index])
            if not merged or at >= merged[-1].end:
                merged.append(edit)
                longest = length
                continue
            last = merged[-1]
            mask, kind = (edit if length > longest else last)[2:]
            longest = max(longest, length)
            merged[-1] = _Edit(last.start, max(last.end, edit.end), mask, kind)
        return merged


_MOST_KINDS = 8


class Report:
    """The number of masked values by kind.

    Example:
        >>> report = Report()
        >>> report.secrets["github"] += 2
        >>> report.personal["home folder"] += 1
        >>> report.words()
        'masked 2 secrets (2 github) and 1 personal value (1 home folder)'
    """

    def __init__(self) -> None:
        self.secrets: Counter[str] = Counter()
        self.personal: Counter[str] = Counter()

    def words(self) -> SafeText:
        parts = []
        if self.secrets:
            parts.append(f"{plural(self.secrets.total(), 'secret')} ({_kinds(self.secrets)})")
        if self.personal:
            parts.append(f"{plural(self.personal.total(), 'personal value')} ({_kinds(self.personal)})")
        return SafeText(f"masked {' and '.join(parts)}" if parts else "nothing to mask")


def _kinds(counts: Counter[str]) -> str:
    shown = [f"{number:,} {kind}" for kind, number in counts.most_common(_MOST_KINDS)]
    more = len(counts) - len(shown)
    return ", ".join([*shown, f"{more} more kinds"] if more else shown)


_STRING = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"|\\?\Z)', re.DOTALL)
_QUOTE = re.compile(rb'(?:\\.)++|(")', re.DOTALL)
_COPIED_BYTES = 1 << 20
_MOST_PARSED = 1 << 22


class Writer:
    """Writes lines of a recording into another file; `times` gets the arrival times of the written lines."""

    def __init__(self, fd: int, times: ArrivalTimes, edits: Edits) -> None:
        self.report = Report()
        self.before = array("Q")
        """The offset of the end of each line in the recording."""
        self.after = array("Q")
        """The offset of the end of the same line in the file."""
        self.size = 0
        self._fd = fd
        self._times = times
        self._edits = edits
        self._seen_ms: int | None = None

    def write(self, lines: Lines, reader: LineReader) -> None:
        offset, written = lines.offset, []
        length = lines.oversize or sum(map(len, lines.data))
        edits = self._edits.between(offset, offset + max(length, 1))
        if lines.oversize:
            self._note(lines, offset + length)
            size = sum(self._copy(reader, offset, length, edits))
            write_all(self._fd, b"\n")
            self._end_line(offset + length + 1, size + 1)
            return
        at = 0
        for raw in lines.data:
            line, end = raw.removesuffix(b"\n"), offset + len(raw)
            self._note(lines, offset + len(line))
            first = at
            while at < len(edits) and edits[at].start < end:
                at += 1
            changed = raw
            if at > first:
                changed = self._changed(line, offset, edits[first:at]) + raw[len(line) :]
            written.append(changed)
            self._end_line(offset + len(line) + 1, len(changed))
            offset = end
        write_all(self._fd, b"".join(written))

    def _note(self, lines: Lines, last: int) -> None:
        """Note the time of a line whose last byte has an offset in the recording."""
        seen_ms = lines.seen_ms(last)
        if seen_ms is not None and seen_ms != self._seen_ms:
            self._seen_ms = seen_ms
            self._times.note(self.size, seen_ms)

    def _end_line(self, end: int, size: int) -> None:
        self.size += size
        self.before.append(end)
        self.after.append(self.size)

    def _changed(self, line: bytes, offset: int, edits: Sequence[_Edit]) -> bytes:
        """Return a line with its changes. Only the insides of strings change in a line of JSON."""
        local = [_Edit(edit.start - offset, min(edit.end - offset, len(line)), *edit[2:]) for edit in edits]
        parts, at = [], 0
        for edit in _in_strings(line, local) if _is_json(line) else _between_quotes(line, local):
            if edit.kind:
                counts = self.report.personal if edit.kind in PERSONAL else self.report.secrets
                counts[edit.kind] += 1
            parts += [line[at : edit.start], edit.mask.encode("ascii", "replace")]
            at = edit.end
        return b"".join([*parts, line[at:]])

    def _copy(self, reader: LineReader, offset: int, length: int, edits: Sequence[_Edit]) -> Iterator[int]:
        """Write an oversize line in pieces, and yield the size of each."""
        end = offset + length
        for edit in [*edits, _Edit(end, end, "", "")]:
            while offset < edit.start:
                data = reader.line_at(offset, min(_COPIED_BYTES, edit.start - offset))
                if not data:
                    break
                write_all(self._fd, data)
                yield len(data)
                offset += len(data)
            data = self._changed(reader.line_at(offset, edit.end - offset), offset, [edit])
            write_all(self._fd, data)
            yield len(data)
            offset = edit.end


def _is_json(line: bytes) -> bool:
    """Return whether a line is JSON. A long line is not parsed: 16 MiB of `[],` would take 0.5 GB."""
    if len(line) > _MOST_PARSED:
        text = line.strip()
        return text.startswith(b"{") and text.endswith(b"}")
    try:
        parse(line)
    except ValueError:
        return False
    return True


def _in_strings(line: bytes, edits: Sequence[_Edit]) -> Iterator[_Edit]:
    """Yield the parts of changes that are inside strings of a line of JSON."""
    strings = _STRING.finditer(line)
    string = next(strings, None)
    for edit in edits:
        while string is not None and string.start(1) < edit.end:
            part = edit._replace(start=max(edit.start, string.start(1)), end=min(edit.end, string.end(1)))
            if part.start < part.end:
                yield part
            if string.end(1) >= edit.end:
                break
            string = next(strings, None)


def _between_quotes(line: bytes, edits: Sequence[_Edit]) -> Iterator[_Edit]:
    """Yield the parts of changes between quotes: a piece of a line of JSON stays one."""
    for edit in edits:
        start = edit.start
        for match in _QUOTE.finditer(line, edit.start, edit.end):
            if match[1] is not None:
                if start < match.start():
                    yield edit._replace(start=start, end=match.start())
                start = match.end()
        if start < edit.end:
            yield edit._replace(start=start)
