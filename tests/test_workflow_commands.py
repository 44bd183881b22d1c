"""Nothing that an agent prints is a command to the runner that reads our output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.lines import completed, init, result, user

RUNNERS = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI"]
COMMAND = "##[error]a\n::set-env name=x::y ##vso[task] ##teamcity[z]"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording whose every string is a command."""
    shell = completed("shell", "c", {"failure": {"exitCode": 1}}, command=COMMAND)
    odd = completed(f"::{COMMAND}", "d", {"error": {"error": COMMAND}}, path=COMMAND)
    path = tmp_path / "case.ndjson"
    path.write_bytes(init(model=COMMAND, cwd=COMMAND) + user(COMMAND) + shell + odd + result(COMMAND))
    return path


def printed(*arguments: str, **environment: str) -> str:
    """Return what agentwatch prints, on stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "agentwatch", *arguments],
        capture_output=True,
        cwd=ROOT,
        env=os.environ | environment,
        start_new_session=True,
        check=False,
    )
    return (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize(
    "arguments", [["-p"], ["--output-format", "json"], ["--output-format", "summary"], ["log"]]
)
def test_no_line_is_a_command(recording: Path, arguments: list[str], runner: str) -> None:
    """In a runner no line begins with `::`, and `##` stands nowhere."""
    shown = printed(*arguments, str(recording), **{runner: "true"})
    assert shown.strip()
    assert "##" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())


@pytest.mark.parametrize("output_format", ["json", "summary"])
def test_json_says_the_same(recording: Path, output_format: str) -> None:
    """What is broken in JSON is its spelling: the values are those that are printed elsewhere."""
    plain, broken = (
        json.loads(printed("--output-format", output_format, str(recording), **environment))
        for environment in ({}, {"GITHUB_ACTIONS": "true"})
    )
    assert plain == broken
    assert "##[error]" in plain["result"]
