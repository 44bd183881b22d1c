"""Machines on the command line: which words name them, and what is refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from agentwatch.base.config import EngineSettings, Machines
from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.address import is_source
from agentwatch.cli.machines import check_sources, several
from tests.conftest import case
from tests.harness.program import ran


def test_machines_are_known_by_their_words() -> None:
    """A dot is this machine, an address without a session an engine or a host."""
    cases: list[str] = [".", "nats://team", "nats://ci@team:4333", "nats://team/", "ssh://build1"]
    for words in cases:
        with case(words):
            assert is_source(words)


def test_other_words_are_no_machines() -> None:
    """A file, a session and the name of an engine are no machines."""
    cases: list[str] = ["", "..", "team", "a.ndjson", "nats://team/ci.1", "ssh://h/s", "http://x"]
    for words in cases:
        with case(words):
            assert not is_source(words)
            with pytest.raises(Fault, match="a list has machines only"):
                check_sources([".", words])


def test_a_file_with_the_name_of_an_engine_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with the literal name wins."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nats:").mkdir()
    (tmp_path / "nats:" / "team").touch()
    assert not is_source("nats://team")


def test_what_is_named_twice_is_listed_once(tmp_path: Path) -> None:
    """An engine by its name and by its address is one source; the settings give it its login."""
    machines = Machines(engines={"team": EngineSettings("nats://ci@team")})
    listed = several(["team", "nats://ci@team:4222", "nats://team/", "."], machines, {}, tmp_path)
    assert [each._name for each in listed.elsewhere.values()] == ["team", "nats://team"]  # type: ignore[attr-defined]
    assert listed.here is not None
    assert several(["team"], machines, {}, tmp_path).here is None


def test_without_the_extra_the_way_to_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says how to install the client."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(Fault, match="pip install 'nats-py>=") as found:
        several(["nats://team"], Machines(), {}, tmp_path)
    assert found.value.exit_code == USAGE


def test_without_the_extra_this_machine_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list with this machine works, and has the line that says how to install the client."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    listed = several([".", "nats://team"], Machines(), {}, tmp_path)
    listed.settle(5)
    listed.close()
    (note,) = listed.notes
    assert note.startswith("nats://team: engines need a package that is not installed: pip install")


def test_what_cannot_be_listed_is_a_usage_error() -> None:
    """One line on stderr says why, and the exit code is 2."""
    cases: list[tuple[list[str], str]] = [
        ([".", "a.ndjson"], "a.ndjson: a list has machines only: ., nats://HOST or ssh://HOST"),
        (["a.ndjson", "b.ndjson"], "a.ndjson: a list has machines only"),
        ([".", "nats://team/ci.0123456"], "nats://team/ci.0123456: a list has machines only"),
        (["nats://team", "--print"], "to print a list, run: agentwatch sessions nats://team"),
        (["nats://team"], "to print a list, run: agentwatch sessions nats://team"),
        (["sessions", "team"], "team: a list has machines only"),
        (["sessions", "nats://u:secret@team"], "an address must not contain a password"),
        (["sessions", "--prune", "nats://team"], "--prune is about this machine; it excludes MACHINE"),
        (["sessions", "--index", "."], "--index is about this machine; it excludes MACHINE"),
    ]
    for words, message in cases:
        with case(" ".join(words)):
            done = ran(*words)
            assert done.returncode == USAGE
            assert done.stderr.startswith(f"agentwatch: {message}".encode())
            assert done.stderr.count(b"\n") == 1
            assert b"secret" not in done.stderr
