"""`engine init` makes the streams, and prints users that a server takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.engine.asking import engine, program, stream
from tests.conftest import case
from tests.harness.engine.server import nats_server
from tests.harness.program import ran

ADDRESS = "nats://127.0.0.1:1"


def users_of(text: str, **passwords: str) -> str:
    """Return a printed configuration with a password for each user."""
    for user, password in passwords.items():
        text = text.replace(f"$PASSWORD_OF_{user.upper()}", f'"{password}"')
    assert "$PASSWORD" not in text
    return text


@pytest.mark.slow
def test_the_streams_are_made(tmp_path: Path) -> None:
    """The stream and the bucket have the limits of the protocol, and nobody can delete single messages."""
    with nats_server(tmp_path) as server:
        done = engine("init", server.address, "--max-bytes", "2GB")
        assert done.returncode == 0
        assert b"# AW: made; 1 replica, bytes kept 7 days, at most 2.0 GB" in done.stdout
        chunks, cards = stream(server.address, "AW"), stream(server.address, "KV_AWCARD")
    assert (chunks["max_bytes"], chunks["max_age"], chunks["max_msg_size"]) == (2 * 10**9, 604_800, 300_000)
    assert (chunks["max_msgs_per_subject"], chunks["discard"]) == (200_000, "new")
    assert (cards["max_age"], cards["max_msg_size"], cards["max_msgs_per_subject"]) == (2_592_000, 4096, 1)
    assert chunks["deny_delete"]
    assert chunks["deny_purge"]
    assert cards["deny_delete"]


@pytest.mark.system
def test_it_can_be_run_again(tmp_path: Path) -> None:
    """A second run changes nothing, and keeps limits that were changed; an option changes only its limit."""
    with nats_server(tmp_path) as server:
        engine("init", server.address)
        engine("limits", server.address, "--max-bytes", "1GB", "--age", "36h")
        before = stream(server.address, "AW"), stream(server.address, "KV_AWCARD")
        again = engine("init", server.address)
        assert b"# AW: unchanged; 1 replica, bytes kept 36 hours, at most 1.0 GB" in again.stdout
        assert b"# KV_AWCARD: unchanged" in again.stdout
        assert (stream(server.address, "AW"), stream(server.address, "KV_AWCARD")) == before
        larger = engine("init", server.address, "--max-bytes", "3GB")
        assert b"# AW: changed (max_bytes 1000000000 \xe2\x86\x92 3000000000)" in larger.stdout
        assert stream(server.address, "AW")["max_age"] == 36 * 3600


@pytest.mark.system
def test_the_printed_users_log_in(tmp_path: Path) -> None:
    """What is printed is a configuration, with a password for each user; none is set without it."""
    with nats_server(tmp_path) as server:
        printed = engine("init", server.address, "--publisher", "ci", "--watcher", "anna").stdout.decode()
    config = users_of(printed, admin="a", ci="c", anna="w")
    (tmp_path / "other").mkdir()
    with nats_server(tmp_path / "other", config) as server:
        for user, code in (("admin", 0), ("anna", 0), ("nobody", 2)):
            login = {"AGENTWATCH_NATS_USER": user, "AGENTWATCH_NATS_PASSWORD": {"admin": "a"}.get(user, "w")}
            assert engine("status", server.address, **login).returncode == code, user


@pytest.mark.system
def test_a_configuration_without_passwords_is_refused(tmp_path: Path) -> None:
    """A server does not start with what is printed until each password is filled in."""
    with nats_server(tmp_path) as server:
        printed = engine("init", server.address).stdout.decode()
    path = tmp_path / "users.conf"
    path.write_text(printed)
    checked = subprocess.run([program(), "-t", "-c", path], capture_output=True, text=True, check=False)
    assert checked.returncode != 0
    assert "variable reference for 'PASSWORD_OF_ADMIN'" in checked.stderr
    path.write_text(users_of(printed, admin="a", ci="c", watcher="w"))
    checked = subprocess.run([program(), "-t", "-c", path], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.system
def test_what_is_unfit_is_reported(tmp_path: Path) -> None:
    """Three replicas on a single server, and a server without JetStream, are refused with the reason."""
    with nats_server(tmp_path) as server:
        done = engine("init", server.address, "--replicas", "3")
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"3 need a cluster of three" in done.stderr


def test_a_name_that_could_widen_permissions_is_refused() -> None:
    """Wildcards, dots and quotes in names never reach a configuration; nothing is connected to."""
    cases: list[tuple[list[str], str]] = [
        (["--publisher", "Ci"], "--publisher: a name has the characters a-z"),
        (["--publisher", "a.b"], "--publisher: a name has"),
        (["--publisher", "*"], "--publisher: a name has"),
        (["--watcher", 'x" }'], "--watcher: a name has"),
        (["--watcher", ">"], "--watcher: a name has"),
        (["--watcher", "ci", "--publisher", "ci"], "a user is named twice"),
        (["--watcher", "admin"], "a user is named twice"),
        (["--replicas", "2"], "--replicas"),
    ]
    for arguments, reason in cases:
        with case(" ".join(arguments)):
            done = ran("engine", "init", ADDRESS, *arguments)
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
            assert reason in done.stderr.decode()


def test_an_engine_that_cannot_be_used() -> None:
    """The reason is one line, which names what was asked for, and never a password."""
    cases: list[tuple[str, str]] = [
        ("nats://127.0.0.1:1", "nats://127.0.0.1:1: connection refused"),
        ("team", "team: neither an address nats://HOST nor the name of an engine"),
        ("nats://admin:secret@host", "an address must not contain a password"),
        ("nats://127.0.0.1/ci.00", "takes the address of an engine, without a session"),
    ]
    for address, reason in cases:
        with case(address):
            done = engine("init", address)
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
            assert reason in done.stderr.decode()
            assert b"secret" not in done.stderr
