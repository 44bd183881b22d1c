"""`engine limits` prints the limits of an engine, and changes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.engine.asking import engine, store, stream
from tests.conftest import case
from tests.harness.engine.server import nats_server
from tests.harness.program import ran


@pytest.mark.slow
def test_limits_are_changed(tmp_path: Path) -> None:
    """The size and the age become what is asked for; cards are kept at least as long as bytes."""
    with nats_server(tmp_path) as server:
        assert engine("init", server.address).returncode == 0
        done = engine("limits", server.address, "--max-bytes", "2GB", "--age", "40d")
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"2.0 GB" in done.stdout
        assert b"40 days" in done.stdout
        chunks, cards = stream(server.address, "AW"), stream(server.address, "KV_AWCARD")
        assert (chunks["max_bytes"], chunks["max_age"]) == (2 * 10**9, 40 * 86400)
        assert cards["max_age"] == 40 * 86400


@pytest.mark.system
def test_limits_are_only_printed_if_none_is_asked_for(tmp_path: Path) -> None:
    """Without an option, nothing changes."""
    with nats_server(tmp_path) as server:
        engine("init", server.address)
        before = stream(server.address, "AW")
        done = engine("limits", server.address)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"200,000 messages" in done.stdout
        assert b"7 days" in done.stdout
        assert stream(server.address, "AW") == before


@pytest.mark.system
def test_a_limit_that_would_delete_is_refused(tmp_path: Path) -> None:
    """A size below what is stored is refused, since nats-server would delete the oldest bytes at once."""
    with nats_server(tmp_path) as server:
        engine("init", server.address)
        store(server.address, f"aw.v1.c.ci.{1:032x}", b"x" * 200_000, times=1400)
        held = stream(server.address, "AW")["messages"]
        done = engine("limits", server.address, "--max-bytes", "270MB")
        assert done.returncode == 2
        assert b"the engine holds 280" in done.stderr
        assert stream(server.address, "AW")["messages"] == held == 1400
        assert engine("init", server.address, "--max-bytes", "270MB").returncode == 2
        assert stream(server.address, "AW")["messages"] == held


@pytest.mark.system
def test_more_than_the_server_may_store(tmp_path: Path) -> None:
    """The reason names the option, and the limit that exists stays."""
    with nats_server(tmp_path) as server:
        for command in ("init", "limits"):
            done = engine(command, server.address, "--max-bytes", "999TB")
            assert (done.returncode, done.stdout) == (2, b"")
            assert b"--max-bytes: more than the server or the account may store (" in done.stderr
            engine("init", server.address)
        assert stream(server.address, "AW")["max_bytes"] == -1


def test_a_silly_limit_is_refused() -> None:
    """The reason is one line, and nothing is connected to."""
    cases: list[tuple[list[str], str]] = [
        (["--max-bytes", "1MB"], "a single session may have 268.4 MB"),
        (["--max-bytes", "many"], "'many' is not a size; a size is 500MB, 50GB or 2GiB"),
        (["--age", "30s"], "less than 1h"),
        (["--age", "400d"], "more than 366d"),
        (["--age", "long"], "'long' is not an age"),
    ]
    for arguments, reason in cases:
        with case(" ".join(arguments)):
            done = ran("engine", "limits", "nats://127.0.0.1:1", *arguments)
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
            assert reason in done.stderr.decode()


@pytest.mark.system
def test_an_engine_without_streams(tmp_path: Path) -> None:
    """An engine that was not set up has no limits; the message says what to run."""
    with nats_server(tmp_path) as server:
        done = engine("limits", server.address)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"run agentwatch engine init first" in done.stderr
