"""Answers in a server's place, and keeps all that it receives."""

import json
import socket
import threading
from contextlib import suppress
from typing import Any, Self


class Impostor:
    """Sends one first line to each client, answers each PING, and records every byte it gets."""

    def __init__(
        self,
        info: dict[str, Any] | bytes,
        answer: bytes | None = None,
        after: bytes = b"",
        hangs_up: bool = False,
        host: str = "127.0.0.1",
    ) -> None:
        """Listen on a free port. `after` is sent as soon as the client has subscribed."""
        self._answer = answer
        self._after = after
        self._hangs_up = hangs_up
        self._first = info if isinstance(info, bytes) else b"INFO " + json.dumps(info).encode() + b"\r\n"
        self._listener = socket.create_server((host, 0))
        self.received = b""
        self.connections = 0
        self.closed = 0
        """How many connections their clients have closed."""
        self._client: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._listener.getsockname()[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        """End the server and the connection that it has; what has arrived is still read."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if self._client is not None:
            with suppress(OSError):
                self._client.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._client = client
                self.connections += 1
                client.settimeout(10)
                with client, suppress(OSError):
                    client.sendall(self._first)
                    while data := client.recv(1 << 16):
                        self.received += data
                        if b"PING\r\n" in data:
                            client.sendall(b"PONG\r\n")
                        if self._hangs_up and b"PUB " in data:
                            break
                        if b"SUB " in data:
                            client.sendall(self._after)
                        for line in data.split(b"\r\n") if self._answer is not None else ():
                            words = line.split(b" ")
                            if words[0] in {b"PUB", b"HPUB"}:
                                client.sendall(_message(words[2], self._answer or b""))
                    self.closed += not data


def _message(subject: bytes, data: bytes) -> bytes:
    """Return a message of the first subscription."""
    return b"MSG %b 1 %d\r\n%b\r\n" % (subject, len(data), data)
