"""How the bytes of a session travel: a line of JSON, and behind it the number of bytes that it names.

The keys of the line are the headers of a piece on an engine (`agentwatch.engine.chunk`), and these:

| key | meaning |
|---|---|
| `length` | the number of bytes behind the line, at most 64 KiB |
| `newest` | the host has no more bytes now |
| `absent` | there is no such session |
| `replaced` | the file was replaced or cut: the bytes sent before are not its beginning |
| `problem` | why the session cannot be read |

A line with none of them is a sign of life.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from agentwatch.engine.chunk import Chunk, Piece, headers_of, piece_of
from agentwatch.engine.engine import EngineError
from agentwatch.engine.limits import CHUNK_BYTES

LIFE = b"{}\n"


class Frame(NamedTuple):
    """The line of a frame."""

    headers: dict[str, str]
    length: int = 0
    is_newest: bool = False
    is_absent: bool = False
    is_replaced: bool = False
    problem: str = ""

    def piece(self, payload: bytes) -> Piece:
        """Return the piece that the frame carries.

        Raises:
            EngineError: Its headers are not those of a piece.
        """
        piece = piece_of(self.headers, payload)
        if piece is None:
            raise EngineError("the host sends what is no piece of a session")
        return piece


def frame_of(piece: Piece, *, is_newest: bool = False) -> bytes:
    """Return the frame of a piece."""
    payload = piece.payload if isinstance(piece, Chunk) else b""
    values: dict[str, Any] = {**headers_of(piece), "length": len(payload)}
    if is_newest:
        values["newest"] = True
    return orjson.dumps(values) + b"\n" + payload


def word_frame(word: str, value: str | bool = True) -> bytes:
    """Return a frame without bytes: `absent`, `replaced` or `problem`."""
    text = value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    return orjson.dumps({word: text}) + b"\n"


def parse(line: bytes) -> Frame:
    """Return the frame that a line begins.

    Raises:
        EngineError: The line is no frame, or announces too many bytes.
    """
    try:
        given = orjson.loads(line)
    except ValueError:
        given = None
    length = given.get("length", 0) if isinstance(given, dict) else None
    if type(length) is not int or not 0 <= length <= CHUNK_BYTES:
        raise EngineError("the host sends what is no piece of a session")
    problem = given.get("problem")
    return Frame(
        {name: value for name, value in given.items() if isinstance(value, str)},
        length,
        given.get("newest") is True,
        given.get("absent") is True,
        given.get("replaced") is True,
        problem if isinstance(problem, str) else "",
    )
