"""The examples of the page about checks in CI work as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # it comes with what builds the documentation
from junitparser import JUnitXml

from agentwatch.rules.check.rule_file import read_rules
from tests.conftest import RECORDINGS, ROOT

pytestmark = pytest.mark.system

PAGE = (ROOT / "docs" / "howto" / "check-in-ci.md").read_text(encoding="utf-8")
[RULES] = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
GITHUB, GITLAB = (
    yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the rules of the page, and an agent and agentwatch to run in it."""
    (tmp_path / "rules.toml").write_text(RULES)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, line in (
        ("agentwatch", f'exec "{sys.executable}" -m agentwatch "$@"'),
        ("cursor-agent", f'exec cat "{RECORDINGS}/failures.ndjson"'),
        ("pip", "exit 0"),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    return tmp_path


def run(command: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a step as the service does: by bash, which stops at the first error."""
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)} | env,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_rules_are_read(folder: Path) -> None:
    """The file of rules of the page is one."""
    assert len(read_rules(folder / "rules.toml")) == 12


def test_the_workflow_of_github(folder: Path) -> None:
    """The steps record the agent and report the broken rules as annotations, in the runner of GitHub."""
    steps = [step["run"] for step in GITHUB["jobs"]["agent"]["steps"] if "run" in step]
    *before, check = steps
    for step in before:
        assert run(step, folder).returncode == 0
    done = run(check, folder, GITHUB_ACTIONS="true")
    assert (done.returncode, done.stderr) == (1, "")
    *commands, result = done.stdout.splitlines()
    assert [line.partition(" ")[0] for line in commands] == ["::error", "::warning"]
    assert "%0Asession.ndjson#1 " in commands[0]
    assert result.endswith("session.ndjson (6 calls)")


def test_the_job_of_gitlab(folder: Path) -> None:
    """The script records the agent, fails, and leaves a report of the tests that GitLab reads."""
    job = GITLAB["agent"]
    done = run("\n".join(job["script"]), folder, GITLAB_CI="true")
    assert (done.returncode, done.stderr) == (1, "")
    [suite] = JUnitXml.fromfile(str(folder / job["artifacts"]["reports"]["junit"]))
    assert (suite.name, suite.tests, suite.failures, suite.skipped) == ("session.ndjson", 12, 1, 1)
    assert all((folder / path).exists() for path in job["artifacts"]["paths"])
    shutil.rmtree(folder / "bin")
