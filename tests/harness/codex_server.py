"""A server of Codex on a Unix socket, which answers as the real one does, or as a broken one would."""

import base64
import hashlib
import json
import os
import shutil
import socket
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agentwatch.base.local_socket import listen, reach

Json = dict[str, Any]
SALT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
IDLE: Json = {"type": "idle"}
BROKEN: Json = {"type": "systemError"}
WORKS: Json = {"type": "active", "activeFlags": []}
APPROVAL: Json = {"type": "active", "activeFlags": ["waitingOnApproval"]}
QUESTION: Json = {"type": "active", "activeFlags": ["waitingOnUserInput"]}


def frame(data: bytes, kind: int = TEXT, *, is_last: bool = True, size: int | None = None) -> bytes:
    """Return a frame of a server; `size` is the one that it claims."""
    size = len(data) if size is None else size
    first = kind | (0x80 if is_last else 0)
    if size < 126:
        return bytes([first, size]) + data
    if size < 1 << 16:
        return struct.pack(">BBH", first, 126, size) + data
    return struct.pack(">BBQ", first, 127, size) + data


def text(message: object) -> bytes:
    """Return the frame of a JSON message."""
    return frame(json.dumps(message).encode())


class Connection:
    """One client: the frames that it sends, and what it is sent."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._read = b""

    def upgrade(self) -> None:
        """Answer the request for a WebSocket."""
        head = self._until(b"\r\n\r\n")
        key = next(
            line.split(b": ")[1] for line in head.split(b"\r\n") if line.startswith(b"Sec-WebSocket-Key")
        )
        accept = base64.b64encode(hashlib.sha1(key + SALT, usedforsecurity=False).digest())
        self.send(
            b"HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
            b"sec-websocket-accept: " + accept + b"\r\n\r\n"
        )

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """Yield the kind and the content of each frame until the client ends; each must be masked."""
        while True:
            first, size = self._take(2)
            assert size & 0x80, "a frame of a client is not masked"
            size &= 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", self._take(2))
            mask = self._take(4)
            yield first & 0xF, bytes(byte ^ mask[at % 4] for at, byte in enumerate(self._take(size)))

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def wait(self) -> None:
        """Read until the client ends."""
        while self._socket.recv(1 << 16):
            pass

    def _until(self, end: bytes) -> bytes:
        while end not in self._read:
            self._receive()
        found, _, self._read = self._read.partition(end)
        return found

    def _take(self, size: int) -> bytes:
        while len(self._read) < size:
            self._receive()
        taken, self._read = self._read[:size], self._read[size:]
        return taken

    def _receive(self) -> None:
        data = self._socket.recv(1 << 16)
        if not data:
            raise EOFError
        self._read += data


class CodexServer:
    """A server with threads. `serve` replaces what it does with a client."""

    def __init__(self, path: Path, threads: Mapping[str, Json] | None = None) -> None:
        self.path = path
        self.threads: dict[str, Json] = {}
        """The object of each thread; what is given is their status."""
        for key, status in (threads or {}).items():
            self.threads[key] = {"id": key, "status": status}
        self.heard: list[Json] = []
        """The messages of all clients."""
        self.kinds: list[int] = []
        """The kinds of their frames."""
        self.clients = 0
        """How many have connected."""
        self.serve: Callable[[Connection], None] = self.behave
        self._socket = socket.socket(socket.AF_UNIX)
        listen(self._socket, os.fspath(path), 128)
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def methods(self) -> list[str]:
        return [each["method"] for each in self.heard]

    def behave(self, connection: Connection) -> None:
        """Serve a client as the real server does."""
        connection.upgrade()
        for kind, data in connection.frames():
            self.kinds.append(kind)
            if kind == TEXT:
                message = json.loads(data)
                self.heard.append(message)
                for answer in self.answers(message):
                    connection.send(text(answer))

    def answers(self, message: Json) -> list[Json]:
        """Return what the real server sends for a message."""
        method, params = message.get("method"), message.get("params") or {}
        if method == "initialize":
            note = {"method": "configWarning", "params": {"summary": "x"}}
            return [{"id": message["id"], "result": {"userAgent": "codex"}}, note]
        if method == "thread/loaded/list":
            return [{"id": message["id"], "result": {"data": [*self.threads], "nextCursor": None}}]
        if method == "thread/read":
            return [{"id": message["id"], "result": {"thread": self.threads[params["threadId"]]}}]
        return []

    def settle(self) -> None:
        """Serve nobody any more, and wait until all who have connected were accepted."""
        self.serve = lambda _: None
        with socket.socket(socket.AF_UNIX) as last:
            last.settimeout(10)
            reach(last, os.fspath(self.path))
            assert last.recv(1) == b""
        self.clients -= 1

    def close(self) -> None:
        """Accept no more clients."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._socket.accept()
            except OSError:
                return
            self.clients += 1
            with accepted, suppress(OSError, EOFError):
                accepted.settimeout(5)
                self.serve(Connection(accepted))


@contextmanager
def codex_server(home: Path, threads: Mapping[str, Json] | None = None) -> Iterator[CodexServer]:
    """Run a server for a folder of Codex, which has a link to the socket, as the real one makes it."""
    folder = Path(tempfile.mkdtemp(prefix="codex-"))
    server = CodexServer(folder / "socket", threads)
    link = home / "app-server-control" / "app-server-control.sock"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(server.path)
    try:
        yield server
    finally:
        server.close()
        shutil.rmtree(folder)
