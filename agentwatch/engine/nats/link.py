"""A watcher's connection, which is made again when it was lost."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from agentwatch.engine.engine import EngineError
from agentwatch.engine.nats import errors
from agentwatch.engine.nats.connection import Connection

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0


class Link:
    """The connection that several readers share. The first reader that needs it makes it again."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        """Connect.

        Args:
            connect: Makes a connection.

        Raises:
            EngineError: There is no connection.
        """
        self._connect = connect
        self._connecting = threading.Lock()
        self._closed = threading.Event()
        self._pause = FIRST_PAUSE
        self._due = 0.0
        self._problem = EngineError(errors.LOST)
        self._connection: Connection | None = connect()

    @property
    def connection(self) -> Connection | None:
        """The connection, if there is one now."""
        return self._connection

    def get(self, seconds: float) -> Connection:
        """Return the connection; make it again if it was lost and the pause after the last attempt is over.

        Args:
            seconds: How long to wait for the end of the pause.

        Raises:
            EngineError: There is no connection.
        """
        if not self._connecting.acquire(timeout=max(seconds, 0)):
            raise self._problem
        try:
            if self._connection is not None and not self._connection.lost.is_set():
                return self._connection
            self._drop()
            due = self._due - time.monotonic()
            if self._closed.wait(max(0, min(due, seconds))):
                raise EngineError(errors.LOST)
            if due > seconds:
                raise self._problem
            return self._again()
        finally:
            self._connecting.release()

    def drop(self, connection: Connection) -> None:
        """Close a connection that does not answer, so that another one is made."""
        with self._connecting:
            if self._connection is connection:
                self._drop()

    def close(self) -> None:
        """Close the connection, for good. It never raises."""
        self._closed.set()
        if (connection := self._connection) is not None:
            connection.close()

    def _again(self) -> Connection:
        try:
            connection = self._connect()
        except EngineError as error:
            self._problem = error
            self._due = time.monotonic() + self._pause * random.uniform(0.5, 1)  # noqa: S311 - jitter
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            raise
        self._connection, self._pause = connection, FIRST_PAUSE
        if self._closed.is_set():
            connection.close()
            raise EngineError(errors.LOST)
        return connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._problem = self._connection.problem
            self._connection.close()
            self._connection = None
