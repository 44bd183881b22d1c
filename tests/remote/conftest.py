"""An engine with a publisher, a watcher's folder, and a recording that is published."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import orjson
import pytest

from agentwatch.base.config import Machines
from agentwatch.remote.address import parse_engine
from agentwatch.remote.card import Card, encode
from agentwatch.remote.chunk import Chunk, Ended
from agentwatch.remote.copying import Copying, open_copy
from agentwatch.remote.engine import Login, SessionName
from agentwatch.remote.nats.administration import make_streams
from agentwatch.remote.nats.connection import Connection
from agentwatch.remote.nats.link import NatsSink
from tests.harness.engine.server import Server, nats_server

SESSION = SessionName("ci", "0123456789abcdef" * 2)
LINES = [orjson.dumps({"line": number, "text": "x" * 100}) + b"\n" for number in range(200)]


class Publisher:
    """Stores pieces of one session, as `agentwatch engine ship` does."""

    def __init__(self, address: str, session: SessionName = SESSION) -> None:
        self.session = session
        self.sink = NatsSink(Login(parse_engine(address)[0]), session.publisher)
        self.content = b""
        self._sequence = 0

    def send(self, *lines: bytes, seen_ms: int = 1000) -> None:
        """Store lines, all in one chunk."""
        payload = b"".join(lines)
        offset = len(self.content)
        chunk = Chunk(offset, payload, ((offset, seen_ms + offset),))
        self._sequence = self.sink.append(self.session, chunk, self._sequence)
        self.content += payload

    def send_recording(self, path: Path) -> None:
        """Store a recording with its arrival times, in chunks of some lines."""
        content, times = path.read_bytes(), path.with_suffix(".times").read_text().splitlines()
        seen = [(int(offset), int(ms)) for offset, ms in (line.split() for line in times)]
        while len(self.content) < len(content):
            start = len(self.content)
            end = content.index(b"\n", min(start + 2000, len(content) - 1)) + 1
            within = tuple(pair for pair in seen if start <= pair[0] < end)
            chunk = Chunk(start, content[start:end], within)
            self._sequence = self.sink.append(self.session, chunk, self._sequence)
            self.content = content[:end]

    def end(self, exit_code: int | None = 0) -> None:
        digest = hashlib.sha256(self.content).hexdigest()
        ended = Ended(len(self.content), exit_code, digest)
        self._sequence = self.sink.append(self.session, ended, self._sequence)

    def card(self, card: Card | None = None) -> None:
        self.sink.put_card(self.session, encode(card or Card(host="build-7", outcome="running")))


class Watcher(NamedTuple):
    """A watcher with a folder of copies."""

    environ: dict[str, str]

    def open(self, words: str) -> Copying:
        return open_copy(words, Machines(), self.environ)


@contextmanager
def published(tmp_path: Path) -> Iterator[tuple[Server, Publisher]]:
    """Yield a server with the stream and the bucket, and a publisher of one session."""
    with nats_server(tmp_path) as server:
        connection = Connection(Login(parse_engine(server.address)[0]), "_INBOX.admin")
        make_streams(connection)
        connection.close()
        publisher = Publisher(server.address)
        try:
            yield server, publisher
        finally:
            publisher.sink.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[tuple[Server, Publisher]]:
    """Yield a server and a publisher."""
    with published(tmp_path) as both:
        yield both


@pytest.fixture
def server(engine: tuple[Server, Publisher]) -> Server:
    return engine[0]


@pytest.fixture
def publisher(engine: tuple[Server, Publisher]) -> Publisher:
    return engine[1]


@pytest.fixture
def watcher(tmp_path: Path) -> Watcher:
    """Return a watcher whose folder is empty."""
    return Watcher({"AGENTWATCH_HOME": str(tmp_path / "home")})
