"""A client of a WebSocket server: whatever the server does, it costs no more than the time that was given."""

import _socket
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentwatch.sources.websocket import WebSocket
from tests.conftest import case
from tests.harness.codex_server import CLOSE, PING, PONG, TEXT, CodexServer, Connection, frame

UID = os.geteuid()
SHORT = 0.05
LONG = 10.0
"""Longer than any test takes: what ends earlier was not ended by the deadline."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[CodexServer]:
    server = CodexServer(tmp_path / "socket")
    yield server
    server.close()


def sends(*data: bytes) -> Callable[[Connection], None]:
    """Return a server that sends bytes after the upgrade, and reads until the client ends."""

    def serve(connection: Connection) -> None:
        connection.upgrade()
        for each in data:
            connection.send(each)
        connection.wait()

    return serve


def open_to(server: CodexServer, seconds: float = LONG) -> WebSocket:
    return WebSocket(os.fspath(server.path), UID, seconds)


def echo(connection: Connection) -> None:
    """Send each text back."""
    connection.upgrade()
    for kind, data in connection.frames():
        if kind == TEXT:
            connection.send(frame(data))


def test_messages_go_both_ways(server: CodexServer) -> None:
    """A text arrives whole: short, long, longer than 64 KiB, in parts, and with a ping between its parts.
    The answer to a ping has its content, and the last frame says that the client ends as planned.
    """
    long, longer = b"x" * 300, b"y" * 100_000
    for name, sent, expected in (
        ("short", [frame(b"ab")], b"ab"),
        ("empty", [frame(b"")], b""),
        ("126 bytes and more", [frame(long)], long),
        ("64 KiB and more", [frame(longer)], longer),
        ("parts", [frame(b"a", is_last=False), frame(b"b", 0, is_last=False), frame(b"c", 0)], b"abc"),
        ("a ping", [frame(b"a", is_last=False), frame(b"p", PING), frame(b"b", 0)], b"ab"),
        ("a pong", [frame(b"p", PONG), frame(b"b")], b"b"),
    ):
        server.serve = sends(*sent)
        with case(name), open_to(server) as connection:
            assert connection.receive() == expected
    server.serve = echo
    with open_to(server) as connection:
        for size in (0, 1, 125, 126, 65_535):
            with case(size):
                connection.send(b"z" * size)
                assert connection.receive() == b"z" * size
    # A ping is answered and the end is announced.
    heard: list[tuple[int, bytes]] = []

    def noted(connection: Connection) -> None:
        connection.upgrade()
        connection.send(frame(b"here?", PING) + frame(b"x"))
        heard.extend(connection.frames())

    server.serve = noted
    with open_to(server) as connection:
        connection.receive()
    server.close()
    assert heard == [(PONG, b"here?"), (CLOSE, b"\x03\xe8")]


def test_what_is_no_valid_server_is_refused(server: CodexServer) -> None:
    """Another status, another key, another protocol, an endless header, and an end are faults. A frame that
    the protocol forbids, or that is too long, ends the connection before it is read.
    """
    for name, answer in (
        ("another status", b"HTTP/1.1 404 Not Found\r\n\r\n"),
        ("no key", b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        ("another key", b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: abc=\r\n\r\n"),
        ("lines of JSON", b'{"id":0}\n' * 2000),
        ("bytes", os.urandom(20_000)),
        ("an end", b""),
    ):

        def serve(connection: Connection, answer: bytes = answer) -> None:
            connection._until(b"\r\n\r\n")
            connection.send(answer)

        server.serve = serve
        refused = pytest.raises(ConnectionError, match=r"not a WebSocket server|header is too long|has ended")
        with case(name), refused:
            open_to(server)
    # A frame that is not valid is refused.
    for name, sent in (
        ("masked", bytes([0x80 | TEXT, 0x81]) + b"maskx"),
        ("reserved bits", bytes([0xC0 | TEXT, 1]) + b"x"),
        ("binary", frame(b"x", 0x2)),
        ("unknown", frame(b"x", 0x3)),
        ("a part without a beginning", frame(b"x", 0)),
        ("two beginnings", frame(b"x", is_last=False) + frame(b"y")),
        ("a long ping", frame(b"x" * 126, PING)),
        ("half a ping", frame(b"x", PING, is_last=False)),
        ("a closing", frame(b"\x03\xe8", CLOSE)),
        ("4 GiB", frame(b"", size=1 << 32)),
        ("parts of 2 MiB", b"".join(frame(b"x" * (2 << 20), kind, is_last=False) for kind in (1, 0, 0))),
    ):
        server.serve = sends(sent)
        refused = pytest.raises(ConnectionError, match=r"masked|not valid|too long|closed")
        with case(name), open_to(server) as connection, refused:
            connection.receive()


def flood(*data: bytes) -> Callable[[Connection], None]:
    """Return a server that sends the same again and again."""

    def serve(connection: Connection) -> None:
        connection.upgrade()
        while True:
            connection.send(b"".join(data) * 1000)

    return serve


def read_all(server: CodexServer) -> None:
    """Read what a server sends, until there is a fault."""
    with open_to(server, SHORT) as connection:
        while connection.receive():
            pass


def test_servers_that_are_late_foreign_or_away_are_refused(
    server: CodexServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A server that hangs before or after the upgrade, or floods, is left at the deadline. The user of the
    process counts, where the system shows it: macOS does not in this way. A path without a server is a
    fault of the system.
    """

    def upgrade_only(connection: Connection) -> None:
        connection.upgrade()
        connection.wait()

    for name, serve in (
        ("before the upgrade", Connection.wait),
        ("after it", upgrade_only),
        ("within a frame", sends(frame(b"ab", size=3))),
        ("pings", flood(frame(b"", PING))),
        ("pongs", flood(frame(b"", PONG))),
        ("texts", flood(frame(b"x"))),
    ):
        server.serve = serve
        begin = time.monotonic()
        with case(name), pytest.raises((TimeoutError, ConnectionError)):
            read_all(server)
        assert time.monotonic() - begin < SHORT + 1.0, name
    with pytest.raises(PermissionError):
        WebSocket(os.fspath(server.path), UID + 1, LONG)
    monkeypatch.delattr(_socket, "SO_PEERCRED", raising=False)
    server.serve = sends(frame(b"a"))
    with WebSocket(os.fspath(server.path), UID + 1, LONG) as connection:
        assert connection.receive() == b"a"
    for path in (tmp_path / "none", tmp_path / ("x" * 200)):
        with case(path), pytest.raises(OSError, match="No such file"):
            WebSocket(os.fspath(path), UID, LONG)


def test_the_path_of_a_server_may_have_any_length(tmp_path: Path) -> None:
    """The folder of Codex may be anywhere."""
    folder = tmp_path / ("x" * 200)
    folder.mkdir()
    server = CodexServer(folder / "socket")
    server.serve = sends(frame(b"a"))
    with open_to(server) as connection:
        assert connection.receive() == b"a"
    server.close()
