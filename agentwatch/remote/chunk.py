"""A chunk: the bytes of a recording that one message carries, and the headers beside them.

| header | meaning |
|---|---|
| `Aw-Offset: N` | the offset of the first byte in the recording |
| `Aw-Seen: OFFSET MS;OFFSET MS` | the arrival times of the bytes from each offset on, at most 512 |
| `Aw-Gap: OFFSET BYTES` | a `gap` line of the file of times; several are separated by `;` |
| `Aw-End: SIZE EXIT SHA256` | the recording has ended; no bytes. An unknown exit code is `-` |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

# The limits of the protocol, in bytes and numbers. A stream refuses what is larger.

CHUNK_BYTES = 1 << 16
FAR_CHUNK_BYTES = 1 << 18
"""The largest chunk where a round trip takes over 50 ms: throughput is chunk / round trip."""
FAR_SECONDS = 0.05
HEADER_BYTES = 1 << 14
MESSAGE_BYTES = 300_000
"""`max_msg_size` of the stream of bytes."""
CARD_BYTES = 1 << 11
STORED_CARD_BYTES = 1 << 12
"""`max_msg_size` of the bucket of cards."""
SESSION_MESSAGES = 200_000
"""14 h at 4 messages/s."""
SESSION_BYTES = 1 << 28
"""The publisher stops there. The rest stays in its file, and the card says so."""
SEEN_PER_CHUNK = 512
"""Arrival times in the headers of one chunk; 31 bytes each at most."""
CHUNK_DAYS = 7
CARD_DAYS = 30
CARDS = 20_000
"""Cards that a watcher keeps; of the others it keeps the number."""
LARGEST_NUMBER = 1 << 53
"""Offsets and numbers in cards are below this: every JSON reader can represent them."""
SIGN_OF_LIFE_SECONDS = 30
"""A card is written this often, although nothing has changed."""
LOST_TOUCH_SECONDS = 90
"""A card of a running session that is older counts as `lost touch`."""


OFFSET = "Aw-Offset"
SEEN = "Aw-Seen"
GAP = "Aw-Gap"
END = "Aw-End"
_MOST_DIGITS = 16
_EXIT_CODES = range(256)
_SHA256 = re.compile(r"[0-9a-f]{64}")

Pair = tuple[int, int]


class Chunk(NamedTuple):
    offset: int
    """The offset of its first byte in the recording."""
    payload: bytes
    seen: tuple[Pair, ...] = ()
    """Offset and arrival time, in milliseconds since the epoch: the bytes from there on arrived then."""
    gaps: tuple[Pair, ...] = ()
    """An offset, and the number of bytes of the stream before it that are not in the recording."""

    @property
    def end(self) -> int:
        return self.offset + len(self.payload)


class Ended(NamedTuple):
    """The recording has ended."""

    size: int
    exit_code: int | None
    sha256: str


Piece = Chunk | Ended


def headers_of(piece: Piece) -> dict[str, str]:
    if isinstance(piece, Ended):
        code = "-" if piece.exit_code is None else piece.exit_code
        return {END: f"{piece.size} {code} {piece.sha256}"}
    headers = {OFFSET: str(piece.offset)}
    for name, pairs in ((SEEN, piece.seen), (GAP, piece.gaps)):
        if pairs:
            headers[name] = ";".join(f"{first} {second}" for first, second in pairs)
    return headers


def piece_of(headers: Mapping[str, str], payload: bytes) -> Piece | None:
    """Return the piece that a message carries; None if its headers, which are foreign, do not describe
    one."""
    if (end := headers.get(END)) is not None:
        return _ended(end)
    offset = _number(headers.get(OFFSET, ""))
    if offset is None or offset + len(payload) >= LARGEST_NUMBER:
        return None
    return Chunk(offset, payload, _pairs(headers.get(SEEN, "")), _pairs(headers.get(GAP, "")))


def _ended(text: str) -> Ended | None:
    words = text[:200].split(" ")
    if len(words) != 3 or (size := _number(words[0])) is None or _SHA256.fullmatch(words[2]) is None:
        return None
    code = _number(words[1])
    return Ended(size, code if code in _EXIT_CODES else None, words[2])


def _pairs(text: str) -> tuple[Pair, ...]:
    found = []
    for words in text[: SEEN_PER_CHUNK * (2 * _MOST_DIGITS + 2)].split(";")[:SEEN_PER_CHUNK]:
        first, _, second = words.partition(" ")
        pair = _number(first), _number(second)
        if pair[0] is not None and pair[1] is not None:
            found.append((pair[0], pair[1]))
    return tuple(found)


def _number(text: str) -> int | None:
    """Return a number from 0 to 2^53 - 1; None for another text."""
    if not (0 < len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit()):
        return None
    number = int(text)
    return number if number < LARGEST_NUMBER else None
