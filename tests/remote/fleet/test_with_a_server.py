"""The list of a real server: cards appear, change and vanish, and the server may go away and come back."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from agentwatch.remote import lists
from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login
from agentwatch.remote.lists import EngineFleet
from agentwatch.remote.nats.administration import make_streams
from agentwatch.remote.nats.connection import Connection
from agentwatch.remote.nats.link import NatsSink
from tests.conftest import ROOT
from tests.harness.engine.server import Server, nats_server
from tests.remote.fleet.made import card, named, step_until


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with nats_server(tmp_path) as server:
        connection = Connection(login_of(server), "_INBOX.admin")
        make_streams(connection)
        connection.close()
        yield server


def login_of(server: Server) -> Login:
    """Return how to log in: without credentials."""
    return Login(parse_engine(server.address)[0])


def titles(fleet: EngineFleet) -> set[str]:
    return {row.title for row in fleet.rows.values()}


@pytest.mark.slow
def test_cards_appear_change_and_vanish(server: Server) -> None:
    """What publishers write is in the list, and what an administrator removes is not."""
    sink, fleet = NatsSink(login_of(server), "ci"), EngineFleet("team", login_of(server))
    sink.put_card(named(1), card(title="One"))
    step_until(fleet, lambda: fleet.is_found and titles(fleet) == {"One"})
    (row,) = fleet.rows.values()
    assert row.address == f"{server.address}/{named(1)}"
    assert row.lost_ms is None
    sink.put_card(named(2), card(title="Two"))
    sink.put_card(named(1), card(title="One, changed"))
    step_until(fleet, lambda: titles(fleet) == {"One, changed", "Two"})
    administrator = Connection(login_of(server), "_INBOX.admin")
    administrator.request(named(2).card_subject, b"", {"KV-Operation": "DEL"})
    administrator.close()
    step_until(fleet, lambda: titles(fleet) == {"One, changed"})
    fleet.close()
    sink.close()


@pytest.mark.system
def test_a_server_that_was_killed_is_named_and_found_again(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows stay while the server is away; new cards come once it is back."""
    monkeypatch.setattr(lists, "_LEAST_PAUSE", 0.05)
    monkeypatch.setattr(lists, "_MOST_PAUSE", 0.2)
    fleet = EngineFleet("team", login_of(server))
    sink = NatsSink(login_of(server), "ci")
    sink.put_card(named(1), card(title="One"))
    sink.close()
    step_until(fleet, lambda: titles(fleet) == {"One"})
    server.kill()
    step_until(fleet, lambda: fleet.problem)
    assert fleet.problem.startswith("no answer since ")
    assert titles(fleet) == {"One"}
    server.restart()
    sink = NatsSink(login_of(server), "ci")
    sink.put_card(named(2), card(title="Two"))
    sink.close()
    step_until(fleet, lambda: titles(fleet) == {"One", "Two"} and not fleet.problem)
    fleet.close()


@pytest.mark.system
def test_a_server_without_streams_is_named(tmp_path: Path) -> None:
    """A new engine has a line that says what it needs, and no row."""
    with nats_server(tmp_path) as server:
        fleet = EngineFleet("team", login_of(server))
        step_until(fleet, lambda: fleet.is_found)
        assert "agentwatch engine init" in fleet.problem
        fleet.close()


def printed(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `sessions`."""
    return subprocess.run(
        [sys.executable, "-m", "agentwatch", "sessions", *words],
        cwd=ROOT,
        env=os.environ | {"HOME": str(tmp_path), "AGENTWATCH_CONFIG": "/dev/null"},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.system
def test_the_sessions_of_an_engine_are_printed(server: Server, tmp_path: Path) -> None:
    """Their ids are addresses, and what does not answer is named on stderr; the exit code is 0."""
    sink = NatsSink(login_of(server), "ci")
    sink.put_card(named(1), card(title="One", cwd="/srv/api", branch="main"))
    sink.close()
    done = printed(tmp_path, "--json", server.address, "nats://127.0.0.1:1")
    assert done.returncode == 0
    (line,) = done.stdout.splitlines()
    values = orjson.loads(line)
    assert values["id"] == f"{server.address}/{named(1)}"
    assert (values["host"], values["repo"], values["path"], values["pid"]) == ("build1", "api", None, None)
    assert (values["state"], values["ground"]) == ("working", "said")
    assert "agentwatch: nats://127.0.0.1:1: no answer since " in done.stderr
    table = printed(tmp_path, server.address)
    assert table.stdout.startswith(f"{server.address}/{named(1).id}  ◐ model")
    assert "  ci@build1:api ⎇ main  One" in table.stdout


@pytest.mark.system
def test_without_any_answer_the_exit_code_is_2(tmp_path: Path) -> None:
    """Nothing is printed, and stderr has a line for each machine."""
    done = printed(tmp_path, "--json", "nats://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert printed(tmp_path, "--json", ".", "nats://127.0.0.1:1").returncode == 0
