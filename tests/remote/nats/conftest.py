"""A server with the stream and the bucket, and connections to it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login
from agentwatch.remote.nats.administration import make_streams
from agentwatch.remote.nats.archive import NatsArchive
from agentwatch.remote.nats.connection import Connection
from agentwatch.remote.nats.link import NatsSink
from tests.harness.engine.server import Server, nats_server


@pytest.fixture
def bare_server(tmp_path: Path) -> Iterator[Server]:
    with nats_server(tmp_path) as server:
        yield server


@pytest.fixture
def server(bare_server: Server) -> Server:
    """Return a server with the stream and the bucket."""
    connection = Connection(login_of(bare_server), "_INBOX.admin")
    make_streams(connection)
    connection.close()
    return bare_server


@pytest.fixture
def sink(server: Server) -> Iterator[NatsSink]:
    """Yield a connection of the publisher `ci`."""
    sink = NatsSink(login_of(server), "ci")
    yield sink
    sink.close()


@pytest.fixture
def archive(server: Server) -> Iterator[NatsArchive]:
    archive = NatsArchive(login_of(server))
    yield archive
    archive.close()


@pytest.fixture
def connected(server: Server) -> Iterator[Callable[[], Connection]]:
    """Return a function that makes a connection, closed after the test."""
    with ExitStack() as stack:

        def connect() -> Connection:
            connection = Connection(login_of(server), "_INBOX.admin")
            stack.callback(connection.close)
            return connection

        yield connect


def login_of(server: Server, user: str = "") -> Login:
    """Return the login of a user without a password."""
    address, _ = parse_engine(server.address)
    return Login(address._replace(user=user))
