"""Machines on the command line and in the settings: which words name them, and what is refused."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentwatch.base.config import EngineSettings, Machines
from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.address import check_sources, is_source, machine_list
from agentwatch.cli.config_file import read_config, read_machines
from tests.conftest import ROOT, case
from tests.harness.program import ran


def test_machines_are_known_by_their_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dot is this machine, an address without a session an engine or a host."""
    cases: list[str] = [".", "nats://team", "nats://ci@team:4333", "nats://team/", "ssh://build1"]
    for words in cases:
        with case(words):
            assert is_source(words)
    # A file, a session and the name of an engine are not machines.
    others = ["", "..", "team", "a.ndjson", "nats://team/ci.1", "ssh://h/s", "http://x"]
    for words in others:
        with case(words):
            assert not is_source(words)
            with pytest.raises(Fault, match="a list has machines only"):
                check_sources([".", words])
    # A file with the literal name of an engine wins.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nats:").mkdir()
    (tmp_path / "nats:" / "team").touch()
    assert not is_source("nats://team")


def test_what_is_named_twice_is_listed_once(tmp_path: Path) -> None:
    """An engine by its name and by its address is one source; the settings give it its login."""
    machines = Machines(engines={"team": EngineSettings("nats://ci@team")})
    listed = machine_list(["team", "nats://ci@team:4222", "nats://team/", "."], machines, {}, tmp_path)
    assert [each._name for each in listed.elsewhere.values()] == ["team", "nats://team"]  # type: ignore[attr-defined]
    assert listed.here is not None
    assert machine_list(["team"], machines, {}, tmp_path).here is None


def test_without_the_extra_the_way_to_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says how to install the client; this machine is listed all the same."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(Fault, match="pip install 'nats-py>=") as found:
        machine_list(["nats://team"], Machines(), {}, tmp_path)
    assert found.value.exit_code == USAGE
    listed = machine_list([".", "nats://team"], Machines(), {}, tmp_path)
    listed.settle(5)
    listed.close()
    (note,) = listed.notes
    assert note.startswith("nats://team: engines need a package that is not installed: ")
    assert note.endswith("pip install 'nats-py>=2.16,<2.17'")


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


TEAM = "[engines.team]\naddress = 'nats://team'\n"


def written(tmp_path: Path, text: str) -> dict[str, str]:
    """Return the environment with settings."""
    path = tmp_path / "config.toml"
    path.write_text(text)
    return {"AGENTWATCH_CONFIG": str(path)}


def fault(tmp_path: Path, text: str) -> str:
    """Return the error message for a faulty file, without the file's name."""
    environ = written(tmp_path, text)
    messages = []
    for read in (read_config, read_machines):
        with pytest.raises(Fault) as found:
            read(environ)
        assert found.value.exit_code == USAGE
        messages.append(str(found.value))
    assert messages[0] == messages[1]
    assert messages[0].isprintable()
    assert messages[0].startswith(f"{tmp_path}/config.toml: ")
    return messages[0].removeprefix(f"{tmp_path}/config.toml: ")


def test_every_setting_has_its_effect(tmp_path: Path) -> None:
    """Each setting is read, for a screen and for a command that draws none."""
    environ = written(
        tmp_path,
        """
        [machines]
        list = [".", "team", "nats://eu:4333", "ssh://build1"]
        publish = "team"
        [engines.team]
        address = "nats://ci@nats.example.org"
        credentials = "~/team.creds"
        ca = "ca.pem"
        publisher = "ci-7"
        plaintext = true
        [engines.lab]
        address = "nats://lab"
        """,
    )
    team = EngineSettings(
        "nats://ci@nats.example.org",
        Path(os.path.expanduser("~")) / "team.creds",
        tmp_path / "ca.pem",
        "ci-7",
        True,
    )
    machines = Machines(
        (".", "team", "nats://eu:4333", "ssh://build1"),
        "team",
        {"team": team, "lab": EngineSettings("nats://lab")},
    )
    assert read_machines(environ) == machines
    assert read_config(environ).machines == machines
    # Without the sections, nothing is listed or published; an address needs no section of its own.
    for without in (written(tmp_path, "[screen]\nthinking = true"), {"AGENTWATCH_CONFIG": "/dev/null"}):
        assert read_machines(without) == read_config(without).machines == Machines()
    assert read_machines(written(tmp_path, "[machines]\npublish = 'nats://x'")).publish == "nats://x"


MISTAKES: list[tuple[str, str]] = [
    ("[machines]\nlst = []", "[machines] unknown setting lst; known settings: list, publish"),
    ("[machines]\nlist = '.'", "[machines] list: expected a list of strings in quotes, got '.'"),
    ("[machines]\nlist = ['.', 7]", "[machines] list: expected strings in quotes, got 7"),
    ("[machines]\nlist = [['.']]", "[machines] list: expected strings in quotes, got ['.']"),
    (
        f"{TEAM}[machines]\nlist = ['.', 'teem']",
        "[machines] list: unknown machine teem; known: ., team, nats://HOST, ssh://HOST",
    ),
    ("[machines]\nlist = ['nats://']", "[machines] list: the address of an engine is nats://HOST or"),
    ("[machines]\nlist = ['nats://x/ci.1']", "[machines] list: nats://x/ci.1 is a session; an engine is"),
    ("[machines]\npublish = 'team'", "[machines] publish: unknown engine team; known engines: nats://HOST"),
    ("[machines]\npublish = 'nats://u:p@x'", "[machines] publish: an address must not contain a password"),
    ("[machines]\npublish = true", "[machines] publish: expected a string in quotes, got True"),
    ("machines = 1", "machines must be a table: [machines]"),
    ("engines = 'x'", "engines must be a table: [engines]"),
    ("[engines]\nteam = 'nats://x'", "engines.team must be a table: [engines.team]"),
    ("[engines.team]", '[engines.team] address is missing: address = "nats://HOST"'),
    (
        "[engines.team]\nadress = 'nats://x'",
        "[engines.team] unknown setting adress; known settings: address, credentials, ca, publisher, pl",
    ),
    ("[engines.team]\naddress = 7", "[engines.team] address: expected a string in quotes, got 7"),
    ("[engines.team]\naddress = 'http://x'", "[engines.team] address: the address of an engine is nats://"),
    (f"{TEAM}plaintext = 'no'", "[engines.team] plaintext: expected true or false, got 'no'"),
    (f"{TEAM}publisher = 'Ci.7'", "[engines.team] publisher: Ci.7 has other characters than a-z, 0-9"),
    ("[engines.'a b']\naddress = 'nats://x'", "[engines] a b: a name has letters, digits, - and _ only"),
    ('[engines."\\u001b]0;x"]', "[engines] ␛]0;x: a name has"),
]


def test_a_mistake_is_reported_in_one_line(tmp_path: Path) -> None:
    """A message names the section, the setting, and what is expected or known, in one line."""
    for text, message in MISTAKES:
        with case(message):
            assert fault(tmp_path, text).startswith(message)


@pytest.mark.slow
def test_settings_load_nothing_that_they_do_not_name(tmp_path: Path) -> None:
    """They are read without Textual although the file names a theme and keys, and without a client. Nothing
    about engines is imported unless the settings are about other machines.
    """
    named = f"{TEAM}[machines]\nlist = ['team']\n[screen]\ntheme = 'neon'"
    imported = modules(written(tmp_path, named), "read_machines as read; assert read().listed")
    assert {"textual", "rich", "nats", "asyncio"}.isdisjoint(imported)
    imported = modules(written(tmp_path, "[attention]\nbell = false\n"), "read_config; read_config()")
    assert [name for name in imported if name.startswith("agentwatch.remote.engine")] == []


def modules(environ: dict[str, str], program: str) -> list[str]:
    """Return the modules of a program that imports a reader of settings."""
    imports = "import sys; from agentwatch.cli.config_file import"
    done = subprocess.run(
        [sys.executable, "-c", f"{imports} {program}; print(*sys.modules)"],
        env={**environ, "PATH": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    return done.stdout.split()
