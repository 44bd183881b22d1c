"""A client of a WebSocket server on a Unix socket: text messages, until a deadline (RFC 6455). A connection
lives for one exchange, so its deadline bounds what a server can cost: one that hangs, and one that floods.
"""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import struct
import time
from contextlib import suppress
from typing import Self

from agentwatch.base.local_socket import peer_uid, reach

_SALT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""What a server appends to the key of a client: section 1.3."""
_MOST_HEADER = 8 << 10
_MOST_MESSAGE = 4 << 20
_MOST_READ = 64 << 10
_MOST_CONTROL = 125
"""The bytes of a ping, of a pong and of a closing."""
_LAST = 0x80
"""The bit of the last frame of a message, and that of a masked one in the byte of its size."""
_CONTINUED, _TEXT, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x8, 0x9, 0xA


class WebSocket:
    """A connection to a server of this user. Its methods raise an OSError on a fault and at the deadline."""

    def __init__(self, path: str, uid: int, seconds: float) -> None:
        """The other process must belong to `uid`, where the system shows it. The deadline is in `seconds`."""
        self._until = time.monotonic() + seconds
        self._read = bytearray()
        """What was received, and is not taken yet."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._connect(path, uid)
        except BaseException:  # also a signal: nobody else can close the socket; it is raised again
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._send(_CLOSE, b"\x03\xe8")  # 1000: a normal end
        self._socket.close()

    def send(self, message: bytes) -> None:
        """The text has less than 64 KiB."""
        self._send(_TEXT, message)

    def receive(self) -> bytes:
        """Return the next text. Pings are answered."""
        message = bytearray()
        wanted = _TEXT
        while True:
            flags, size = self._take(2)
            if size == 126:
                (size,) = struct.unpack(">H", self._take(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self._take(8))
            elif size & _LAST:
                raise ConnectionError("a server has masked its frame")
            kind, is_last = flags & ~_LAST, bool(flags & _LAST)
            if len(message) + size > _MOST_MESSAGE:
                raise ConnectionError("a message is too long")
            if kind == wanted:
                message += self._take(size)
                if is_last:
                    return bytes(message)
                wanted = _CONTINUED
            elif kind in (_PING, _PONG) and is_last and size <= _MOST_CONTROL:
                data = self._take(size)
                if kind == _PING:
                    self._send(_PONG, data)
            else:
                raise ConnectionError("it was closed" if kind == _CLOSE else "a frame is not valid")

    def _connect(self, path: str, uid: int) -> None:
        self._limit()
        reach(self._socket, path)
        if (found := peer_uid(self._socket)) not in (None, uid):
            raise PermissionError(f"the server belongs to user {found}")
        key = base64.b64encode(os.urandom(16))
        self._socket.sendall(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n"
        )
        while (end := self._read.find(b"\r\n\r\n")) < 0:
            if len(self._read) > _MOST_HEADER:
                raise ConnectionError("its header is too long")
            self._receive()
        status, *lines = self._take(end + 4).split(b"\r\n")
        wanted = base64.b64encode(hashlib.sha1(key + _SALT, usedforsecurity=False).digest())
        answers = [
            value.strip()
            for name, _, value in (line.partition(b":") for line in lines)
            if name.lower() == b"sec-websocket-accept"
        ]
        if not status.startswith(b"HTTP/1.1 101") or answers != [wanted]:
            raise ConnectionError("it is not a WebSocket server")

    def _send(self, kind: int, data: bytes) -> None:
        size = len(data)
        head = bytes([_LAST | size]) if size <= _MOST_CONTROL else struct.pack(">BH", _LAST | 126, size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        self._limit()
        self._socket.sendall(bytes([_LAST | kind]) + head + mask + masked)

    def _take(self, size: int) -> bytes:
        while len(self._read) < size:
            self._receive()
        taken = bytes(self._read[:size])
        del self._read[:size]
        return taken

    def _receive(self) -> None:
        self._limit()
        data = self._socket.recv(_MOST_READ)
        if not data:
            raise ConnectionError("it has ended")
        self._read += data

    def _limit(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the server is late")
        self._socket.settimeout(left)
