"""Connects to an engine that may be away for hours, and is tried every few seconds all the while."""

from __future__ import annotations

import socket

from agentwatch.engine.credentials import credentials
from agentwatch.engine.engine import EngineError, Sink, Trouble
from agentwatch.engine.opening import open_sink
from agentwatch.shipping.target import Target

_SECONDS = 5.0


class Reaching:
    """Connects as a publisher, again and again.

    After a failure it first makes a bare connection, and closes it. Where nothing listens, that costs 0.2 ms
    of CPU, and the client with its loop and threads 1.5 ms; there are 160 attempts in 10 minutes.
    """

    def __init__(self, target: Target) -> None:
        """Connect to nothing yet.

        Args:
            target: The engine, and the publisher's token.
        """
        self._target = target
        self._failure = ""
        """What the client has said if nothing could be reached; empty if something could."""

    def open(self) -> Sink:
        """Connect, with the credentials that the file has now: short-lived ones are renewed there.

        Raises:
            EngineError: The engine cannot be reached, or refuses the login.
            Fault: The file with the credentials cannot be used.
        """
        if self._failure:
            self._check()
        try:
            login = self._target.login._replace(credentials=credentials(self._target.environ))
            sink = open_sink(login, self._target.publisher)
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
        address = self._target.login.address
        try:
            socket.create_connection((address.host, address.port), _SECONDS).close()
        except OSError:
            raise EngineError(self._failure) from None
        except UnicodeError:  # a name with a label over 63 characters: the client says so
            return
