"""`engine status` prints what an engine is, and how full it is."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.cli.engine.asking import engine, program, store
from tests.cli.engine.test_init import users_of
from tests.harness.engine.server import nats_server
from tests.harness.processes import end, start_with_us, until


@pytest.mark.slow
def test_an_administrator_sees_the_streams(tmp_path: Path) -> None:
    """Sessions, messages, bytes, the limits and the publishers with the most messages are printed."""
    with nats_server(tmp_path) as server:
        engine("init", server.address, "--max-bytes", "1GB")
        for number in range(3):
            store(server.address, f"aw.v1.c.ci.{number:032x}", b"x" * 100_000)
        store(server.address, f"aw.v1.c.build-1.{9:032x}", b"x" * 100_000, times=5)
        shown = engine("status", server.address).stdout.decode()
        found = json.loads(engine("status", server.address, "--json").stdout)
    assert "AW: 4 sessions, 8 messages, 800." in shown
    assert "of 1.0 GB (0 %), kept 7 days, 1 replica" in shown
    assert "messages of publishers: build-1 5, ci 3" in shown
    assert (found["jetstream"], found["tls"], found["clustered"]) == (True, False, False)
    assert found["streams"]["AW"]["sessions"] == 4
    assert found["streams"]["AW"]["full_percent"] == found["streams"]["AW"]["bytes"] / 10**7
    assert found["publishers"] == {"build-1": 5, "ci": 3}


@pytest.mark.system
def test_an_engine_that_was_not_set_up(tmp_path: Path) -> None:
    """The streams are missing, and the line says what to run."""
    with nats_server(tmp_path) as server:
        done = engine("status", server.address)
    assert done.returncode == 0
    assert b"AW: does not exist; run agentwatch engine init\n" in done.stdout


@pytest.mark.system
def test_other_users_see_what_they_may(tmp_path: Path) -> None:
    """A watcher sees how many sessions can be watched, a publisher nothing; limits need the administrator."""
    with nats_server(tmp_path) as server:
        printed = engine("init", server.address, "--publisher", "ci", "--watcher", "anna").stdout.decode()
    config = users_of(printed, admin="a", ci="c", anna="w")
    (tmp_path / "other").mkdir()
    with nats_server(tmp_path / "other", config) as server:
        admin = {"AGENTWATCH_NATS_USER": "admin", "AGENTWATCH_NATS_PASSWORD": "a"}
        assert engine("init", server.address, **admin).returncode == 0
        for number in range(3):
            store(server.address, f"$KV.AWCARD.ci.{number:032x}", b'{"v":1}', user="admin", password="a")
        watcher = engine("status", server.address, AGENTWATCH_NATS_USER="anna", AGENTWATCH_NATS_PASSWORD="w")
        limits = engine("limits", server.address, AGENTWATCH_NATS_USER="anna", AGENTWATCH_NATS_PASSWORD="w")
        publisher = engine("status", server.address, AGENTWATCH_NATS_USER="ci", AGENTWATCH_NATS_PASSWORD="c")
    assert (limits.returncode, limits.stderr.count(b"\n")) == (2, 1)
    assert b"this user may not do that; log in as the administrator" in limits.stderr
    assert (watcher.returncode, publisher.returncode) == (0, 0)
    assert b"you can watch 3 sessions; only an administrator sees the streams\n" in watcher.stdout
    assert b"may neither watch sessions nor see the streams\n" in publisher.stdout


@pytest.mark.system
def test_a_server_without_jetstream(tmp_path: Path) -> None:
    """It is reached, and the line says how to turn JetStream on."""
    with nats_server(tmp_path):  # skips the test where no server is installed
        pass
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (tmp_path / "log").open("wb") as log:
        process = start_with_us([program(), "-a", "127.0.0.1", "-p", str(port)], log)
    try:
        until(lambda: engine("status", f"nats://127.0.0.1:{port}").returncode == 0)
        status = engine("status", f"nats://127.0.0.1:{port}")
        init = engine("init", f"nats://127.0.0.1:{port}")
    finally:
        end(process)
    assert b"warning: JetStream is off" in status.stdout
    assert (init.returncode, init.stdout) == (2, b"")
    assert b"JetStream is off" in init.stderr
