"""A connection that is made again when it was lost, and the calls of a publisher on it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from agentwatch.remote.chunk import Chunk, Ended, Piece, headers_of, piece_of
from agentwatch.remote.engine import (
    CARD_STREAM,
    STREAM,
    Login,
    RemoteError,
    SessionName,
    TailPiece,
    Trouble,
)
from agentwatch.remote.nats import errors
from agentwatch.remote.nats.administration import inbox_of
from agentwatch.remote.nats.client import DESCRIPTION, STATUS, Message
from agentwatch.remote.nats.connection import Connection, answer_in
from agentwatch.remote.nats.errors import NO_TAIL, SILENT, plain

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0


class Link:
    """The connection that several readers share. The first reader that needs it makes it again."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._connecting = threading.Lock()
        self._closed = threading.Event()
        self._pause = _FIRST_PAUSE
        self._due = 0.0
        self._problem = RemoteError(errors.LOST)
        self.connection: Connection | None = connect()

    def get(self, seconds: float) -> Connection:
        """Return the connection; make it again if it was lost and the pause after the last attempt is over.
        It waits at most `seconds` for the end of the pause. Raise `RemoteError` if there is no connection."""
        if not self._connecting.acquire(timeout=max(seconds, 0)):
            raise self._problem
        try:
            if self.connection is not None and not self.connection.lost.is_set():
                return self.connection
            self._drop()
            due = self._due - time.monotonic()
            if self._closed.wait(max(0, min(due, seconds))):
                raise RemoteError(errors.LOST)
            if due > seconds:
                raise self._problem
            return self._again()
        finally:
            self._connecting.release()

    def drop(self, connection: Connection) -> None:
        """Close a connection that does not answer, so that another one is made."""
        with self._connecting:
            if self.connection is connection:
                self._drop()

    def close(self) -> None:
        self._closed.set()
        if (connection := self.connection) is not None:
            connection.close()

    def _again(self) -> Connection:
        try:
            connection = self._connect()
        except RemoteError as error:
            self._problem = error
            self._due = time.monotonic() + self._pause * random.uniform(0.5, 1)  # noqa: S311 - jitter
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            raise
        self.connection, self._pause = connection, _FIRST_PAUSE
        if self._closed.is_set():
            connection.close()
            raise RemoteError(errors.LOST)
        return connection

    def _drop(self) -> None:
        if self.connection is not None:
            self._problem = self.connection.problem
            self.connection.close()
            self.connection = None


_NO_MESSAGE = "404"
_MOST_DIGITS = 20


class NatsSink:
    def __init__(self, login: Login, publisher: str) -> None:
        self.round_trip = 0.0
        self._connection = Connection(login, inbox_of(publisher))
        self.warning = self._connection.warning

    def tail(self, session: SessionName) -> TailPiece | None:
        try:
            message = self._request(f"$JS.API.DIRECT.GET.{STREAM}.{session.subject}", b"", None)
        except RemoteError as error:
            raise RemoteError(NO_TAIL) if str(error) == SILENT else error from None
        headers = message.headers
        status, sequence = headers.get(STATUS), headers.get("Nats-Sequence", "")
        if status == _NO_MESSAGE and not message.data:
            return None
        if not (sequence.isascii() and sequence.isdigit() and len(sequence) <= _MOST_DIGITS):
            raise RemoteError(
                f"the engine is not ready: {plain(status)} {plain(headers.get(DESCRIPTION))}".rstrip()
            )
        piece = piece_of(headers, message.data)
        if piece is None:
            raise RemoteError("the engine has something else under the name of the session", Trouble.REFUSED)
        if isinstance(piece, Ended):
            return TailPiece(piece.size, int(sequence), has_ended=True)
        return TailPiece(piece.end, int(sequence))

    def append(self, session: SessionName, piece: Piece, after: int) -> int:
        headers = headers_of(piece) | {
            "Nats-Expected-Stream": STREAM,
            "Nats-Expected-Last-Subject-Sequence": str(after),
        }
        data = piece.payload if isinstance(piece, Chunk) else b""
        sequence = answer_in(self._request(session.subject, data, headers)).get("seq")
        if not isinstance(sequence, int):
            raise RemoteError("the engine's answer cannot be read")
        return sequence

    def put_card(self, session: SessionName, card: bytes) -> None:
        answer_in(self._request(session.card_subject, card, {"Nats-Expected-Stream": CARD_STREAM}))

    def wait(self, seconds: float) -> None:
        if self._connection.lost.wait(seconds):
            raise self._connection.problem

    def close(self) -> None:
        self._connection.close()

    def _request(self, subject: str, data: bytes, headers: dict[str, str] | None) -> Message:
        began = time.monotonic()
        message = self._connection.request(subject, data, headers)
        self.round_trip = time.monotonic() - began
        return message
