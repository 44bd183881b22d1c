"""The commands and configurations of the pages about other machines work, against a server of the test."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # it comes with what builds the documentation

from tests.cli.engine.asking import last_card, program
from tests.conftest import ROOT, case
from tests.harness.engine.server import nats_server
from tests.harness.engine.shippers import no_shipper_is_left
from tests.project.documents.user import run

pytestmark = pytest.mark.system

__all__ = ["no_shipper_is_left"]

MACHINES = (ROOT / "docs" / "machines.md").read_text()
CI = (ROOT / "docs" / "tutorials" / "ci.md").read_text()
HOST = "nats://nats.example.org"
LOCAL = "nats://127.0.0.1:4333"


def blocks(text: str, kind: str) -> list[str]:
    """Return the blocks of code of a kind, without their indentation in a list."""
    found = re.findall(rf"^ *```{kind}\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return [
        re.sub(r"^ {3}", "", block, flags=re.MULTILINE) if block[:3] == "   " else block for block in found
    ]


def test_the_first_steps(tmp_path: Path) -> None:
    """The commands set up a server that runs, publish a session to it, and list it."""
    install, start, *commands, watch = blocks(MACHINES, "bash")[0].splitlines()
    assert install.startswith("uv tool install '.[nats]'")
    assert start.startswith("nats-server -a 127.0.0.1 -p 4333 -js ")
    assert watch == f"agentwatch {LOCAL}"
    with nats_server(tmp_path) as server:
        for command in commands:
            done = run(command.replace(LOCAL, server.address), tmp_path)
            assert done.returncode == 0, (command, done.stderr)
        _, card = last_card(server.address)
    assert (card["agent"], card["outcome"], card["exit"]) == ("cursor", "succeeded", 0)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_configuration_for_a_team_is_valid(tmp_path: Path) -> None:
    """The server takes the configuration with the certificate of the page and the users of `init`."""
    with nats_server(tmp_path) as server:
        printed = run(f"agentwatch engine init {server.address}", tmp_path).stdout
    [make] = [block for block in blocks(MACHINES, "bash") if block.startswith("openssl")]
    assert run(make, tmp_path).returncode == 0
    config = blocks(MACHINES, "text")[0]
    for path in ("/var/lib/nats", "/etc/nats"):
        assert path in config
        config = config.replace(path, str(tmp_path))
    (tmp_path / "server.conf").write_text(config)
    (tmp_path / "users.conf").write_text(re.sub(r"\$PASSWORD_OF_\w+", f'"$2a$11${"x" * 53}"', printed))
    checked = subprocess.run(
        [program(), "-t", "-c", tmp_path / "server.conf"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


def steps(job: str) -> tuple[list[str], dict[str, str]]:
    """Return the commands of a job, and the variables that the command with the agent has."""
    document = yaml.safe_load(job)
    if "jobs" not in document:
        [made] = document.values()
        return [*map(str.strip, made["script"])], made["variables"]
    [made] = document["jobs"].values()
    variables = {name: value for step in made["steps"] for name, value in step.get("env", {}).items()}
    return [step["run"].strip() for step in made["steps"] if "run" in step], variables


def test_a_job_can_be_watched(tmp_path: Path) -> None:
    """A job is valid YAML, installs the extra, has the login as variables, and publishes the session.

    The session is complete when the command has ended.
    """
    jobs = [steps(job) for job in blocks(CI, "yaml") if "--publish" in job]
    assert len(jobs) == 2
    for (install, publish), variables in jobs:
        assert "install 'agentwatch-tui[nats] @ git+https://" in install
        assert f"--publish {HOST} --publish-wait 30" in publish
        assert "\n" not in publish
        assert variables["AGENTWATCH_NATS_USER"] == "ci"
        assert "PASSWORD" not in publish
    for number, ((_, publish), variables) in enumerate(jobs):
        folder = tmp_path / str(number)
        folder.mkdir()
        with case(publish), nats_server(folder) as server:
            assert run(f"agentwatch engine init {server.address}", folder).returncode == 0
            login = {"AGENTWATCH_NATS_PASSWORD": "x"} | variables
            done = run(publish.replace(HOST, server.address), folder, **login)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith("Read file lantern/settings.py")
            session, card = last_card(server.address)
            assert (card["outcome"], card["shipped"]) == ("succeeded", card["bytes"])
            copy = run(f"agentwatch {server.address}/{session} --output-format stream-json", folder)
            assert copy.stdout.encode() == (folder / "session.ndjson").read_bytes()
