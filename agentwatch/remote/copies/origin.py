"""Where a local copy is from: the file `STEM.origin`, one JSON object, padded with blanks to 2 KiB.

| key | meaning |
|---|---|
| `address` | the engine or the host: `nats://team` |
| `session` | the session there |
| `base` | the offset of the copy's first byte in the recording; null until there is one |
| `is_complete` | whether the copy has all bytes of an ended recording |
| `differs` | whether the bytes are not those of the recording, by its digest |
| `is_left` | whether a newer copy has the rest of the session: what lies between is not kept any more |
| `missing` | how many bytes are missing that are not expected any more; 0 if none are |
| `size` | the bytes that the copy had; a file that is shorter was cut since |
| `sha256`, `exit_code` | the digest of a complete copy, and the agent's exit code |
| `host` | the name of the machine |
| `sequence` | the sequence of the last piece on the engine, from which reading may go on |
| `seen_ms` | when the copy last had all that was there for it |

The length never changes, so that a reader finds the old object or the new one, in one read.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

import orjson

from agentwatch.recording import read_object

SIZE = 2048
_LENGTHS = {"address": 400, "session": 400, "sha256": 64, "host": 80}
_LARGEST = 1 << 53


class Origin(NamedTuple):
    """The origin of a copy, and which bytes of the session are in it."""

    address: str
    session: str
    base: int | None = None
    """The offset of its first byte in the recording; None while it has no byte."""
    is_complete: bool = False
    differs: bool = False
    is_left: bool = False
    """Whether a newer copy has the rest of the session."""
    missing: int = 0
    """How many bytes before the next piece are not expected any more."""
    size: int = 0
    """The bytes that the copy had; it was cut if it has fewer."""
    sha256: str = ""
    exit_code: int | None = None
    host: str = ""
    seen_ms: int = 0
    sequence: int = 0

    def is_of(self, address: str, session: str) -> bool:
        """Return whether it is the copy in which a session can be read on."""
        return (self.address, self.session) == (address, session) and not (self.differs or self.is_left)


def write_origin(fd: int, origin: Origin) -> None:
    """Write the origin of a copy into its open file.

    Raises:
        OSError: It cannot be written.
    """
    data = orjson.dumps(_shortened(origin)._asdict())
    os.pwrite(fd, data.ljust(SIZE), 0)


def read_origin(fd: int) -> Origin | None:
    """Return the origin in an open file, which stays open; None if it contains none, or is not of this user.

    Raises:
        OSError: The file cannot be read.
    """
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        return None
    given = read_object(os.dup(fd), SIZE)
    texts = {
        name: text for name, most in _LENGTHS.items() if (text := _text(given.get(name), most)) is not None
    }
    if len(texts) < len(_LENGTHS) or not (texts["address"] and texts["session"]):
        return None
    exit_code = given.get("exit_code")
    return Origin(
        **texts,
        base=_number(given.get("base")),
        is_complete=given.get("is_complete") is True,
        differs=given.get("differs") is True,
        is_left=given.get("is_left") is True,
        missing=_number(given.get("missing")) or 0,
        size=_number(given.get("size")) or 0,
        exit_code=exit_code if type(exit_code) is int and 0 <= exit_code < 256 else None,
        seen_ms=_number(given.get("seen_ms")) or 0,
        sequence=_number(given.get("sequence")) or 0,
    )


def _text(value: object, most: int) -> str | None:
    return value if isinstance(value, str) and len(value) <= most else None


def _number(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _LARGEST else None


def _shortened(origin: Origin) -> Origin:
    """Return the origin with texts that fit into the file, and that are UTF-8."""
    host = origin.host[: _LENGTHS["host"]].encode("utf-8", "replace").decode()
    return origin._replace(host=host)
