"""Credentials reach neither arguments, nor the agent, nor anything that is written."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.engine.asking import last_card
from tests.conftest import RECORDINGS
from tests.harness.engine.server import Server
from tests.harness.engine.shippers import shippers_below
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, environment
from tests.remote.engine.security.team import PASSWORDS, login, team_server

pytestmark = pytest.mark.system

SECRET = PASSWORDS["ci"]
AGENT = f"""
env > environment
read _ < go
cat '{RECORDINGS}/plain.ndjson'
"""
"""Writes down its environment, and waits, so that all processes are there at once."""
FAULTY = """
import sys
from agentwatch.cli import app
from agentwatch.remote.nats import connection

def fail(self, login, inbox):
    password = login.credentials.password
    raise RuntimeError("fault in a test")

connection.Connection.__init__ = fail
sys.argv[0] = "agentwatch"
sys.exit(app.main())
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with team_server(tmp_path_factory.mktemp("team")) as server:
        yield server


def arguments_of_all() -> str:
    """Return the arguments of every process, as any user of the machine can read them."""
    return subprocess.run(["ps", "-Awwo", "args"], capture_output=True, text=True, check=True).stdout


def written(folder: Path) -> dict[Path, bytes]:
    """Return the content of every file below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("way", ["environment", "file"])
def test_publishing(server: Server, tmp_path: Path, way: str) -> None:
    """Neither the arguments of a process, nor the agent's environment, output or files have the password."""
    home = tmp_path / "home"
    file = tmp_path / "credentials.txt"
    file.write_text(f"user: ci\npassword: {SECRET}\n")
    file.chmod(0o600)
    work = tmp_path / "work"
    work.mkdir()
    os.mkfifo(work / "go")
    options, env = ["--credentials", str(file)], {}
    if way == "environment":
        options, env = [], login("ci")
    env |= {"AGENTWATCH_HOME": str(home), "AGENTWATCH_CONFIG": "/dev/null"}
    command = [*AGENTWATCH, "run", "--print", "--publish", server.address, "--publish-wait", "20", *options]
    with subprocess.Popen(
        [*command, "--", "sh", "-c", AGENT],
        cwd=work,
        env=environment(**env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        until(lambda: shippers_below(home))
        until((work / "environment").exists)
        seen = arguments_of_all()
        (work / "go").write_text("\n")
        output, errors = run.communicate(timeout=60)
    assert run.returncode == 0, errors
    assert "agentwatch.remote.publish.process" in seen
    assert SECRET not in seen
    assert "AGENTWATCH_NATS" not in (work / "environment").read_text()
    assert SECRET.encode() not in output + errors
    found = written(home) | written(work)
    assert {path.suffix for path in found} >= {".ndjson", ".times", ".log", ".json", ".ship"}
    assert [path for path, data in found.items() if SECRET.encode() in data] == []
    assert SECRET not in repr(last_card(server.address, **credentials("admin")))


def credentials(user: str) -> dict[str, str]:
    """Return the login of a user for the client of the tests."""
    return {"user": user, "password": PASSWORDS[user]}


def test_watching(server: Server, tmp_path: Path) -> None:
    """Neither the output nor the files of a watcher have the password."""
    env = {"AGENTWATCH_HOME": str(tmp_path / "publisher"), "AGENTWATCH_CONFIG": "/dev/null"}
    command = [*AGENTWATCH, "run", "--print", "--publish", server.address, "--publish-wait", "20", "--"]
    subprocess.run(
        [*command, "cat", RECORDINGS / "plain.ndjson"],
        env=environment(**env, **login("ci")),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=60,
    )
    session, _ = last_card(server.address, **credentials("admin"))
    home = tmp_path / "home"
    for arguments in (["sessions", "--all", "--json", server.address], [f"{server.address}/{session}"]):
        done = subprocess.run(
            [*AGENTWATCH, *arguments],
            env=environment(**env | {"AGENTWATCH_HOME": str(home)}, **login("anna")),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
        assert b"secret" not in done.stdout + done.stderr
    found = written(home)
    assert {path.suffix for path in found} >= {".ndjson", ".times", ".origin"}
    assert [path for path, data in found.items() if b"secret" in data] == []


def test_an_internal_error(server: Server, tmp_path: Path) -> None:
    """The traceback of an internal error has no values of variables, which have the password."""
    done = subprocess.run(
        [sys.executable, "-c", FAULTY, "engine", "check", server.address],
        env=environment(AGENTWATCH_HOME=str(tmp_path), AGENTWATCH_CONFIG="/dev/null", **login("ci")),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (70, 1)
    [crash] = written(tmp_path).values()
    assert b"fault in a test" in crash
    assert b"secret" not in crash + done.stderr
