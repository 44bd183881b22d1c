"""Limits that are reached: the publisher is refused as full, and others go on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.remote.chunk import Chunk
from agentwatch.remote.engine import RemoteError, Trouble, new_session
from agentwatch.remote.nats.administration import StreamLimits, make_streams
from agentwatch.remote.nats.connection import Connection
from agentwatch.remote.nats.link import NatsSink
from tests.conftest import case
from tests.harness.engine.server import Server, nats_server
from tests.remote.nats.conftest import login_of

pytestmark = pytest.mark.system

SESSION = new_session("ci")


@pytest.fixture
def small(server: Server, connected: Callable[[], Connection]) -> Connection:
    """Return a connection of an administrator who has set small limits."""
    connection = connected()
    make_streams(connection, StreamLimits(messages=3, bytes=100_000))
    assert server.port
    return connection


def fill(sink: NatsSink, count: int) -> None:
    """Store the largest piece of so many sessions."""
    for _ in range(count):
        sink.append(new_session("ci"), Chunk(0, bytes(1 << 16)), 0)


def test_a_session_with_as_many_messages_as_are_kept(small: Connection, sink: NatsSink) -> None:
    """Its next piece is refused as full, and another session goes on."""
    assert small.server_version
    after = 0
    for number in range(3):
        after = sink.append(SESSION, Chunk(4 * number, b"one\n"), after)
    with pytest.raises(RemoteError, match="no more messages of this session") as caught:
        sink.append(SESSION, Chunk(12, b"two\n"), after)
    assert caught.value.trouble is Trouble.FULL
    assert sink.append(new_session("ci"), Chunk(0, b"one\n"), 0) > after
    # When the room for sessions is used up, a piece of any session is refused as full.
    with pytest.raises(RemoteError, match="room for sessions is used up") as caught:
        fill(sink, 3)
    assert caught.value.trouble is Trouble.FULL


def test_a_full_account(tmp_path: Path) -> None:
    """When the disk space of the server's JetStream is used up, a piece is refused as full."""
    with nats_server(tmp_path, "jetstream { max_file_store: 1MB }") as server:
        connection = Connection(login_of(server), "_INBOX.admin")
        make_streams(connection)
        connection.close()
        sink = NatsSink(login_of(server), "ci")
        with pytest.raises(RemoteError, match=r"room|storage") as caught:
            fill(sink, 40)
        sink.close()
    assert caught.value.trouble is Trouble.FULL


def test_a_message_that_is_too_large(sink: NatsSink) -> None:
    """A piece above the limit of the stream, or of the server, is refused as full, and the next one goes."""
    for size in (310_000, 2_000_000):
        with case(size):
            with pytest.raises(RemoteError, match="larger than the engine allows") as caught:
                sink.append(SESSION, Chunk(0, bytes(size)), 0)
            assert caught.value.trouble is Trouble.FULL
            assert sink.append(new_session("ci"), Chunk(0, b"one\n"), 0) > 0
    # A card above the limit of the bucket is refused as full.
    with pytest.raises(RemoteError) as caught:
        sink.put_card(SESSION, bytes(5000))
    assert caught.value.trouble is Trouble.FULL
