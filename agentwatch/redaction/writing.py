"""Writes a recording with its changes. What does not change is copied byte for byte."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence

from agentwatch.recording import ArrivalTimes, LineReader, Lines
from agentwatch.redaction.edits import Edit, Edits
from agentwatch.redaction.mask import PERSONAL
from agentwatch.redaction.report import Report
from agentwatch.wire.json_line import parse
from agentwatch.writing import write_all

_STRING = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"|\\?\Z)', re.DOTALL)
_QUOTE = re.compile(rb'(?:\\.)++|(")', re.DOTALL)
_COPIED_BYTES = 1 << 20
_MOST_PARSED = 1 << 22


class Writer:
    """Writes the lines of a recording into another file.

    Args:
        fd: The file.
        times: Gets the arrival times of the written lines.
        edits: What is changed.
    """

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
        """Write the lines of a batch.

        Raises:
            OSError: They cannot be written.
        """
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

    def _changed(self, line: bytes, offset: int, edits: Sequence[Edit]) -> bytes:
        """Return a line with its changes. Only the insides of strings change in a line of JSON."""
        local = [Edit(edit.start - offset, min(edit.end - offset, len(line)), *edit[2:]) for edit in edits]
        parts, at = [], 0
        for edit in _in_strings(line, local) if _is_json(line) else _between_quotes(line, local):
            self._count(edit)
            parts += [line[at : edit.start], edit.mask.encode("ascii", "replace")]
            at = edit.end
        return b"".join([*parts, line[at:]])

    def _copy(self, reader: LineReader, offset: int, length: int, edits: Sequence[Edit]) -> Iterator[int]:
        """Write an oversize line in pieces, and yield the size of each."""
        end = offset + length
        for edit in [*edits, Edit(end, end, "", "")]:
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

    def _count(self, edit: Edit) -> None:
        if edit.kind:
            counts = self.report.personal if edit.kind in PERSONAL else self.report.secrets
            counts[edit.kind] += 1


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


def _in_strings(line: bytes, edits: Sequence[Edit]) -> Iterator[Edit]:
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


def _between_quotes(line: bytes, edits: Sequence[Edit]) -> Iterator[Edit]:
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
