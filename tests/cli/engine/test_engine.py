"""`engine init` makes the streams and prints users, `limits` changes what is kept, `status` prints it."""

import json
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli.engine.asking import engine, program, store, stream, users_of
from tests.conftest import case
from tests.harness.engine.server import nats_server
from tests.harness.processes import end, start_with_us, until
from tests.harness.schemas import check_json

ADDRESS = "nats://127.0.0.1:1"


def login(user: str, password: str) -> dict[str, str]:
    """Return the variables that log in a user."""
    return {"AGENTWATCH_NATS_USER": user, "AGENTWATCH_NATS_PASSWORD": password}


@pytest.mark.slow
def test_the_streams_are_made_changed_and_shown(tmp_path: Path) -> None:
    """The streams have the limits of the protocol, and nobody can delete single messages.

    Sessions, messages, bytes, the limits and the publishers with the most messages are printed. The size and
    the age become what is asked for; cards are kept at least as long as bytes.
    """
    with nats_server(tmp_path) as server:
        done = engine("init", server.address, "--max-bytes", "1GB")
        assert done.returncode == 0
        assert b"# AW: made; 1 replica, bytes kept 7 days, at most 1.0 GB" in done.stdout
        chunks, cards = stream(server.address, "AW"), stream(server.address, "KV_AWCARD")
        for number in range(3):
            store(server.address, f"aw.v1.c.ci.{number:032x}", b"x" * 100_000)
        store(server.address, f"aw.v1.c.build-1.{9:032x}", b"x" * 100_000, times=5)
        shown = engine("check", server.address).stdout.decode()
        printed = engine("check", server.address, "--json").stdout
        limited = engine("limits", server.address, "--max-bytes", "2GB", "--age", "40d")
        larger, longer = stream(server.address, "AW"), stream(server.address, "KV_AWCARD")
    assert (chunks["max_bytes"], chunks["max_age"], chunks["max_msg_size"]) == (10**9, 604_800, 300_000)
    assert (chunks["max_msgs_per_subject"], chunks["discard"]) == (200_000, "new")
    assert (cards["max_age"], cards["max_msg_size"], cards["max_msgs_per_subject"]) == (2_592_000, 4096, 1)
    assert chunks["deny_delete"]
    assert chunks["deny_purge"]
    assert cards["deny_delete"]
    assert "AW: 4 sessions, 8 messages, 800." in shown
    assert "of 1.0 GB (0 %), kept 7 days, 1 replica" in shown
    assert "messages of publishers: build-1 5, ci 3" in shown
    check_json("engine-status", printed)
    found = json.loads(printed)
    assert (found["jetstream"], found["tls"], found["clustered"]) == (True, False, False)
    assert found["streams"]["AW"]["sessions"] == 4
    assert found["streams"]["AW"]["full_percent"] == found["streams"]["AW"]["bytes"] / 10**7
    assert found["publishers"] == {"build-1": 5, "ci": 3}
    assert (limited.returncode, limited.stderr) == (0, b"")
    assert b"2.0 GB" in limited.stdout
    assert b"40 days" in limited.stdout
    assert (larger["max_bytes"], larger["max_age"], longer["max_age"]) == (2 * 10**9, 40 * 86400, 40 * 86400)


@pytest.mark.system
def test_limits_that_cannot_be_had_are_refused(tmp_path: Path) -> None:
    """The reason names the option or what to run, and the limit that exists stays.

    Without an option, `limits` only prints. A second `init` changes nothing, and keeps limits that were
    changed; an option changes only its limit. A size below what is stored is refused, since nats-server
    would delete the oldest bytes at once.
    """
    with nats_server(tmp_path) as server:
        address = server.address
        missing, status = engine("limits", address), engine("check", address)
        assert (missing.returncode, missing.stdout, status.returncode) == (2, b"", 0)
        assert b"run agentwatch engine init first" in missing.stderr
        assert b"AW: does not exist; run agentwatch engine init\n" in status.stdout
        replicas = engine("init", address, "--replicas", "3")
        assert (replicas.returncode, replicas.stdout) == (2, b"")
        assert b"3 need a cluster of three" in replicas.stderr
        for command in ("init", "limits"):
            with case(command):
                done = engine(command, address, "--max-bytes", "999TB")
                assert (done.returncode, done.stdout) == (2, b"")
                assert b"--max-bytes: more than the server or the account may store (" in done.stderr
                engine("init", address)
        before = stream(address, "AW")
        assert before["max_bytes"] == -1
        printed = engine("limits", address)
        assert (printed.returncode, printed.stderr) == (0, b"")
        assert b"200,000 messages" in printed.stdout
        assert b"7 days" in printed.stdout
        assert stream(address, "AW") == before
        engine("limits", address, "--max-bytes", "1GB", "--age", "36h")
        both = stream(address, "AW"), stream(address, "KV_AWCARD")
        again = engine("init", address)
        assert b"# AW: unchanged; 1 replica, bytes kept 36 hours, at most 1.0 GB" in again.stdout
        assert b"# KV_AWCARD: unchanged" in again.stdout
        assert (stream(address, "AW"), stream(address, "KV_AWCARD")) == both
        changed = engine("init", address, "--max-bytes", "3GB")
        assert b"# AW: changed (max_bytes 1000000000 \xe2\x86\x92 3000000000)" in changed.stdout
        assert stream(address, "AW")["max_age"] == 36 * 3600
        store(address, f"aw.v1.c.ci.{1:032x}", b"x" * 200_000, times=1400)
        done = engine("limits", address, "--max-bytes", "270MB")
        assert done.returncode == 2
        assert b"the engine holds 280" in done.stderr
        assert engine("init", address, "--max-bytes", "270MB").returncode == 2
        assert stream(address, "AW")["messages"] == 1400


@pytest.mark.system
def test_the_printed_users_see_what_they_may(tmp_path: Path) -> None:
    """What is printed is a configuration; a server does not start with it until each password is filled in.

    A watcher sees how many sessions can be watched, a publisher nothing; limits need the administrator.
    """
    with nats_server(tmp_path) as server:
        printed = engine("init", server.address, "--publisher", "ci", "--watcher", "anna").stdout.decode()
    path, config = tmp_path / "users.conf", users_of(printed, admin="a", ci="c", anna="w")
    for text, is_valid in ((printed, False), (config, True)):
        path.write_text(text)
        checked = subprocess.run([program(), "-t", "-c", path], capture_output=True, text=True, check=False)
        assert (checked.returncode == 0) is is_valid, checked.stderr
        assert ("variable reference for 'PASSWORD_OF_ADMIN'" in checked.stderr) is not is_valid
    (tmp_path / "other").mkdir()
    with nats_server(tmp_path / "other", config) as server:
        assert engine("init", server.address, **login("admin", "a")).returncode == 0
        for number in range(3):
            store(server.address, f"$KV.AWCARD.ci.{number:032x}", b'{"v":1}', user="admin", password="a")
        for user, password, code, words in (
            ("admin", "a", 0, b"AW: "),
            ("anna", "w", 0, b"you can watch 3 sessions; only an administrator sees the streams\n"),
            ("ci", "c", 0, b"may neither watch sessions nor see the streams\n"),
            ("nobody", "w", 2, b""),
        ):
            with case(user):
                done = engine("check", server.address, **login(user, password))
                assert done.returncode == code
                assert words in done.stdout
        limits = engine("limits", server.address, **login("anna", "w"))
    assert (limits.returncode, limits.stderr.count(b"\n")) == (2, 1)
    assert b"this user may not do that; log in as the administrator" in limits.stderr


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
        until(lambda: engine("check", f"nats://127.0.0.1:{port}").returncode == 0)
        status = engine("check", f"nats://127.0.0.1:{port}")
        init = engine("init", f"nats://127.0.0.1:{port}")
    finally:
        end(process)
    assert b"warning: JetStream is off" in status.stdout
    assert (init.returncode, init.stdout) == (2, b"")
    assert b"JetStream is off" in init.stderr


def test_what_is_asked_for_wrongly_is_refused() -> None:
    """The reason is one line, which never has a password, and nothing is connected to.

    Wildcards, dots and quotes in names, which could widen permissions, never reach a configuration.
    """
    cases: list[tuple[list[str], str]] = [
        (["init", ADDRESS, "--publisher", "Ci"], "--publisher: a name has the characters a-z"),
        (["init", ADDRESS, "--publisher", "a.b"], "--publisher: a name has"),
        (["init", ADDRESS, "--publisher", "*"], "--publisher: a name has"),
        (["init", ADDRESS, "--watcher", 'x" }'], "--watcher: a name has"),
        (["init", ADDRESS, "--watcher", ">"], "--watcher: a name has"),
        (["init", ADDRESS, "--watcher", "ci", "--publisher", "ci"], "a user is named twice"),
        (["init", ADDRESS, "--watcher", "admin"], "a user is named twice"),
        (["init", ADDRESS, "--replicas", "2"], "--replicas"),
        (["init", ADDRESS], "nats://127.0.0.1:1: connection refused"),
        (["init", "team"], "team: neither an address nats://HOST nor the name of an engine"),
        (["init", "nats://admin:secret@host"], "an address must not contain a password"),
        (["init", "nats://127.0.0.1/ci.00"], "takes the address of an engine, without a session"),
        (["limits", ADDRESS, "--max-bytes", "1MB"], "a single session may have 268.4 MB"),
        (["limits", ADDRESS, "--max-bytes", "many"], "'many' is not a size; a size is 500MB, 50GB or 2GiB"),
        (["limits", ADDRESS, "--age", "30s"], "less than 1h"),
        (["limits", ADDRESS, "--age", "400d"], "more than 366d"),
        (["limits", ADDRESS, "--age", "long"], "'long' is not an age"),
    ]
    for arguments, reason in cases:
        with case(" ".join(arguments)):
            done = engine(*arguments)
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
            assert reason in done.stderr.decode()
            assert b"secret" not in done.stderr
