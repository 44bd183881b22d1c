"""The calls of a publisher."""

from __future__ import annotations

import time

import orjson
from nats.aio.msg import Msg

from agentwatch.engine.chunk import Chunk, Ended, Piece, headers_of, piece_of
from agentwatch.engine.engine import EngineError, TailPiece, Trouble
from agentwatch.engine.names import STREAM, SessionName
from agentwatch.engine.nats.connection import ANSWER_SECONDS, Connection
from agentwatch.engine.opening import Login


class NatsSink:
    """A publisher's connection to JetStream."""

    def __init__(self, login: Login, publisher: str) -> None:
        """Connect.

        Args:
            login: The engine.
            publisher: The publisher's token.

        Raises:
            EngineError: The engine cannot be reached, or refuses the login.
        """
        self.round_trip = 0.0
        self._connection = Connection(login, f"_INBOX.{publisher}")

    def tail(self, session: SessionName) -> TailPiece | None:
        """Return the newest piece of a session; None if the engine is known to have none."""
        message = self._request(f"$JS.API.DIRECT.GET.{STREAM}.{session.subject}", b"", {})
        headers = message.headers or {}
        if headers.get("Status") == "404":
            return None
        piece = piece_of(headers, message.data)
        if piece is None or not headers.get("Nats-Sequence", "").isdigit():
            raise EngineError("the engine is not ready")
        sequence = int(headers["Nats-Sequence"])
        if isinstance(piece, Ended):
            return TailPiece(piece.size, sequence, has_ended=True)
        return TailPiece(piece.end, sequence)

    def append(self, session: SessionName, piece: Piece, after: int) -> int:
        """Store a piece, and return its sequence once it is acknowledged."""
        headers = headers_of(piece) | {
            "Nats-Expected-Stream": STREAM,
            "Nats-Expected-Last-Subject-Sequence": str(after),
        }
        return self._store(session.subject, piece.payload if isinstance(piece, Chunk) else b"", headers)

    def put_card(self, session: SessionName, card: bytes) -> None:
        """Replace the card of a session."""
        self._store(session.card_subject, card, {})

    def wait(self, seconds: float) -> None:
        """Wait, and keep the connection alive."""
        time.sleep(seconds)
        if not self._connection.client.is_connected:
            raise EngineError("the connection to the engine was lost")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _store(self, subject: str, data: bytes, headers: dict[str, str]) -> int:
        answer = orjson.loads(self._request(subject, data, headers).data)
        if "error" in answer:
            raise EngineError(
                f"the engine refuses: {answer['error'].get('description', '')}", Trouble.REFUSED
            )
        return int(answer["seq"])

    def _request(self, subject: str, data: bytes, headers: dict[str, str]) -> Msg:
        began = time.monotonic()
        client = self._connection.client
        message: Msg = self._connection.call(
            client.request(subject, data, timeout=ANSWER_SECONDS, headers=headers or None), ANSWER_SECONDS + 1
        )
        self.round_trip = time.monotonic() - began
        return message
