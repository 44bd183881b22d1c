"""Machines on the command line: which words name them, and what is refused."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentwatch.cli.machines.sources import check_sources, is_source, several
from agentwatch.config import EngineSettings, Machines
from agentwatch.faults import USAGE, Fault
from tests.conftest import ROOT


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    """Run agentwatch without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "agentwatch", *words],
        cwd=ROOT,
        env=os.environ | {"AGENTWATCH_CONFIG": "/dev/null"},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("words", [".", "nats://team", "nats://ci@team:4333", "nats://team/", "ssh://build1"])
def test_machines_are_known_by_their_words(words: str) -> None:
    """A dot is this machine, an address without a session an engine or a host."""
    assert is_source(words)


@pytest.mark.parametrize("words", ["", "..", "team", "a.ndjson", "nats://team/ci.1", "ssh://h/s", "http://x"])
def test_other_words_are_no_machines(words: str) -> None:
    """A file, a session and the name of an engine are no machines."""
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
    assert [each._name for each in listed.elsewhere] == ["team", "nats://team"]  # type: ignore[attr-defined]
    assert listed.here is not None
    assert several(["team"], machines, {}, tmp_path).here is None


def test_without_the_extra_the_way_to_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says how to install the client."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(Fault, match=r"pip install 'agentwatch-tui\[nats\]'") as found:
        several(["nats://team"], Machines(), {}, tmp_path)
    assert found.value.exit_code == USAGE


def test_without_the_extra_this_machine_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list with this machine works, and has the line that says how to install the client."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    listed = several([".", "nats://team"], Machines(), {}, tmp_path)
    listed.settle(5)
    listed.close()
    (note,) = listed.notes
    assert note.startswith("nats://team: engines need an extra that is not installed: pip install")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([".", "a.ndjson"], "a.ndjson: a list has machines only: ., nats://HOST or ssh://HOST"),
        (["a.ndjson", "b.ndjson"], "a.ndjson: a list has machines only"),
        ([".", "nats://team/ci.0123456"], "nats://team/ci.0123456: a list has machines only"),
        (["nats://team", "--print"], "to print a list, run: agentwatch sessions nats://team"),
        (["nats://team"], "to print a list, run: agentwatch sessions nats://team"),
        (["sessions", "team"], "team: a list has machines only"),
        (["sessions", "nats://u:secret@team"], "an address must not contain a password"),
        (["sessions", "--prune", "nats://team"], "--prune is about this machine; it excludes MACHINE"),
        (["sessions", "--index", "."], "--index is about this machine; it excludes MACHINE"),
    ],
)
def test_what_cannot_be_listed_is_a_usage_error(words: list[str], message: str) -> None:
    """One line on stderr says why, and the exit code is 2."""
    done = ran(*words)
    assert done.returncode == USAGE
    assert done.stderr.startswith(f"agentwatch: {message}")
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr
