"""`doctor` prints what a bug report needs, and nothing that is private."""

import json
import platform
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from agentwatch import __version__
from agentwatch.base.extras import EXTRAS, install_command
from agentwatch.cli.doctor import PACKAGES, facts, machines
from tests.builders.formats.plugin import install
from tests.conftest import RECORDINGS, ROOT, case
from tests.harness.program import ran, watch
from tests.project.test_imports import distribution

SECTIONS = ["versions", "terminal", "folders", "agents", "acting", "plugins", "other machines", "environment"]
SECRET = "ghp_" + "a1B2c3D4e5" * 4


def test_it_prints_each_section_and_dependency(monkeypatch: pytest.MonkeyPatch) -> None:
    """The versions, the terminal, the folders, the agents, the plugins and the variables are printed. With
    `--json` the same facts are one object. The packages are those that the project depends on, and those of
    the extras that the program uses.
    """
    done = ran("doctor", LANG="de_DE.UTF-8", COLORTERM="truecolor")
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == SECTIONS
    words = [line.split() for line in lines]
    assert ["agentwatch", __version__] in words
    assert ["python", platform.python_implementation(), platform.python_version()] in words
    assert ["TERM", "xterm-256color"] in words
    assert ["colours", "16", "million"] in words
    done = ran("doctor", "--json")
    found = json.loads(done.stdout)
    assert ([*found], done.stdout.count(b"\n")) == (["version", *SECTIONS], 1)
    assert found["versions"]["textual"][0].isdigit()
    assert found["terminal"]["stdout is a terminal"] is False
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(PACKAGES) == {distribution(each) for each in project["dependencies"]}
    extras = project["optional-dependencies"]
    assert {name: [each] for name, each in EXTRAS.items()} == {name: extras[name] for name in EXTRAS}
    assert set(extras) - {*EXTRAS} == {"docs", "dev"}
    assert set(found["versions"]) >= {distribution(each) for each in EXTRAS.values()}
    # Of a variable that turns something on or off, the value is shown; of others, that they are set. Whatever
    # is wrong on a machine, its report has all that can be found out
    found = facts({"AGENTWATCH_PLUGINS": "0", "AGENTWATCH_CONFIG": "/x", "TERM": "dumb"})
    assert found["environment"] == {"AGENTWATCH_CONFIG": "set", "AGENTWATCH_PLUGINS": "0"}
    assert found["terminal"]["colours"] == "none"

    def fail(*_: object) -> dict[str, object]:
        raise ZeroDivisionError

    for name in ("_versions", "_terminal", "_folders", "_agents", "_acting", "_plugins", "_environment"):
        monkeypatch.setattr(f"agentwatch.cli.doctor.{name}", fail)
    found = facts()
    assert list(found) == SECTIONS
    del found["other machines"]
    assert all(section == {"unknown": "it is damaged (zerodivisionerror)"} for section in found.values())


def test_nothing_private_is_printed(tmp_path: Path) -> None:
    """Secrets in variables, the home folder and the name of the user do not occur."""
    home = tmp_path / "zebulon"
    home.mkdir()
    private = {
        "HOME": str(home),
        "USER": "zebulon",
        "AGENTWATCH_HOME": str(home / SECRET),
        "AGENTWATCH_CONFIG": f"/srv/{SECRET}",
        "AGENTWATCH_PLUGINS": SECRET,
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization={SECRET}",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://zebulon:{SECRET}@host",
        **dict.fromkeys(("TERM", "COLORTERM", "TERM_PROGRAM", "LANG", "LC_ALL", "TMUX", "SSH_TTY"), SECRET),
        "GITHUB_TOKEN": SECRET,
    }
    for words in ([], ["--json"]):
        done = ran("doctor", *words, cwd=home, **private)  # type: ignore[arg-type]
        assert done.returncode == 0
        for word in (SECRET, "zebulon", str(tmp_path)):
            assert word.encode() not in done.stdout + done.stderr
        assert b"OTEL_EXPORTER_OTLP_HEADERS" in done.stdout


def test_places_sessions_and_hooks_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """Each agent has the number of its sessions; Codex, Gemini and Cursor also the state of their hooks."""
    ran("-p", "--record", tmp_path / "kept.ndjson", stdin=(RECORDINGS / "plain.ndjson").read_bytes())
    (home / "sessions").mkdir(parents=True)
    stem = home / "sessions" / "20260101-000000-abcdef"
    stem.with_suffix(".ndjson").write_bytes((RECORDINGS / "plain.ndjson").read_bytes())
    found = facts()
    assert found["agents"]["cursor"] == "1 session, hooks not installed"
    assert found["agents"]["codex"] == "0 sessions, hooks not installed"
    assert str(found["folders"]["recordings"]).startswith("1 recording, ")
    # A default place is shown as `~/…`, with its permissions and size; one elsewhere is not shown
    monkeypatch.delenv("AGENTWATCH_HOME")
    monkeypatch.delenv("AGENTWATCH_CONFIG")
    config = tmp_path / "user" / ".config" / "agentwatch" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[keys]\n")
    config.chmod(0o640)
    folders = facts()["folders"]
    assert folders["settings"] == "~/.config/agentwatch/config.toml: 0640, 7 B"
    assert folders["state"] == "~/.local/state/agentwatch: does not exist"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))
    assert facts()["folders"]["settings"] == "outside the home folder: does not exist"


@pytest.mark.slow
def test_plugins_are_named_and_not_imported(tmp_path: Path) -> None:
    """The names of the plugins are read from the metadata; a broken one changes nothing."""
    path = f"{ROOT}:{install(tmp_path, '1 / 0')}"
    done = watch("doctor", "--json", PYTHONPATH=path)
    assert json.loads(done.stdout)["plugins"]["agentwatch.agents"] == "tern"
    assert done.stderr == b""


SETTINGS = """
[machines]
list = [".", "zebulon", "ssh://zebulon-host"]
publish = "zebulon"
[engines.zebulon]
address = "nats://zebulon@zebulon.example"
credentials = "zebulon.txt"
ca = "gone.pem"
[engines.near]
address = "nats://127.0.0.1:4333"
[engines.far]
address = "nats://far.example"
plaintext = true
"""


def test_it_numbers_engines_and_counts_copies(tmp_path: Path) -> None:
    """Each engine of the settings has a line on its safety and files, without names of engines and hosts.
    Invalid settings are one word; the rest is reported. The recordings of other machines that are kept
    here are counted, with their size.
    """
    (tmp_path / "config.toml").write_text(SETTINGS)
    (tmp_path / "zebulon.txt").touch(0o640)
    (tmp_path / "zebulon.txt").chmod(0o640)
    found = machines(
        {"AGENTWATCH_CONFIG": str(tmp_path / "config.toml"), "AGENTWATCH_HOME": str(tmp_path), "PATH": ""}
        | {"AGENTWATCH_NATS_PASSWORD": "hunter2", "AGENTWATCH_NATS_USER": "zebulon"}
    )
    assert found == {
        "ssh": "not found",
        "credentials": "USER, PASSWORD",
        "copies": "0 recordings, 0 B",
        "settings": "3 machines listed, every run is published",
        "engine 1": "TLS, credentials 0640, authority no such file or directory",
        "engine 2": "this machine",
        "engine 3": "plain text allowed",
    }
    assert "zebulon" not in repr(found)
    assert "hunter2" not in repr(found)
    (tmp_path / "config.toml").write_text("[machines]\nlist = 3\n")
    found = machines({"AGENTWATCH_CONFIG": str(tmp_path / "config.toml"), "AGENTWATCH_HOME": str(tmp_path)})
    assert found["settings"] == "invalid"
    assert found["copies"] == "0 recordings, 0 B"
    (tmp_path / "copies").mkdir()
    for name, size in (("a.ndjson", 1000), ("b.ndjson", 500), ("b.times", 99)):
        (tmp_path / "copies" / name).write_bytes(b"x" * size)
    found = machines({"AGENTWATCH_CONFIG": "/dev/null", "AGENTWATCH_HOME": str(tmp_path)})
    assert found["copies"] == "2 recordings, 1.5 kB"
    assert found["settings"] == "only this machine, runs are not published"


def test_a_missing_package_is_installed_as_the_program_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The command is that of uv, pipx or pip, whichever installed the program; uv keeps what it was given.

    uv installs the tool from where it came: it would take a bare name for a package of the index.
    """
    package, tool = "nats-py>=2.16,<2.17", tmp_path / "tools" / "agentwatch-tui"
    with_nats = "uv tool install --with 'nats-py>=2.16,<2.17'"
    own = '{ name = "agentwatch-tui"'
    receipts = {
        f"{own} }}": f"{with_nats} agentwatch-tui",
        f'{own}, extras = ["otlp"], specifier = "==1.0" }}': f"{with_nats} 'agentwatch-tui[otlp]==1.0'",
        f'{own}, directory = "/a b" }}': f"{with_nats} '/a b'",
        f'{own}, extras = ["a", "b"], editable = "/src" }}': f"{with_nats} '/src[a,b]'",
        f'{own}, url = "https://x/a.whl" }}': f"{with_nats} 'agentwatch-tui @ https://x/a.whl'",
        f'{own}, git = "https://x/a?rev=main" }}': f"{with_nats} 'agentwatch-tui @ git+https://x/a@main'",
        f'{{ name = "nkeys" }}, {{ name = "nats-py" }}, {own} }}': (
            "uv tool install --with nkeys --with 'nats-py>=2.16,<2.17' agentwatch-tui"
        ),
        "1, { name = 2 }": f"{with_nats} agentwatch-tui",
        '], x = ["': f"{with_nats} agentwatch-tui",
    }
    tool.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tool))
    for receipt, command in receipts.items():
        with case(receipt):
            (tool / "uv-receipt.toml").write_text(f"[tool]\nrequirements = [{receipt}]\n")
            assert install_command(package) == command
    (tool / "uv-receipt.toml").write_bytes(b"\xff")
    (tool / "pipx_metadata.json").write_text("{}")
    assert install_command("nkeys") == "pipx inject agentwatch-tui nkeys"
    (tool / "pipx_metadata.json").unlink()
    # The pip of another environment would install it there
    pip = tool / "bin" / "pip"
    pip.parent.mkdir()
    pip.touch(0o700)
    for path, command in (("/nowhere", f"{shlex.quote(sys.executable)} -m pip"), (str(pip.parent), "pip")):
        with case(path):
            monkeypatch.setenv("PATH", path)
            assert install_command(package) == f"{command} install 'nats-py>=2.16,<2.17'"
