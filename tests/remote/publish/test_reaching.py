"""What is done to reach an engine that is away."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from agentwatch.remote.address import EngineAddress, parse_engine
from agentwatch.remote.engine import EngineError, Login, Sink, Trouble, open_sink
from agentwatch.remote.publish import shipper
from agentwatch.remote.publish.publication import Given, Target, target_of
from agentwatch.remote.publish.shipper import Reaching
from tests.harness.engine.server import nats_server


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the publisher of each client that is made."""
    made: list[str] = []

    def open_and_count(login: Login, publisher: str) -> Sink:
        made.append(publisher)
        return open_sink(login, publisher)

    monkeypatch.setattr(shipper, "open_sink", open_and_count)
    return made


def test_no_client_is_made_again_where_nothing_listens(clients: list[str]) -> None:
    """After the first failure, an attempt costs a bare connection, and fails with the same words."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    away = Reaching(Target(Login(EngineAddress("127.0.0.1", port)), "ci", {}))
    said = set()
    for _ in range(3):
        with pytest.raises(EngineError) as failed:
            away.open()
        said.add(str(failed.value))
    assert said == {f"nats://127.0.0.1:{port}: connection refused"}
    assert clients == ["ci"]


@pytest.mark.slow
def test_an_engine_that_is_back_is_reached(tmp_path: Path, clients: list[str]) -> None:
    """The next attempt after the return of an engine connects."""
    with nats_server(tmp_path) as server:
        back = Reaching(Target(Login(parse_engine(server.address)[0]), "ci", {}))
        server.kill()
        for _ in range(2):
            with pytest.raises(EngineError):
                back.open()
        server.restart()
        back.open().close()
    assert clients == ["ci", "ci"]


@pytest.mark.slow
def test_a_renewed_password_is_used(tmp_path: Path) -> None:
    """The file with the credentials is read for each connection: a new password needs no new process."""
    file = tmp_path / "login.txt"
    file.touch(0o600)
    file.write_text("user: ci\npassword: old\n")
    with nats_server(tmp_path, 'authorization { user: "ci", password: "new" }') as server:
        renewed = Reaching(target_of(server.address, {}, {}, Given(credentials=file)))
        with pytest.raises(EngineError) as refused:
            renewed.open()
        file.write_text("user: ci\npassword: new\n")
        renewed.open().close()
    assert refused.value.trouble is Trouble.REFUSED
