"""Reads the head and the tail of a session's file, of which the middle is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from agentwatch.events import Prompt, Text, ToolStarted
from agentwatch.machine.digest.course import Course
from agentwatch.machine.digest.decoding import apply_lines, decoder_for
from agentwatch.machine.digest.digest import Digest
from agentwatch.recording import ends_of_line, line_end_after, lines_between, lines_from_end
from agentwatch.recording.ends import HEAD_BYTES
from agentwatch.wire import Decoder

_TAIL_BYTES = (1 << 18, 1 << 20, 1 << 22)
"""The tail grows until a turn begins or ends in it: one line of a session may have 100 KB, one with an image
several MB."""
_MANY_LINES = 5_000
"""A tail with this number of lines does not grow: it would take more than 0.1 s."""
_LINE_BYTES = 64 << 20
"""How far from the end the start of the last line is searched."""


_BRIEF_HEAD_BYTES = 1 << 14
_BRIEF_TAIL_BYTES = (1 << 13, 1 << 16)
"""What is read of a session that has ended long ago: its prompt and its end. All of 130 KB takes 3 ms."""


class Read(NamedTuple):
    """What was read of a file."""

    digest: Digest
    decoder: Decoder
    """The decoder of the lines that follow."""
    offset: int
    """The offset of the first line that was not read."""


class _Head(NamedTuple):
    """The head of a file."""

    digest: Digest
    start: list[bytes]
    """The lines up to the first prompt, which say what the decoder of the tail must know: the cwd."""


def read_whole(fd: int, size: int, start: Digest) -> Read:
    """Read all whole lines of a file.

    Args:
        fd: The file.
        size: The number of bytes to read.
        start: What is known before. It is not changed.

    Raises:
        OSError: The file cannot be read.
    """
    digest = _copy(start)
    digest.is_whole = True
    decoder = decoder_for(digest)
    lines, rest = lines_between(fd, 0, size)
    apply_lines(digest, decoder, lines)
    return Read(digest, decoder, size - len(rest))


def read_ends(fd: int, size: int, start: Digest) -> Read:
    """Read the head of a file, and as much of its tail as is needed to know what goes on.

    Args:
        fd: The file.
        size: The number of bytes that the file has.
        start: What is known before. It is not changed.

    Raises:
        OSError: The file cannot be read.
    """
    head = _read_head(fd, start, HEAD_BYTES)
    found = None
    for most in _TAIL_BYTES:
        if most >= size:
            return read_whole(fd, size, start)
        found, is_enough = _read_tail(fd, size - most, size, head)
        if is_enough:
            return found
    if found is None or found.offset <= size - _TAIL_BYTES[-1]:
        return _read_long_line(fd, size, head)
    return found


def read_briefly(fd: int, size: int, start: Digest) -> Read | None:
    """Read the beginning of a file up to its prompt, and its end.

    Args:
        fd: The file.
        size: The number of bytes that the file has.
        start: What is known before. It is not changed.

    Returns:
        What was read; None if no turn begins or ends in so little, so that more must be read.

    Raises:
        OSError: The file cannot be read.
    """
    if size <= _BRIEF_HEAD_BYTES + _BRIEF_TAIL_BYTES[0]:
        return None
    head = _read_head(fd, start, _BRIEF_HEAD_BYTES, is_brief=True)
    for most in _BRIEF_TAIL_BYTES:
        if most < size:
            found, is_enough = _read_tail(fd, size - most, size, head)
            if is_enough:
                return found
    return None


def _read_head(fd: int, start: Digest, most: int, *, is_brief: bool = False) -> _Head:
    digest = _copy(start)
    decoder = decoder_for(digest)
    lines, rest = lines_between(fd, 0, most)
    if not lines:
        digest.apply(decoder.decode_oversize(rest, b"", len(rest)))
        digest.skip()
        return _Head(digest, [])
    before_prompt: int | None = None
    for number, line in enumerate(lines):
        for events in decoder.decode_all(line) if line.strip() else ():
            digest.apply(events)
            if before_prompt is None:
                kinds = {type(event) for event in events}
                if Prompt in kinds:
                    before_prompt = number + 1
                elif ToolStarted in kinds or Text in kinds:
                    before_prompt = number
        if is_brief and before_prompt is not None:
            break
    digest.skip()
    return _Head(digest, lines[:before_prompt])


def _read_tail(fd: int, begin: int, size: int, head: _Head) -> tuple[Read, bool]:
    """Read the whole lines after an offset, and return whether they are enough to know what goes on."""
    digest, decoder, begin = *_continued(head), max(begin, sum(map(len, head.start)))
    lines, rest = lines_between(fd, line_end_after(fd, begin - 1, size), size)
    has_boundary = apply_lines(digest, decoder, lines)
    offset = size - len(rest) if lines else begin
    return Read(digest, decoder, offset), has_boundary or len(lines) >= _MANY_LINES


def _read_long_line(fd: int, size: int, head: _Head) -> Read:
    """Read the last line, which is longer than the longest tail, and the lines before it."""
    start, length = next(lines_from_end(fd, _LINE_BYTES), (size, 0))
    if not length:
        return Read(*_continued(head), size)
    before = _TAIL_BYTES[0]
    found, _ = _read_tail(fd, max(start - before, 1), start, head)
    first, last = ends_of_line(fd, start, length)
    found.digest.apply(found.decoder.decode_oversize(first, last, length))
    return found._replace(offset=size)


def _continued(head: _Head) -> tuple[Digest, Decoder]:
    """Return the digest and the decoder after the head and a gap."""
    digest = _copy(head.digest)
    decoder = decoder_for(digest)
    for line in filter(bytes.strip, head.start):
        decoder.decode(line)
    decoder.take_redecoded()
    return digest, decoder


def _copy(digest: Digest) -> Digest:
    course = Course(has_line_times=digest.course.has_line_times)
    return replace(digest, open_calls={}, course=course)
