"""Lines that differ in nothing but their text and their time: the deltas of a stream, read many at once.

A delta is 150 bytes around a word. Read line by line, a million of them cost 10 times what decoding
their JSON costs; read by their frame, less than decoding it does.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import orjson

from agentwatch.events import Channel

_MOST_MISSES = 64
_MOST_DIGITS = 18
_BACKSLASH = 0x5C
_KEY = re.compile(rb'("text":\s*")')


class Burst(NamedTuple):
    """The texts of deltas that follow each other, of one channel and one frame."""

    channel: Channel
    texts: list[str]
    first_ms: int | None
    last_ms: int | None


class _Frame(NamedTuple):
    """What such lines have in common: all before the text, all between text and time, all after."""

    channel: Channel
    head: bytes
    middle: bytes
    digits: int
    """How many digits the time has; 0 where the line bears none, and all after the text is `middle`."""
    end: bytes


class Frames:
    """The frames of one recording, learnt from its lines."""

    def __init__(self) -> None:
        self._frames: dict[tuple[Channel, bool], _Frame] = {}
        self._misses = 0

    def learn(self, data: bytes, channel: Channel, text: str, at_ms: int | None) -> None:
        """Learn the frame of a delta, if its text and its time each stand in it once.

        Where every line brings something of its own besides, nothing is to be learnt, and no more tried.
        """
        if self._misses >= _MOST_MISSES or not text:
            return
        self._misses += 1
        before, key, after = _KEY.split(data, 1) if len(_KEY.findall(data)) == 1 else (data, b"", b"")
        written = orjson.dumps(text)[:-1]
        if not key or not after.startswith(written[1:] + b'"'):
            return
        head, middle, digits, end = before + key, after[len(written) - 1 :], b"", b""
        if at_ms is not None:
            digits = b"%d" % at_ms
            middle, found, end = middle.partition(digits)
            if not found or len(digits) > _MOST_DIGITS or digits in end or end[:1].isdigit():
                return
        self._frames[channel, at_ms is None] = _Frame(channel, head, middle, len(digits), end)

    def take(self, lines: list[bytes], start: int) -> Burst | None:
        """Return the deltas from a line on that have one frame; None for fewer than two.

        The texts and times are decoded as JSON, so that a line that is not valid is none of them.
        """
        line = lines[start]
        for frame in self._frames.values():
            if line.startswith(frame.head):
                burst = _taken(frame, lines, start)
                if burst is not None:
                    self._misses = 0
                    return burst
        return None


def _taken(frame: _Frame, lines: list[bytes], start: int) -> Burst | None:
    channel, head, middle, digits, end = frame
    text_start, text_end = len(head), -len(middle) - digits - len(end)
    time_start, time_end = text_end + len(middle) or None, -len(end) or None
    texts: list[bytes] = []
    times: list[bytes] = []
    for index in range(start, len(lines)):
        line = lines[index]
        if (
            line[:text_start] != head
            or line[text_end:time_start] != middle
            or line[text_end - 1] == _BACKSLASH
        ):
            break
        texts.append(line[text_start:text_end])
        if digits:
            if end and line[time_end:] != end:
                del texts[-1]
                break
            times.append(line[time_start:time_end])
    count = len(texts)
    frame_bytes = text_start - text_end
    if count < 2 or sum(map(len, texts)) + count * frame_bytes != sum(map(len, lines[start : start + count])):
        return None
    try:
        found = orjson.loads(b'["' + b'","'.join(texts) + b'"]')
        at_ms = orjson.loads(b"[" + b",".join(times) + b"]")
    except orjson.JSONDecodeError:
        return None
    if len(found) != count or any(type(time) is not int for time in at_ms):
        return None
    return Burst(channel, found, at_ms[0] if at_ms else None, at_ms[-1] if at_ms else None)
