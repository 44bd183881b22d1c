"""The examples of the page about checks in CI work as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # it comes with what builds the documentation
from junitparser import JUnitXml

from agentwatch.rules.check.rule_file import read_rules
from tests.conftest import ROOT
from tests.project.documents.user import run

pytestmark = pytest.mark.system

PAGE = (ROOT / "docs" / "howto" / "check-in-ci.md").read_text(encoding="utf-8")
[RULES] = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
GITHUB, GITLAB = (
    yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the rules of the page."""
    (tmp_path / "rules.toml").write_text(RULES)
    return tmp_path


def test_the_workflow_of_github(folder: Path) -> None:
    """The rules can be read; the steps record the agent and report broken ones as annotations of GitHub."""
    assert len(read_rules(folder / "rules.toml")) == 12
    steps = [step["run"] for step in GITHUB["jobs"]["agent"]["steps"] if "run" in step]
    *before, check = steps
    for step in before:
        assert run(step, folder, agent="failures").returncode == 0
    done = run(check, folder, agent="failures", GITHUB_ACTIONS="true")
    assert (done.returncode, done.stderr) == (1, "")
    *commands, result = done.stdout.splitlines()
    assert [line.partition(" ")[0] for line in commands] == ["::error", "::warning"]
    assert "%0Asession.ndjson#1 " in commands[0]
    assert result.endswith("session.ndjson (6 calls)")


def test_the_job_of_gitlab(folder: Path) -> None:
    """The script records the agent, fails, and leaves a report of the tests that GitLab reads."""
    job = GITLAB["agent"]
    done = run("\n".join(job["script"]), folder, agent="failures", GITLAB_CI="true")
    assert (done.returncode, done.stderr) == (1, "")
    [suite] = JUnitXml.fromfile(str(folder / job["artifacts"]["reports"]["junit"]))
    assert (suite.name, suite.tests, suite.failures, suite.skipped) == ("session.ndjson", 12, 1, 1)
    assert all((folder / path).exists() for path in job["artifacts"]["paths"])
