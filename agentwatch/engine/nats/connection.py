"""A connection to a NATS server: a thread runs the client's event loop, and calls block until it answers."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Coroutine
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from typing import Any

from nats.aio.client import Client
from nats.errors import Error

from agentwatch.engine.engine import EngineError, Trouble
from agentwatch.engine.opening import Login

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 2.0
"""Without an answer after this time, nobody knows what the server has done."""
_CLOSE_SECONDS = 1.0


class Connection:
    """One connection, which is never made again: whoever uses it knows what to ask first after a break."""

    def __init__(self, login: Login, inbox: str) -> None:
        """Connect.

        Args:
            login: The server, and how to log in.
            inbox: The prefix of the subjects of answers: who shares it reads the answers of others.

        Raises:
            EngineError: The server cannot be reached, or refuses the login.
        """
        self.client = Client()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="nats", daemon=True)
        self._thread.start()
        try:
            self.call(self._connect(login, inbox), CONNECT_SECONDS * 2)
        except EngineError:
            self.close()
            raise

    def call(self, coroutine: Coroutine[Any, Any, Any], seconds: float = ANSWER_SECONDS) -> Any:
        """Run a coroutine of the client, and return its result.

        Args:
            coroutine: What to run.
            seconds: The longest time to wait for it.

        Raises:
            EngineError: It has failed, or did not end in time.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(seconds)
        except FutureTimeoutError:
            future.cancel()
            raise EngineError("the engine does not answer") from None
        except (Error, OSError, ssl.SSLError) as error:
            raise EngineError(f"the engine cannot be used: {type(error).__name__}", Trouble.AWAY) from None

    def close(self) -> None:
        """Close the connection, and end the thread."""
        with suppress(EngineError):
            self.call(self.client.close(), _CLOSE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    async def _connect(self, login: Login, inbox: str) -> None:
        address, given = login.address, login.credentials
        scheme = "nats" if address.is_loopback or login.allows_plaintext else "tls"
        await self.client.connect(
            f"{scheme}://{address.host}:{address.port}",
            allow_reconnect=False,
            connect_timeout=int(CONNECT_SECONDS),
            inbox_prefix=inbox,
            user=address.user or given.user or None,
            password=given.password or None,
            token=given.token or None,
            user_credentials=None if given.creds is None else str(given.creds),
            tls=ssl.create_default_context(cafile=given.ca) if scheme == "tls" else None,
        )
