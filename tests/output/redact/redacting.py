"""Redacts recordings in memory, and reads them."""

import os

from agentwatch.output.redact.recording import Redacted, redacted
from agentwatch.output.redact.writing import Report
from agentwatch.recording.lines import LineReader, Until
from agentwatch.recording.store import nameless_file
from agentwatch.recording.times import ArrivalTimes


def reader_of(data: bytes) -> LineReader:
    fd = nameless_file()
    os.write(fd, data)
    return LineReader(fd, Until(len(data), is_over=True), ArrivalTimes())


def bytes_of(copy: Redacted) -> bytes:
    return os.pread(copy.reader.fd, copy.reader.growth.size(), 0)


def redacted_bytes(data: bytes) -> tuple[bytes, Report]:
    """Return a recording without its secrets, and what was masked."""
    reader = reader_of(data)
    copy = redacted(reader)
    written = bytes_of(copy)
    os.close(reader.fd)
    os.close(copy.reader.fd)
    return written, copy.report
