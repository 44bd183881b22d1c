"""A client of NATS on a bare socket, which shares nothing with the one that the program uses.

It reads what the program wrote, and sends what no honest client sends.
"""

import json
import socket
from typing import Any, NamedTuple, Self


class Received(NamedTuple):
    """A message."""

    subject: bytes
    reply: bytes
    headers: bytes
    data: bytes


class Wire:
    """A connection. All calls wait for the server's answer."""

    def __init__(self, port: int, **login: str) -> None:
        """Connect and log in with the fields `user` and `pass` of CONNECT."""
        self._socket = socket.create_connection(("127.0.0.1", port), 10)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each PING waits 40 ms
        self._file = self._socket.makefile("rb")
        self.errors: list[str] = []
        """What the server has refused, in its own words."""
        self._subscriptions = 0
        assert self._file.readline().startswith(b"INFO ")
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, **login}
        self.send(b"CONNECT " + json.dumps(options).encode())
        self.flush()

    def send(self, line: bytes, *rest: bytes) -> None:
        """Send a line of the protocol, and the lines after it."""
        self._socket.sendall(b"".join(each + b"\r\n" for each in (line, *rest)))

    def publish(self, subject: bytes, data: bytes, headers: bytes = b"", reply: bytes = b"") -> None:
        """Publish a message with headers as given, which are the whole block."""
        if headers:
            self.send(
                b"HPUB %b %b %d %d" % (subject, reply, len(headers), len(headers) + len(data)), headers + data
            )
        else:
            self.send(b"PUB %b %b %d" % (subject, reply, len(data)), data)
        self.flush()

    def subscribe(self, subject: str) -> None:
        self._subscriptions += 1
        self.send(f"SUB {subject} {self._subscriptions}".encode())
        self.flush()

    def flush(self) -> list[Received]:
        """Wait until the server has read all that was sent, and return the messages that came meanwhile."""
        self.send(b"PING")
        found = []
        while (message := self.receive()) is not None:
            found.append(message)
        return found

    def receive(self) -> Received | None:
        """Return the next message; None for a PONG."""
        while True:
            line = self._file.readline().split()
            assert line, "the server has ended the connection"
            if line[0] == b"PONG":
                return None
            if line[0] == b"PING":
                self.send(b"PONG")
            elif line[0] == b"-ERR":
                self.errors.append(b" ".join(line[1:]).decode())
            elif line[0] in {b"MSG", b"HMSG"}:
                before = int(line[-2]) if line[0] == b"HMSG" else 0
                content = self._file.read(int(line[-1]) + 2)[:-2]
                reply = line[3] if len(line) == (6 if before else 5) else b""
                return Received(line[1], reply, content[:before], content[before:])

    def ask(self, subject: str, question: dict[str, Any] | None = None) -> Received | None:
        """Return the answer to a request; None if the server has refused to pass it on."""
        inbox = f"_INBOX.wire.{self._subscriptions}"
        self.subscribe(inbox)
        before = len(self.errors)
        data = b"" if question is None else json.dumps(question).encode()
        self.send(f"PUB {subject} {inbox} {len(data)}".encode(), data)
        self.send(b"PING")
        message = None
        while (received := self.receive()) is not None:
            message = received
        while message is None and len(self.errors) == before:
            message = self.receive()
        return message

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
