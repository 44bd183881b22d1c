"""Reads the bytes of one session of a host, and continues at the local size after a break."""

from __future__ import annotations

import hashlib
import time
from collections import deque

from agentwatch.base.clock import now_ms
from agentwatch.base.faults import USAGE, Fault
from agentwatch.remote.chunk import CHUNK_BYTES, Chunk, Ended, piece_of
from agentwatch.remote.copies import LocalCopy
from agentwatch.remote.engine import RemoteError, StoredPiece, Trouble
from agentwatch.remote.filling import ReplacedError, SeenCard
from agentwatch.remote.ssh import shared_connection
from agentwatch.remote.ssh.host_list import BEGIN_SECONDS
from agentwatch.remote.ssh.shared_connection import (
    ChannelLines,
    begun,
    connection_to,
    parse,
    parse_ssh,
    way_of,
)
from agentwatch.text.safe import cut, safe_line

_PAYLOAD_SECONDS = 30.0
_SILENT_SECONDS = 30.0
"""A host with agentwatch gives a sign of life every 10 s."""
_MOST_COLUMNS = 200
_UNKNOWN = "-"


class SshPieces:
    """The pieces of one session. It satisfies `engine.Pieces` and `filling.Channel`. With agentwatch there,
    bytes have their arrival times, and the session its end. With `tail` alone, the time of a byte is that of
    its arrival here, and a session never ends. A piece may have no bytes: then it is the newest one, and all
    bytes that the host has are here."""

    sequence = 0

    def __init__(self, address: str, have: int = 0, digest: str = "") -> None:
        """Take the address; nothing is connected before the first piece is wanted. `have` bytes are here
        already; `digest` is their SHA-256 in hexadecimal digits, with which the host checks that they are the
        beginning of its file; empty if it is not known. A session of a store, whose lines may be written
        again, then begins again. Raise `Fault` if the words are not such an address."""
        self.address, self.session = parse_ssh(address)
        if not self.session:
            raise Fault(f"{self.address}: name a session, ssh://HOST/ID", USAGE)
        self.has_none = False
        """Whether the host has answered that it has no such session."""
        self._have = have
        self._digest = hashlib.sha256() if have == 0 else None
        self._given = (have, digest or _UNKNOWN)
        self._inode = 0
        self._channel: shared_connection.Channel | None = None
        self._lines: ChannelLines | None = None
        self._size: int | None = None
        """The size of the file when `tail` began; None with agentwatch there."""
        self._ready: deque[StoredPiece] = deque()
        self._heard_at = 0.0
        self._has_ended = False

    def next(self, seconds: float) -> StoredPiece | None:
        """Return the next piece; None if none arrives in time, but connecting may take longer. Raise
        `ReplacedError` if a new copy must begin, and `RemoteError` if the session cannot be read."""
        if self._ready:
            return self._ready.popleft()
        if self._has_ended:
            time.sleep(seconds)
            return None
        try:
            if self._lines is None:
                self._begin()
            stored = self._next_bytes(seconds) if self._size is not None else self._next_frame(seconds)
        except shared_connection.Ended as ended:
            self.close()
            raise self._reason(ended) from None
        except RemoteError:
            self.close()
            raise
        return stored

    @property
    def pieces(self) -> SshPieces:
        return self

    def card(self) -> SeenCard | None:
        return None

    def exists(self, seconds: float) -> bool:
        """Return whether the host has the session, after waiting for its first piece, which `next`
        returns."""
        if (first := self.next(seconds)) is not None:
            self._ready.appendleft(first)
        return not self.has_none

    def restart(self) -> None:
        self.close()
        self._have, self._inode, self._digest = 0, 0, hashlib.sha256()
        self._has_ended = False

    def _begin(self) -> None:
        given = self._given[1] if self._given[0] == self._have else _UNKNOWN
        digest = given if self._digest is None else self._digest.hexdigest()
        words = shared_connection.command("pieces", self.session, self._have, digest, self._inode)
        self._channel = connection_to(self.address).open(words)
        self._lines = ChannelLines(self._channel)
        self._heard_at = time.monotonic()
        if begun(self._lines, BEGIN_SECONDS) == "tail":
            self._begin_tail(self._lines)

    def _begin_tail(self, lines: ChannelLines) -> None:
        words = (lines.next(BEGIN_SECONDS) or b"").decode("ascii", "replace").split(" ")
        if len(words) != 2 or not all(len(word) < 20 and word.isdecimal() for word in words):
            raise RemoteError("the host does not say which file it reads")
        self._inode, self._size = int(words[0]), int(words[1])
        assert self._channel is not None
        self._channel.put_back(lines.rest())
        if self._have >= self._size:
            self._ready.append(StoredPiece(Chunk(self._have, b""), is_newest=True))

    def _next_bytes(self, seconds: float) -> StoredPiece | None:
        assert self._channel is not None
        assert self._size is not None
        if self._ready:
            return self._ready.popleft()
        data = self._channel.read(seconds)
        if not data:
            return None
        chunk = Chunk(self._have, data[:CHUNK_BYTES], ((self._have, now_ms()),))
        self._channel.put_back(data[CHUNK_BYTES:])
        self._take(chunk)
        return StoredPiece(chunk, is_newest=self._have >= self._size and not self._channel.has_more)

    def _next_frame(self, seconds: float) -> StoredPiece | None:
        assert self._lines is not None
        until = time.monotonic() + seconds
        while True:
            line = self._lines.next(max(0.0, until - time.monotonic()))
            if line is None:
                if time.monotonic() - self._heard_at > _SILENT_SECONDS:
                    raise RemoteError("the host is silent")
                return None
            self._heard_at = time.monotonic()
            if way_of(line) == "tail":
                self._begin_tail(self._lines)
                return self._next_bytes(seconds)
            frame = parse(line)
            if frame.is_absent:
                self.has_none = True
                raise RemoteError(f"{self.address} has no session {self.session}", Trouble.REFUSED)
            if frame.is_replaced:
                raise ReplacedError("the session was written again on the host")
            if frame.problem:
                raise RemoteError(cut(safe_line(frame.problem), _MOST_COLUMNS), Trouble.REFUSED)
            if not frame.headers:
                continue
            piece = piece_of(frame.headers, self._lines.take(frame.length, _PAYLOAD_SECONDS))
            if piece is None:
                raise RemoteError("unexpected reply from the host: expected a piece of the session")
            if isinstance(piece, Ended):
                self._has_ended = True
                self.close()
            else:
                if piece.offset != self._have:
                    raise RemoteError("the host sends bytes of another place than was asked for")
                self._take(piece)
            return StoredPiece(piece, is_newest=frame.is_newest or isinstance(piece, Ended))

    def _take(self, chunk: Chunk) -> None:
        self._have = chunk.end
        if self._digest is not None:
            self._digest.update(chunk.payload)

    def _reason(self, ended: shared_connection.Ended) -> RemoteError:
        if ended.code == shared_connection.REPLACED:
            return ReplacedError("the file was replaced on the host")
        if ended.code == shared_connection.ABSENT:
            self.has_none = True
            return RemoteError(f"{self.address} has no session {self.session}", Trouble.REFUSED)
        return RemoteError(str(ended))

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel, self._lines, self._size = None, None, None
        self._ready.clear()


def connected(address: str, copy: LocalCopy) -> SshPieces:
    """Connect to read the bytes that a copy lacks. Raise `Fault` for the address, `OSError` for the copy."""
    return SshPieces(address, copy.have, copy.digest().hexdigest() if copy.origin.base == 0 else "")
