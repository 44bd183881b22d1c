"""The login: it goes over TLS to the server that was named, and nowhere else."""

import asyncio
import gc
import socket
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from agentwatch.base.credentials import Credentials
from agentwatch.base.faults import Fault
from agentwatch.remote.address import EngineAddress, parse_engine
from agentwatch.remote.engine import Login, RemoteError, Trouble
from agentwatch.remote.login import open_archive, open_sink
from agentwatch.remote.nats.client import RawClient
from agentwatch.remote.nats.connection import Connection
from tests.conftest import case
from tests.harness.engine.foreign.certificates import Certificates, certificates_for
from tests.harness.engine.foreign.impostor import Impostor
from tests.harness.engine.server import nats_server
from tests.harness.processes import until

pytestmark = pytest.mark.system

HOST = "engine.example"
SECRET = "correct-horse"
CREDENTIALS = Credentials(user="ci", password=SECRET)
INFO = {"server_id": "X", "version": "2.12.7", "max_payload": 1 << 20, "headers": True, "auth_required": True}
USERS = f'authorization {{ user: "ci", password: "{SECRET}" }}\n'


@pytest.fixture(autouse=True)
def _name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the name of another host lead to this machine."""
    found = socket.getaddrinfo

    def look_up(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        return found("127.0.0.1" if host == HOST else host, port, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    """Return certificates of a server with the name of another host, and the address of this one."""
    return certificates_for(tmp_path / "certificates", f"DNS:{HOST}", "IP:127.0.0.1")


def login_to(port: int, host: str = HOST, ca: Path | None = None) -> Login:
    """Return a login with a password."""
    return Login(EngineAddress(host, port), replace(CREDENTIALS, ca=ca))


INFOS: list[dict[str, Any] | bytes] = [
    INFO,
    INFO | {"tls_required": False},
    INFO | {"tls_required": True},
    INFO | {"tls_available": True},
    INFO | {"tls_required": "yes", "connect_urls": ["127.0.0.1:1"]},
    INFO | {"nonce": "abc"},
    b"INFO []\r\n",
    b"INFO {\r\n",
    b"INFO " + b"[" * 100_000 + b"\r\n",
    b"INFO " + b"x" * (3 << 20) + b"\r\n",
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"-ERR 'x'\r\n",
    b"\r\n",
    b"",
]


def test_nothing_is_sent_to_a_host_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another host gets neither the login nor a greeting in plain text, whatever it says about itself."""
    monkeypatch.setattr("agentwatch.remote.nats.connection.CONNECT_SECONDS", 0.3)

    def opened_at(info: dict[str, Any] | bytes, opened: Callable[[Login], object]) -> Impostor:
        with Impostor(info) as impostor:
            with pytest.raises(RemoteError):
                opened(login_to(impostor.port))
            until(lambda: impostor.connections)  # its thread may be late
        return impostor

    openers: list[Callable[[Login], object]] = [open_archive, lambda login: open_sink(login, "ci")]
    for opened in openers:
        with ThreadPoolExecutor(len(INFOS)) as pool:  # some wait until the end
            impostors = [*pool.map(opened_at, INFOS, repeat(opened))]
        for info, impostor in zip(INFOS, impostors, strict=True):
            with case(f"{openers.index(opened)}, {info!r:.60}"):
                assert impostor.connections == 1
                assert SECRET.encode() not in impostor.received
                assert b"CONNECT" not in impostor.received
                assert impostor.received[:1] in {b"", b"\x16"}, "only the greeting of TLS"


def test_a_host_without_tls_is_refused_with_a_reason() -> None:
    """The user reads that the host has no TLS, and how to allow plain text."""
    with (
        Impostor(INFO) as impostor,
        pytest.raises(RemoteError, match=r"does not offer TLS.*plaintext") as caught,
    ):
        open_archive(login_to(impostor.port))
    assert caught.value.trouble is Trouble.REFUSED
    # With the user's word, the login goes to another host in plain text.
    with Impostor(INFO) as impostor:
        open_archive(login_to(impostor.port)._replace(allows_plaintext=True)).close()
    assert SECRET.encode() in impostor.received


def test_this_machine_needs_no_tls(tmp_path: Path) -> None:
    """A server on a loopback address is used in plain text."""
    with nats_server(tmp_path, USERS) as server:
        for host in ("127.0.0.1", "localhost"):
            open_archive(login_to(server.port, host)).close()
    # The error says that the login is refused, and has no secret in it or in what it holds.
    config = 'authorization { user: "ci", password: "another" }'
    with nats_server(tmp_path, config) as server, pytest.raises(RemoteError) as caught:
        open_archive(login_to(server.port, "127.0.0.1"))
    assert (str(caught.value), caught.value.trouble) == ("the engine refuses the login", Trouble.REFUSED)
    lines = traceback.format_exception(caught.value)
    assert SECRET not in "".join(lines)
    # Without a password, token or key, the error says where to set them.
    with nats_server(tmp_path, config) as server, pytest.raises(RemoteError) as caught:
        open_archive(Login(parse_engine(server.address)[0]))
    assert "the engine wants a login; set AGENTWATCH_NATS_USER" in str(caught.value)
    # What a crash report or a log could show has no password and no token.
    with nats_server(tmp_path, USERS) as server:
        login = login_to(server.port, "127.0.0.1")
        archive = open_archive(login)
        shown = [repr(each) for each in (login, archive, vars(archive), Credentials(token=SECRET))]
        archive.close()
    assert SECRET not in "".join(shown)


def test_tls_with_an_authority_of_your_own(tmp_path: Path, certificates: Certificates) -> None:
    """A server whose certificate is signed by the given authority gets the login."""
    with nats_server(tmp_path, certificates.config + USERS) as server:
        for host in (HOST, "127.0.0.1"):
            connection = Connection(login_to(server.port, host, certificates.authority), "_INBOX.ci")
            assert connection.ask("$JS.API.INFO")["streams"] == 0
            connection.close()
    # Where TLS is offered and not demanded, another host is used by TLS all the same.
    with nats_server(tmp_path, certificates.config + "allow_non_tls: true\n" + USERS) as server:
        connection = Connection(login_to(server.port, HOST, certificates.authority), "_INBOX.ci")
        assert connection.ask("$JS.API.INFO")["streams"] == 0
        connection.close()
    # A server whose certificate is signed by somebody else does not get the login.
    other = certificates_for(tmp_path / "other", f"DNS:{HOST}")
    with nats_server(tmp_path, certificates.config + USERS) as server:
        for authority in (other.authority, None):
            with pytest.raises(RemoteError, match="certificate of the server is not valid") as caught:
                open_archive(login_to(server.port, HOST, authority))
            assert caught.value.trouble is Trouble.REFUSED
    # A certificate of the right authority for another host is not proof.
    made = certificates_for(tmp_path / "made", "DNS:other.example")
    with nats_server(tmp_path, made.config + USERS) as server, pytest.raises(RemoteError, match="not valid"):
        open_archive(login_to(server.port, HOST, made.authority))
    # A file without certificates, or that does not exist, is reported before anything is connected.
    empty = tmp_path / "empty.pem"
    empty.touch()
    for path in (empty, tmp_path / "missing.pem", tmp_path):
        with pytest.raises(Fault, match=str(path)):
            open_archive(login_to(1, HOST, path))


def test_other_servers_that_are_announced_are_not_used() -> None:
    """A server that names others keeps this client, also when it ends the connection."""
    with Impostor(INFO) as second:
        urls = {"connect_urls": [f"127.0.0.1:{second.port}"], "cluster": "c"}
        with Impostor(INFO | urls) as first:
            archive = open_archive(login_to(first.port, "127.0.0.1"))
        with pytest.raises(RemoteError):
            archive.cards().next(3)
        archive.close()
        assert second.connections == 0
    # The addresses that a server announces are not even kept.
    with Impostor(INFO | {"connect_urls": ["other.example:4222"]}) as impostor:
        client = RawClient(login := login_to(impostor.port, "127.0.0.1"))
        asyncio.run(_known_servers(client, f"nats://127.0.0.1:{login.address.port}"))
        assert [url.hostname for url in client.servers] == ["127.0.0.1"]


async def _known_servers(client: RawClient, address: str) -> None:
    await client.connect(address, allow_reconnect=False)
    await client.close()


def test_an_error_leaves_nothing_behind(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed connection writes nothing to stderr or to a log, then or when it is collected."""
    monkeypatch.setattr("agentwatch.remote.nats.connection.CONNECT_SECONDS", 0.3)
    with Impostor(INFO | {"tls_required": True}) as impostor, pytest.raises(RemoteError):
        open_archive(login_to(impostor.port, "127.0.0.1"))
    gc.collect()
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_a_host_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that cannot be looked up, and a port without a server, are told apart."""

    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    with pytest.raises(RemoteError, match="connection refused") as caught:
        open_archive(login_to(free, "127.0.0.1"))
    assert caught.value.trouble is Trouble.AWAY
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(RemoteError, match="name of the host is not known"):
        open_archive(login_to(4222, "no.example"))
