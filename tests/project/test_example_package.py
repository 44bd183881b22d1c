"""The example of a plugin installs with pip, and its two plugins work."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import venv
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import ROOT, case

pytestmark = pytest.mark.system

EXAMPLE = ROOT / "examples" / "agentwatch-tern"
GOOSE = ROOT / "examples" / "agentwatch-goose"
TABLE = b"""number,tool,target,outcome,exit_code,duration_ms,redacted\r
1,run,pytest -q,failed,1,,yes\r
2,run,git status --short,succeeded,0,,yes\r
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment into which the examples are installed, as their READMEs say."""
    folder = tmp_path_factory.mktemp("installed")
    sources = [
        shutil.copytree(each, folder / each.name, ignore=shutil.ignore_patterns("__pycache__"))
        for each in (EXAMPLE, GOOSE)
    ]
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    site = next((folder / "venv" / "lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-index"]
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", *map(str, sources)], check=True, capture_output=True
    )
    return python


def run(python: Path, *arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run a module with the Python of the environment and with the agentwatch of this checkout."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environ
    return subprocess.run(
        [str(python), "-m", *arguments],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def test_the_plugins_work(python: Path, tmp_path: Path) -> None:
    """Their format is recognised, the exporter writes the calls, redacted, and sessions are listed.

    Goose keeps all sessions in a database, of which the plugin reads the rows.
    """
    done = run(python, "agentwatch", str(EXAMPLE / "tern.ndjson"), "--print", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (
        b"Ran terminal command pytest -q (failed: exit 1)\nRan terminal command git status --short\n"
    )
    done = run(python, "agentwatch", "export", str(EXAMPLE / "tern.ndjson"), "--to", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tern.csv").read_bytes() == TABLE
    folder = tmp_path / "tern" / "sessions"
    folder.mkdir(parents=True)
    shutil.copyfile(EXAMPLE / "tern.ndjson", folder / "0a1b2c3d.jsonl")
    path = tmp_path / "goose" / "data" / "sessions" / "sessions.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT)")
        connection.execute("INSERT INTO sessions VALUES ('20261121_1', 'List files', '/home/dev/proj')")
    environ = {name: str(tmp_path / name) for name in ("HOME", "AGENTWATCH_HOME")}
    for agent, variable, expected in (
        ("tern", "TERN_HOME", {"id": "0a1b2c3d", "calls": 2}),
        ("goose", "GOOSE_PATH_ROOT", {"id": "20261121_1", "title": "List files"}),
    ):
        with case(agent):
            words = ("sessions", "--all", "--agent", agent, "--json")
            environ[variable] = str(tmp_path / agent)
            done = run(python, "agentwatch", *words, cwd=tmp_path, **environ)
            assert done.returncode == 0, done.stderr
            [row] = map(json.loads, done.stdout.splitlines())
            assert row.items() >= (expected | {"agent": agent}).items()


def test_their_own_tests_pass(python: Path, tmp_path: Path) -> None:
    """The tests of the examples pass where these are installed."""
    for example, package in ((EXAMPLE, "agentwatch_tern"), (GOOSE, "agentwatch_goose")):
        with case(example.name):
            tests = shutil.copytree(example, tmp_path / example.name, ignore=shutil.ignore_patterns(package))
            options = ("-q", "-p", "no:cacheprovider")
            done = run(python, "pytest", *options, str(tests / "tests"), cwd=tmp_path)
            assert done.returncode == 0, done.stdout.decode()


def test_the_documentation_shows_it() -> None:
    """The page about plugins contains the modules of the example as they are."""
    page = (ROOT / "docs" / "plugins.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for name in ("agent.py", "program.py", "calls_csv.py"):
        assert (EXAMPLE / "agentwatch_tern" / name).read_text("utf-8") in blocks
