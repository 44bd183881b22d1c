"""Makes the stream and the bucket on a server without users, as an administrator does."""

from __future__ import annotations

import time

from agentwatch.engine.address import parse_engine
from agentwatch.engine.engine import EngineError
from agentwatch.engine.nats.connection import Connection
from agentwatch.engine.nats.setup import StreamLimits, make_streams
from agentwatch.engine.opening import Login
from tests.harness.engine.server import Server

_INBOX = "_INBOX.administrator"


def prepare(server: Server, *, replicas: int = 1, seconds: float = 30) -> None:
    """Make the stream and the bucket. The servers of a cluster have to elect a leader first.

    Args:
        server: The server.
        replicas: How many servers of its cluster store each message.
        seconds: How long to try.
    """
    deadline = time.monotonic() + seconds
    while True:
        connection = Connection(Login(parse_engine(server.address)[0]), _INBOX)
        try:
            make_streams(connection, StreamLimits(replicas=replicas))
        except EngineError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
        finally:
            connection.close()
