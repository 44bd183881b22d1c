"""A connection: it ends its threads, and leaves nothing behind however it ends."""

import asyncio
import gc
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login, RemoteError
from agentwatch.remote.nats.archive import NatsArchive
from agentwatch.remote.nats.client import RawClient
from agentwatch.remote.nats.connection import Connection
from tests.conftest import case
from tests.harness.engine.foreign.impostor import Impostor
from tests.harness.engine.proxy import Proxy
from tests.harness.engine.server import Server
from tests.harness.processes import until
from tests.remote.nats.conftest import login_of

pytestmark = pytest.mark.system

INFO = {"version": "2.12.7", "max_payload": 1 << 20, "headers": True}
PRIVATE = ("_transport", "_sid", "_subs", "_process_msg")
"""The private names of nats-py that are used."""


def login_at(port: int) -> Login:
    """Return the login of nobody at a port of this machine."""
    return Login(parse_engine(f"nats://127.0.0.1:{port}")[0])


def threads() -> set[str]:
    """Return the names of the threads of connections."""
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("nats")}


def test_an_old_server_has_a_warning() -> None:
    """A connection has a warning if the server is older than shared servers may be."""
    # A new version of nats-py that renames one of them fails here.
    client = RawClient(Login(parse_engine("nats://localhost")[0]))
    base = type(client).__mro__[1]
    assert [name for name in PRIVATE if not hasattr(base(), name)] == []
    for version, beginning in (("2.12.7", ""), ("2.10.29", "the engine runs nats-server 2.10.29;")):
        with case(version), Impostor(INFO | {"version": version}) as impostor:
            connection = Connection(login_at(impostor.port), "_INBOX.x")
            assert connection.server_version == version
            assert connection.warning.partition(" shared")[0] == beginning
            connection.close()
    # A server that ends the connection instead of an answer is an error that says so.
    with Impostor(INFO, hangs_up=True) as impostor:
        connection = Connection(login_at(impostor.port), "_INBOX.x")
        with pytest.raises(RemoteError, match="was lost"):  # after 2 s it is another error
            connection.request("x")
        connection.close()


def test_the_version_is_known(connected: Callable[[], Connection]) -> None:
    """A connection has the version that the server says."""
    assert re.match(r"2\.\d+\.\d+", connected().server_version)


@pytest.mark.parametrize("ending", ["close", "cut", "kill", "suspend"])
def test_a_connection_leaves_nothing_behind(
    server: Server, ending: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """However it ends, its thread ends, and nothing is written to stderr or a log."""
    seconds_to_close(server, ending)
    until(lambda: not threads())
    gc.collect()
    assert capfd.readouterr().err == ""
    assert [record.getMessage() for record in caplog.records] == []


def seconds_to_close(server: Server, ending: str) -> float:
    """Return how long it takes to close a connection to which something has happened."""
    with Proxy(server.port) as proxy:
        archive = NatsArchive(login_at(proxy.port))
        cards = archive.cards()
        assert cards.next(0) == []
        {"close": lambda: None, "cut": proxy.cut, "kill": server.kill, "suspend": server.suspend}[ending]()
        began = time.monotonic()
        archive.close()
        seconds = time.monotonic() - began
        if ending == "suspend":
            server.resume()
    return seconds


def test_the_socket_is_closed_while_the_client_closes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that ends while its client handles a loss, or takes too long, leaves no open socket."""

    def loses_the_race(connection: Connection) -> None:
        client = connection._client
        close = client.close

        async def close_twice() -> None:
            lost = asyncio.create_task(close())
            await asyncio.sleep(0)
            await close()
            assert not lost.done()

        monkeypatch.setattr(client, "close", close_twice)

    def takes_too_long(connection: Connection) -> None:
        monkeypatch.setattr(connection._client, "close", lambda: asyncio.sleep(60))

    for ending in (loses_the_race, takes_too_long):
        with case(ending.__name__), Impostor(INFO) as impostor:
            connection = Connection(login_at(impostor.port), "_INBOX.x")
            ending(connection)
            connection.close()
            until(lambda: not threads())  # the thread that connected may still be ending
            wait_for_the_end(impostor)


def wait_for_the_end(impostor: Impostor) -> None:
    """Wait until the only client has closed its connection."""
    until(lambda: impostor.closed == 1, what="the end of the connection at the server")


LINES = [
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
]


def test_lines_of_any_content_are_one_safe_error(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After whatever a server sends, a request ends with an error of one line, and nothing is logged."""

    def error_after(more: bytes) -> str:
        with Impostor(INFO, after=more) as impostor:
            connection = Connection(login_at(impostor.port), "_INBOX.x")
            with pytest.raises(RemoteError) as caught:
                connection.request("x")
            connection.close()
        return str(caught.value)

    monkeypatch.setattr("agentwatch.remote.nats.connection.ANSWER_SECONDS", 0.3)
    with ThreadPoolExecutor(len(LINES)) as pool:  # most requests wait for their answer to the end
        errors = [*pool.map(error_after, LINES)]
    for more, error in zip(LINES, errors, strict=True):
        with case(f"{more[:60]!r}"):
            assert error.isprintable()
            assert len(error) < 400
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
        with pytest.raises(RemoteError):
            call()
    # `close` does not wait for a slow thread, and the thread closes its event loop when it ends.
    connection = Connection(login_of(server), "_INBOX.x")
    release = threading.Event()
    connection._loop.call_soon_threadsafe(release.wait)
    connection.close()
    assert not connection._loop.is_closed()
    release.set()
    until(connection._loop.is_closed)
    # A message that is sent while the loop ends leaves no coroutine that nobody awaits.
    connection = Connection(login_of(server), "_INBOX.x")
    end = connection._loop.close

    def send_and_end() -> None:
        connection.send("x", b"", "y")
        end()

    connection._loop.close = send_and_end  # type: ignore[method-assign]
    connection.close()
    assert connection._loop.is_closed()
    gc.collect()  # warns of such a coroutine, which fails the test
    # Several threads may close it at once.
    for number in range(20):
        connection = Connection(login_of(server), "_INBOX.x")
        with case(number), ThreadPoolExecutor(3) as pool:
            for closing in [pool.submit(connection.close) for _ in range(3)]:
                closing.result()
        assert connection._loop.is_closed(), number
    # Closing an inbox when the connection is lost is an error, and asks nothing of the client.
    connection = Connection(login_of(server), "_INBOX.x")
    inbox = connection.listen()
    server.kill()
    until(connection.lost.is_set)
    with pytest.raises(RemoteError, match="was lost"):
        connection.forget(inbox)
    connection.close()
