"""Settings about other machines take effect, and each mistake in them is reported in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentwatch.base.config import EngineSettings, Machines
from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.config_file import read_config, read_machines
from tests.conftest import ROOT, case

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


def test_an_engine_needs_no_section(tmp_path: Path) -> None:
    """Without the sections, nothing is listed beside this machine, and nothing is published. Sessions are
    published to an address that has no section of its own.
    """
    for environ in (written(tmp_path, "[screen]\nthinking = true"), {"AGENTWATCH_CONFIG": "/dev/null"}):
        assert read_machines(environ) == read_config(environ).machines == Machines()
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
    (
        "[machines]\npublish = 'team'",
        "[machines] publish: unknown engine team; known engines: nats://HOST",
    ),
    (
        "[machines]\npublish = 'nats://u:p@x'",
        "[machines] publish: an address must not contain a password",
    ),
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
    (
        "[engines.team]\naddress = 'http://x'",
        "[engines.team] address: the address of an engine is nats://",
    ),
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
    environ = written(tmp_path, f"{TEAM}[machines]\nlist = ['team']\n[screen]\ntheme = 'neon'")
    program = "import sys; from agentwatch.cli.config_file import read_machines as read"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; assert read().listed; print(*sys.modules)"],
        env={**environ, "PATH": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert {"textual", "rich", "nats", "asyncio"}.isdisjoint(done.stdout.split())
    environ = written(tmp_path, "[attention]\nbell = false\n")
    program = "import sys; from agentwatch.cli.config_file import read_config; read_config()"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; print(*sys.modules)"],
        env={**environ, "PATH": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert [name for name in done.stdout.split() if name.startswith("agentwatch.remote.engine")] == []
