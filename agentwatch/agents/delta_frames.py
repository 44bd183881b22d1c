"""Decodes bursts of deltas, which differ only in their text and time: 150 bytes around a word. By their
common frame, a million of them cost less than decoding their JSON; line by line, 10 times as much."""

import re
from typing import NamedTuple

import orjson

from agentwatch.session.events import Channel

_MOST_MISSES = 64
"""Learning stops after this number of frames in a row that no burst has used."""
_MOST_DIGITS = 18
_MOST_BYTES = 1 << 16
_MOST_LINES = 1 << 16
_KEY = re.compile(rb'("text":\s*+")')
_new = tuple.__new__
_BEFORE_A_NUMBER = re.compile(rb'[^\\]":\s*+\Z')


class Burst(NamedTuple):
    """Consecutive deltas with the same channel and the same frame, of which the first has text."""

    channel: Channel
    lines: int
    size: int
    """Bytes, with the line ends."""
    text: str
    times_ms: list[int]
    """Agent time."""


class _Frame(NamedTuple):
    """The constant bytes of similar lines, as slices: comparing a slice takes a third of `startswith`."""

    channel: Channel
    head: bytes
    middle: bytes
    """The bytes between text and timestamp, or all bytes after the text if there is no timestamp."""
    end: bytes
    least_bytes: int
    in_head: slice
    in_text: slice
    in_middle: slice
    in_time: slice | None
    in_end: slice


def _frame(channel: Channel, head: bytes, middle: bytes, digits: int, end: bytes) -> _Frame:
    """Return the frame of lines whose timestamp has `digits` digits; 0 if they have no timestamp."""
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
        self.heads: tuple[bytes, ...] = ()
        self._misses = 0
        self._most_lines = _MOST_LINES
        """The number of lines that are decoded at once: halved if one of them is invalid, then doubled again.
        Without it, a stream of invalid deltas would be decoded again and again from each of them."""

    def learn(self, data: bytes, channel: Channel, text: str, at_ms: int | None) -> None:
        """Learn the frame of a delta, if its text and its time each occur once in the line. Learning
        stops after 64 frames that led to no burst: such lines also differ in something else."""
        if self._misses >= _MOST_MISSES or not text or len(data) > _MOST_BYTES:
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
        self.heads = tuple(frame.head for frame in self._frames.values())

    def burst_at(self, lines: list[bytes], start: int) -> Burst | None:
        """Return the burst of deltas that starts at `lines[start]`; None if fewer than two share a frame."""
        line = lines[start]
        for frame in self._frames.values():
            if line.startswith(frame.head):
                burst = self._matching_burst(frame, lines, start)
                if burst is not None:
                    self._misses = 0
                    return burst
        return None

    def _matching_burst(self, frame: _Frame, lines: list[bytes], start: int) -> Burst | None:
        _, head, middle, end, _, in_head, in_text, in_middle, _, in_end = frame
        if not lines[start + 1 : start + 2] or lines[start + 1][in_head] != head or not lines[start][in_text]:
            return None
        count = 0
        if end:
            for line in lines[start : start + self._most_lines]:
                if line[in_head] != head or line[in_middle] != middle or line[in_end] != end:
                    break
                count += 1
        else:
            for line in lines[start : start + self._most_lines]:
                if line[in_head] != head or line[in_middle] != middle:
                    break
                count += 1
        while count > 1:
            burst = _decode_burst(frame, lines[start : start + count])
            if burst is not None:
                self._most_lines = min(max(self._most_lines, 2 * count), _MOST_LINES)
                return burst
            count //= 2  # one of the lines is invalid; those before it may be valid
            self._most_lines = max(count, 2)
        return None


def _decode_burst(frame: _Frame, lines: list[bytes]) -> Burst | None:
    """Return the burst of lines that share a frame; None if one of them is invalid. The texts are decoded as
    one JSON string, and the timestamps as an array. A DEL is valid between two characters of a string and
    invalid inside one, an escape or a pair of surrogates. So if the texts are valid with a DEL between each
    two, each is valid alone."""
    in_text, in_time = frame.in_text, frame.in_time
    raw_texts = [line[in_text] for line in lines]
    raw_times = [line[in_time] for line in lines] if in_time else []
    try:
        orjson.loads(b'"' + b"\x7f".join(raw_texts) + b'"')
        text = orjson.loads(b'"' + (joined := b"".join(raw_texts)) + b'"')
        times_ms = orjson.loads(b"[" + b",".join(raw_times) + b"]")
    except orjson.JSONDecodeError:
        return None
    is_valid = (
        len(times_ms) == len(raw_times)
        and {*map(type, times_ms)} <= {int}
        and (b"" not in raw_texts or min(map(len, lines)) >= frame.least_bytes)  # slices may overlap
    )
    if not is_valid:
        return None
    size = len(joined) + len(lines) * frame.least_bytes
    return _new(Burst, (frame.channel, len(lines), size, text, times_ms))


# A text that may repeat the pieces before it, which are not kept.

_BLOCK = 1 << 16
"""The number of characters that are kept as a digest. Segments of real sessions have a few thousand."""


class SegmentText:
    """The text of a segment, which grows and may then be repeated as a whole. Comparing costs no more
    than reading the text. A checkpoint contains it as bytes: an object of `hashlib` cannot be written."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.length = 0
        self._rest = 0
        self._digest = b""
        """The digest of the whole blocks, each with the digest of those before it."""

    def add(self, text: str) -> None:
        self.length += len(text)
        self._rest += len(text)
        self._pieces.append(text)
        if self._rest < _BLOCK:
            return
        whole = "".join(self._pieces)
        self._rest %= _BLOCK
        end = len(whole) - self._rest
        self._digest = _digest(self._digest, whole, end)
        self._pieces = [whole[end:]]

    def clear(self) -> None:
        self._pieces.clear()
        self.length, self._rest, self._digest = 0, 0, b""

    def is_repeated_by(self, text: str, ending: str = "") -> bool:
        """Return whether a text equals all pieces and an ending."""
        if len(text) != self.length + len(ending) or not text.endswith(ending):
            return False
        end = self.length - self._rest
        is_same_rest = "".join(self._pieces) == text[end : self.length]
        return is_same_rest and _digest(b"", text, end) == self._digest


def _digest(before: bytes, text: str, end: int) -> bytes:
    if not end:
        return before
    from hashlib import blake2b  # takes 2 ms to import

    for start in range(0, end, _BLOCK):
        before = blake2b(before + text[start : start + _BLOCK].encode("utf-8", "surrogatepass")).digest()
    return before
