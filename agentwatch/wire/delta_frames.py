"""Lines that differ in nothing but their text and their time: the deltas of a stream, read many at once.

A delta is 150 bytes around a word. Read line by line, a million of them cost 10 times what decoding
their JSON costs; read by their frame, less than decoding it does.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

import orjson

from agentwatch.events import Channel

_MOST_MISSES = 64
_MOST_DIGITS = 18
_KEY = re.compile(rb'("text":\s*")')
_BEFORE_A_NUMBER = re.compile(rb'[^\\]":\s*\Z')


class Burst(NamedTuple):
    """The texts of deltas that follow each other, of one channel and one frame."""

    channel: Channel
    texts: list[str]
    first_ms: int | None
    last_ms: int | None


class _Frame(NamedTuple):
    """What such lines have in common, and where in a line what they have and have not in common stands.

    Slices, because comparing one takes a third of what `startswith` takes.
    """

    channel: Channel
    head: bytes
    """All before the text."""
    middle: bytes
    """All between text and time, or all after the text of a line that bears no time."""
    end: bytes
    """All after the time."""
    least_bytes: int
    in_head: slice
    in_text: slice
    in_middle: slice
    in_time: slice | None
    in_end: slice


def _frame(channel: Channel, head: bytes, middle: bytes, digits: int, end: bytes) -> _Frame:
    """Return the frame of lines whose time has so many digits; 0 where they bear none."""
    text_end = -len(middle) - digits - len(end)
    time_start = text_end + len(middle)
    return _Frame(
        channel,
        head,
        middle,
        end,
        len(head) - text_end,
        slice(len(head)),
        slice(len(head), text_end),
        slice(text_end, time_start or None),
        slice(time_start, -len(end)) if digits else None,
        slice(-len(end), None) if digits else slice(0),
    )


class DeltaFrames:
    """The frames of one recording, learnt from its lines."""

    def __init__(self) -> None:
        self._frames: dict[tuple[Channel, bool], _Frame] = {}
        self._heads: tuple[bytes, ...] = ()
        self._misses = 0

    def learn(self, data: bytes, channel: Channel, text: str, at_ms: int | None) -> None:
        """Learn the frame of a delta, its line end included, if text and time each stand in it once.

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
            is_number = found and _BEFORE_A_NUMBER.search(middle) and not end[:1].isdigit()
            if not is_number or len(digits) > _MOST_DIGITS or digits in end:
                return
        self._frames[channel, at_ms is None] = _frame(channel, head, middle, len(digits), end)
        self._heads = tuple(frame.head for frame in self._frames.values())

    def take(self, lines: list[bytes], start: int) -> Burst | None:
        """Return the deltas from a line on that have one frame; None for fewer than two."""
        line = lines[start]
        if not line.startswith(self._heads):
            return None
        for frame in self._frames.values():
            if line.startswith(frame.head):
                burst = _taken(frame, lines, start)
                if burst is not None:
                    self._misses = 0
                    return burst
        return None


def _taken(frame: _Frame, lines: list[bytes], start: int) -> Burst | None:
    _, head, middle, end, _, in_head, _, in_middle, _, in_end = frame
    count = 0
    for line in islice(lines, start, None):
        if line[in_head] != head or line[in_middle] != middle or line[in_end] != end:
            break
        count += 1
    while count > 1:
        burst = _decoded(frame, lines[start : start + count])
        if burst is not None:
            return burst
        count //= 2  # one of them is not valid: those before it may be
    return None


def _decoded(frame: _Frame, lines: list[bytes]) -> Burst | None:
    """Return what lines say whose frame is the same; None when one of them is not valid.

    Texts and times are decoded as JSON. The line end between two texts, which JSON allows between strings and
    not within them, keeps what is wrong with a text, a quote too many or too few, within its element.
    """
    in_text, in_time = frame.in_text, frame.in_time
    texts = [line[in_text] for line in lines]
    times = [line[in_time] for line in lines] if in_time else []
    try:
        said = orjson.loads(b'["' + b'"\n,"'.join(texts) + b'"]')
        at_ms = orjson.loads(b"[" + b",".join(times) + b"]")
    except orjson.JSONDecodeError:
        return None
    is_valid = (
        len(said) == len(texts)
        and len(at_ms) == len(times)
        and {*map(type, said)} == {str}
        and {*map(type, at_ms)} <= {int}
        and min(map(len, lines)) >= frame.least_bytes
    )
    if not is_valid:
        return None
    return Burst(frame.channel, said, at_ms[0] if at_ms else None, at_ms[-1] if at_ms else None)
