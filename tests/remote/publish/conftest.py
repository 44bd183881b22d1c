"""A server with the stream and the bucket, and what a watcher reads from it."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from agentwatch.base.credentials import Credentials
from agentwatch.remote.address import parse_engine
from agentwatch.remote.chunk import Chunk, Ended, Piece
from agentwatch.remote.engine import Login, RemoteError, SessionName
from agentwatch.remote.nats.administration import DEFAULT, StreamLimits, make_streams
from agentwatch.remote.nats.archive import NatsArchive
from agentwatch.remote.nats.connection import Connection
from tests.harness.engine.server import Server, nats_server
from tests.harness.engine.shippers import ended_shippers, no_shipper_is_left
from tests.harness.processes import until
from tests.remote.publish.memory import Engine, applied
from tests.remote.publish.world import World

__all__ = ["ended_shippers", "no_shipper_is_left"]
Begin = Callable[[], tuple[World, Engine]]
"""The type of the fixture `begin`."""


class Stored(NamedTuple):
    """What the server has of a session."""

    content: bytes
    """By the reader rule, from an empty copy."""
    chunks: list[Chunk]
    end: Ended | None


def make(server: Server, limits: StreamLimits = DEFAULT, **login: str) -> None:
    connection = Connection(login_of(server, **login), "_INBOX.admin")
    make_streams(connection, limits)
    connection.close()


def login_of(server: Server, **login: str) -> Login:
    """Return how to log in to a server."""
    return Login(parse_engine(server.address)[0], Credentials(**login))  # type: ignore[arg-type]


def stored(server: Server, session: SessionName, **login: str) -> Stored:
    found: list[Piece] = []
    with closing(NatsArchive(login_of(server, **login))) as archive:
        pieces = archive.pieces(session)

        def is_read() -> bool:
            stored = None
            with suppress(RemoteError):
                stored = pieces.next(1.0)
            if stored is not None:
                found.append(stored.piece)
            return pieces.has_none or (stored is not None and stored.is_newest)

        until(is_read, what="the newest piece")
    chunks = [piece for piece in found if isinstance(piece, Chunk)]
    return Stored(applied(chunks), chunks, next((piece for piece in found if isinstance(piece, Ended)), None))


def cards(server: Server, **login: str) -> dict[SessionName, bytes]:
    """Return the newest card of each session."""
    archive = NatsArchive(login_of(server, **login))
    found: dict[SessionName, bytes] = {}
    reader = archive.cards()
    while not reader.is_complete:
        found |= {card.session: card.data for card in reader.next(1.0)}
    archive.close()
    return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Yield a server with the stream and the bucket."""
    with nats_server(tmp_path) as server:
        make(server)
        yield server


@pytest.fixture
def engine() -> Engine:
    """Return an engine without faults."""
    return Engine()


@pytest.fixture
def world(tmp_path: Path, engine: Engine) -> Iterator[World]:
    """Yield a recording without content that is being written, and its shipper."""
    world = World(tmp_path, engine)
    yield world
    world.close()


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Yield a function that returns another recording with its shipper, and its engine without faults."""
    made: list[World] = []

    def begin() -> tuple[World, Engine]:
        made.append(World(tmp_path, Engine(), f"another{len(made)}"))
        return made[-1], made[-1].engine

    yield begin
    for world in made:
        world.close()
