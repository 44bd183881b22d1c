"""No text printed by agentwatch is a workflow command to the CI runner that reads its output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders.lines import completed, init, result, user
from tests.conftest import case
from tests.harness.program import ran

RUNNERS = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI"]
COMMAND = "##[error]a\n::set-env name=x::y ##vso[task] ##teamcity[z]"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording in which every string contains workflow commands."""
    shell = completed("shell", "c", {"failure": {"exitCode": 1}}, command=COMMAND)
    odd = completed(f"::{COMMAND}", "d", {"error": {"error": COMMAND}}, path=COMMAND)
    path = tmp_path / "case.ndjson"
    path.write_bytes(init(model=COMMAND, cwd=COMMAND) + user(COMMAND) + shell + odd + result(COMMAND))
    return path


def printed(*arguments: str | Path, **env: str) -> str:
    """Return everything that agentwatch prints, stdout followed by stderr."""
    done = ran(*arguments, **env)  # type: ignore[arg-type]
    return (done.stdout + done.stderr).decode()


def test_no_printed_line_is_a_command(recording: Path) -> None:
    """Under a CI runner no printed line begins with `::`, and `##` never occurs."""
    cases: list[list[str]] = [["-p"], ["--output-format", "json"], ["--output-format", "summary"], ["log"]]
    for arguments in cases:
        for runner in RUNNERS:
            with case(f"{' '.join(arguments)}, {runner}"):
                shown = printed(*arguments, recording, **{runner: "true"})
                assert shown.strip()
                assert "##" not in shown
                assert not any(line.lstrip().startswith("::") for line in shown.splitlines())


@pytest.mark.parametrize("output_format", ["json", "summary"])
def test_json_decodes_to_the_same_values(
    recording: Path, output_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Breaking the commands in JSON changes only the spelling; the decoded values stay the same."""
    plain = json.loads(printed("--output-format", output_format, recording))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    broken = json.loads(printed("--output-format", output_format, recording))
    assert plain == broken
    assert "##[error]" in plain["result"]
