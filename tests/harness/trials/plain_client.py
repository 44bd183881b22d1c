"""A small client of NATS: it checks what the program has stored, and drives many publishers cheaply.

It shares nothing with the client that the program uses. It trusts the server, which the test has started.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

_CONNECT = (
    b'CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"lang":"plain"}\r\n'
)
_ANSWER_SECONDS = 10.0


class Refused(Exception):
    """A server has refused what it was asked, or has not answered."""


class Message(NamedTuple):
    """A message from the server."""

    subject: str
    reply: str
    head: bytes
    """The block of headers, with its first line."""
    data: bytes

    @property
    def headers(self) -> dict[str, str]:
        """The headers; `Status` has the code of the first line."""
        first, *lines = self.head.decode().split("\r\n")
        found = {name: value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
        words = first.split(" ", 2)
        return found | ({"Status": words[1]} if len(words) > 1 else {})


class PlainClient(asyncio.Protocol):
    """One connection. `connect` makes it."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        """What the server has complained about."""
        self._inbox = f"_INBOX.{os.urandom(8).hex()}"
        self._numbers = count(1)
        self._answers: dict[str, asyncio.Future[Message]] = {}
        self._receivers: dict[str, Callable[[Message], None]] = {"1": self._answer}
        self._received = bytearray()
        self._pongs: list[asyncio.Future[None]] = []
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def connect(cls, port: int) -> PlainClient:
        """Return a connection to the server on a loopback port."""
        _, client = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        client._write(_CONNECT + f"SUB {client._inbox}.* 1\r\n".encode())
        await client.flush()
        return client

    async def flush(self) -> None:
        """Wait until the server has read all that was sent."""
        pong: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pongs.append(pong)
        self._write(b"PING\r\n")
        await asyncio.wait_for(pong, _ANSWER_SECONDS)

    def request(self, subject: str, data: bytes = b"", head: bytes = b"") -> asyncio.Future[Message]:
        """Send a request with header lines that end with CR LF, and return the future answer."""
        token = str(next(self._numbers))
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._answers[token] = answer
        to = f"{subject} {self._inbox}.{token}"
        if head:
            block = b"NATS/1.0\r\n" + head + b"\r\n"
            words = f"HPUB {to} {len(block)} {len(block) + len(data)}\r\n"
            self._write(words.encode() + block + data + b"\r\n")
        else:
            self.send(subject, data, f"{self._inbox}.{token}")
        return answer

    def send(self, subject: str, data: bytes, reply: str) -> None:
        """Send a message whose answers go to a subject."""
        self._write(f"PUB {subject} {reply} {len(data)}\r\n".encode() + data + b"\r\n")

    async def ask(self, subject: str, question: object = None) -> dict[str, Any]:
        """Return the answer of JetStream to a question; Refused if it is an error, or there is none."""
        data = b"" if question is None else json.dumps(question).encode()
        try:
            answer = await asyncio.wait_for(self.request(f"$JS.API.{subject}", data), _ANSWER_SECONDS)
            found = json.loads(answer.data)
        except (TimeoutError, ValueError) as error:
            raise Refused(subject) from error
        if "error" in found:
            raise Refused(f"{subject}: {found['error']}")
        assert isinstance(found, dict)
        return found

    def subscribe(self, subject: str, receive: Callable[[Message], None]) -> None:
        """Call a function with each message on a subject."""
        number = str(len(self._receivers) + 1)
        self._receivers[number] = receive
        self._write(f"SUB {subject} {number}\r\n".encode())

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail everything that waits."""
        waiting: list[asyncio.Future[Any]] = [*self._answers.values(), *self._pongs]
        for future in waiting:
            if not future.done():
                future.set_exception(Refused("the connection is lost"))
                future.exception()  # nobody may wait for it

    def data_received(self, data: bytes) -> None:
        """Take the whole operations out of what has arrived."""
        received = self._received
        received += data
        at = 0
        while (end := received.find(b"\r\n", at)) >= 0:
            words = bytes(received[at:end]).split(b" ")
            if words[0] in (b"MSG", b"HMSG"):
                body = end + 2
                size = int(words[-1])
                if len(received) < body + size + 2:
                    break
                self._deliver(words, bytes(received[body : body + size]))
                end = body + size
            elif words[0] == b"PING":
                self._write(b"PONG\r\n")
            elif words[0] == b"PONG" and self._pongs:
                with suppress(asyncio.InvalidStateError):
                    self._pongs.pop(0).set_result(None)
            elif words[0] == b"-ERR":
                self.errors.append(received[at:end].decode())
            at = end + 2
        del received[:at]

    def _deliver(self, words: list[bytes], body: bytes) -> None:
        head_bytes = int(words[-2]) if words[0] == b"HMSG" else 0
        has_reply = len(words) == (6 if head_bytes else 5)
        reply = words[3].decode() if has_reply else ""
        message = Message(words[1].decode(), reply, body[:head_bytes], body[head_bytes:])
        self._receivers[words[2].decode()](message)

    def _answer(self, message: Message) -> None:
        answer = self._answers.pop(message.subject.rpartition(".")[2], None)
        if answer is not None and not answer.done():
            answer.set_result(message)

    def _write(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)
