"""The calls of a watcher."""

from __future__ import annotations

import os

from agentwatch.engine.engine import Cards, EngineError, Pieces
from agentwatch.engine.names import SessionName
from agentwatch.engine.nats.connection import Connection
from agentwatch.engine.opening import Login


class NatsArchive:
    """A watcher's connection to JetStream."""

    def __init__(self, login: Login) -> None:
        """Connect.

        Args:
            login: The engine.

        Raises:
            EngineError: The engine cannot be reached, or refuses the login.
        """
        self._connection = Connection(login, f"_INBOX.{login.address.user or os.urandom(8).hex()}")

    def pieces(self, session: SessionName) -> Pieces:
        """Return a reader of a session, from the first piece that the engine has."""
        raise EngineError(f"not readable yet: {session}")

    def cards(self, publisher: str = "*") -> Cards:
        """Return a reader of the cards of a publisher, or of all publishers."""
        raise EngineError(f"not readable yet: {publisher}")

    def close(self) -> None:
        """Close the connection and all readers."""
        self._connection.close()
