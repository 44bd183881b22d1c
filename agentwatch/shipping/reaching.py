"""Connects to an engine that may be away for hours, and is tried every few seconds all the while."""

from __future__ import annotations

import socket

from agentwatch.engine.engine import EngineError, Sink, Trouble
from agentwatch.engine.opening import Login, open_sink

_SECONDS = 5.0


class Reaching:
    """Connects as a publisher, again and again.

    After a failure it first makes a bare connection, and closes it. Where nothing listens, that costs 0.2 ms
    of CPU, and the client with its loop and threads 1.5 ms; there are 160 attempts in 10 minutes.
    """

    def __init__(self, login: Login, publisher: str) -> None:
        """Connect to nothing yet.

        Args:
            login: The engine.
            publisher: The publisher's token.
        """
        self._login = login
        self._publisher = publisher
        self._failure = ""
        """What the client has said if nothing could be reached; empty if something could."""

    def open(self) -> Sink:
        """Connect.

        Raises:
            EngineError: The engine cannot be reached, or refuses the login.
        """
        if self._failure:
            self._check()
        try:
            sink = open_sink(self._login, self._publisher)
        except EngineError as error:
            self._failure = str(error) if error.trouble is Trouble.AWAY else ""
            raise
        self._failure = ""
        return sink

    def _check(self) -> None:
        """Check that something listens.

        Raises:
            EngineError: Nothing does.
        """
        address = self._login.address
        try:
            socket.create_connection((address.host, address.port), _SECONDS).close()
        except OSError:
            raise EngineError(self._failure) from None
        except UnicodeError:  # a name with a label over 63 characters: the client says so
            return
