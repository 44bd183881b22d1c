"""A connection: it ends its threads, and leaves nothing behind however it ends."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable

import pytest

from agentwatch.engine.address import parse_engine
from agentwatch.engine.engine import EngineError
from agentwatch.engine.nats.archive import NatsArchive
from agentwatch.engine.nats.client.raw_client import RawClient
from agentwatch.engine.nats.connection import Connection
from agentwatch.engine.opening import Login
from tests.engine.nats.conftest import login_of
from tests.harness.engine.foreign.impostor import Impostor
from tests.harness.engine.proxy import Proxy
from tests.harness.engine.server import Server
from tests.harness.processes import until

INFO = {"version": "2.12.7", "max_payload": 1 << 20, "headers": True}
PRIVATE = ("_transport", "_sid", "_subs", "_process_msg")
"""The private names of nats-py that are used."""


def threads() -> set[str]:
    """Return the names of the threads of connections."""
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("nats")}


def test_the_private_names_of_the_client_exist() -> None:
    """A new version of nats-py that renames one of them fails here."""
    client = RawClient(Login(parse_engine("nats://localhost")[0]))
    base = type(client).__mro__[1]
    assert [name for name in PRIVATE if not hasattr(base(), name)] == []


def test_the_version_is_known(connected: Callable[[], Connection]) -> None:
    """A connection has the server's version, and a warning if it is older than shared servers may be."""
    connection = connected()
    assert connection.server_version.startswith("2.")
    assert connection.warning == "" or connection.server_version in connection.warning


@pytest.mark.parametrize("ending", ["close", "cut", "kill", "suspend"])
def test_a_connection_leaves_nothing_behind(
    server: Server, ending: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """However it ends, its thread ends within 2 s, and nothing is written to stderr or a log."""
    with Proxy(server.port) as proxy:
        archive = NatsArchive(Login(parse_engine(proxy.address)[0]))
        cards = archive.cards()
        assert cards.next(0) == []
        {"close": lambda: None, "cut": proxy.cut, "kill": server.kill, "suspend": server.suspend}[ending]()
        began = time.monotonic()
        archive.close()
        assert time.monotonic() - began < 2
        if ending == "suspend":
            server.resume()
        until(lambda: not threads())
    gc.collect()
    assert capfd.readouterr().err == ""
    assert [record.getMessage() for record in caplog.records] == []


@pytest.mark.parametrize(
    "more",
    [
        b"-ERR 'Permissions Violation for Publish to \"x\"'\r\n",
        b"-ERR\r\n",
        b"-ERR ''\r\n",
        b"-ERR '" + b"x" * 5000 + b"'\r\n",
        b"-ERR 'Authorization Violation'\r\n",
        b"-ERR 'User Authentication Expired'\r\n",
        b"-ERR 'Stale Connection'\r\n",
        b"-ERR '\xff\x1b[31m'\r\n",
        b"INFO {\r\n",
        b"INFO []\r\n",
        b'INFO {"connect_urls":5}\r\n',
        b'INFO {"connect_urls":["["]}\r\n',
        b"MSG x\r\n",
        b"MSG x 1 99999999999999999999\r\nabc",
        b"HMSG x 1 50 10\r\n0123456789\r\n",
        b"HMSG x 1 -1 -1\r\n\r\n",
        b"garbage\r\n",
        b"\x00" * 10_000,
        b"PING\r\n" * 1000,
    ],
    ids=range(19),
)
def test_lines_of_any_content_are_one_safe_error(
    more: bytes, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """After whatever a server sends, a request ends within its time with one line, and nothing is logged."""
    with Impostor(INFO, after=more) as impostor:
        connection = Connection(Login(parse_engine(f"nats://127.0.0.1:{impostor.port}")[0]), "_INBOX.x")
        began = time.monotonic()
        with pytest.raises(EngineError) as caught:
            connection.request("x")
        assert time.monotonic() - began < 4
        connection.close()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400
    gc.collect()
    assert capfd.readouterr().err == ""
    assert [record.getMessage() for record in caplog.records] == []


def test_requests_of_several_threads_do_not_mix(connected: Callable[[], Connection]) -> None:
    """Each of 4 threads gets the answers to its own 50 requests."""
    connection = connected()
    wrong: list[str] = []

    def ask(stream: str) -> None:
        for _ in range(50):
            name = connection.ask(f"$JS.API.STREAM.INFO.{stream}")["config"]["name"]
            if name != stream:
                wrong.append(name)

    asking = [threading.Thread(target=ask, args=(stream,)) for stream in ("AW", "KV_AWCARD") * 2]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert wrong == []


def test_a_closed_connection_raises(server: Server) -> None:
    """Every call after `close` is an error, and a second `close` is none."""
    connection = Connection(login_of(server), "_INBOX.x")
    inbox = connection.listen()
    connection.close()
    connection.close()
    for call in (
        lambda: connection.request("x"),
        lambda: connection.send("x", b"", "y"),
        connection.listen,
        lambda: connection.forget(inbox),
    ):
        with pytest.raises(EngineError):
            call()
