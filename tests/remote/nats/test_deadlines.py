"""How long a connection, a publisher and a watcher wait for a server."""

import time
from collections.abc import Callable

import pytest

from agentwatch.remote.engine import STREAM, RemoteError, Trouble
from agentwatch.remote.nats.archive import NatsArchive
from agentwatch.remote.nats.connection import Connection
from agentwatch.remote.nats.link import NatsSink
from tests.conftest import case
from tests.harness.engine.server import Server
from tests.remote.nats.test_archive import SESSION, read, store
from tests.remote.nats.test_connection import seconds_to_close

pytestmark = pytest.mark.costs


def test_a_connection_is_closed_within_2_s(server: Server) -> None:
    """Whatever has happened to the server, closing takes less than 2 s."""
    for ending in ("close", "cut", "suspend", "kill"):
        with case(ending):
            assert seconds_to_close(server, ending) < 2


def test_an_engine_that_answers_nothing(server: Server, sink: NatsSink) -> None:
    """A suspended server is an error after 2 s: nobody knows what it has done."""
    server.suspend()
    try:
        began = time.monotonic()
        with pytest.raises(RemoteError, match="does not answer") as caught:
            sink.tail(SESSION)
        assert 1.9 < time.monotonic() - began < 10
        assert caught.value.trouble is Trouble.AWAY
    finally:
        server.resume()


def test_a_reader_that_the_server_has_removed(
    archive: NatsArchive, sink: NatsSink, connected: Callable[[], Connection]
) -> None:
    """A consumer that is gone is made again, without a piece lost or an error raised."""
    store(sink, 0, 2)
    pieces = archive.pieces(SESSION)
    assert read(pieces, 2) == [0, 1]
    administrator = connected()
    names = administrator.ask(f"$JS.API.CONSUMER.NAMES.{STREAM}")["consumers"]
    administrator.ask(f"$JS.API.CONSUMER.DELETE.{STREAM}.{names[0]}")
    store(sink, 2, 2)
    began = time.monotonic()
    assert [read(pieces, 1), read(pieces, 1)] == [[2], [3]]
    assert time.monotonic() - began < 8  # without a status, a reader begins again after 12 s
