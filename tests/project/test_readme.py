"""The README's commands work as described. Its two `python3 -m venv` lines are run by `.ci/run`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT

README = (ROOT / "README.md").read_text()
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if not line.startswith("python3 -m venv")
]


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """A user's shell with agentwatch and an agent installed, and `session.ndjson` in the folder."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, command in {
        "agentwatch": f'exec {sys.executable} -m agentwatch "$@"',
        "cursor-agent": f"exec cat {RECORDINGS / 'plain.ndjson'}",
    }.items():
        program = programs / name
        program.write_text(f"#!/bin/sh\n{command}\n")
        program.chmod(0o755)
    for ending in (".ndjson", ".times"):
        shutil.copy(RECORDINGS / f"plain{ending}", tmp_path / f"session{ending}")
    return os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "TERM": "dumb"}


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command: str, user: dict[str, str], tmp_path: Path) -> None:
    """A command of the README, run without a terminal, succeeds and prints nothing to stderr."""
    if "| jq" in command and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    limit = "timeout -s INT 3 " if "agentwatch -f" in command else ""
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", limit + command],
        env=user,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        start_new_session=True,
        check=False,
    )
    assert ran.stderr.strip() == b""  # ctrl+c leaves an empty line
    assert ran.returncode == (124 if limit else 0)
    assert ran.stdout or command.startswith("agentwatch sessions")


def test_every_option_in_the_readme_exists() -> None:
    """Every option in the README is an option of the program."""
    helps = "".join(
        subprocess.run(
            [sys.executable, "-m", "agentwatch", *command, "--help"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for command in ([], ["run"], ["replay"], ["log"], ["show"], ["sessions"], ["status"])
    )
    ours = [line for line in COMMANDS if "agentwatch" in line]
    named = {
        option for line in ours for option in re.findall(r"(--[a-z-]+)", line.partition("agentwatch")[2])
    }
    foreign = {"--output-format", "--stream-partial-output"}
    assert named - foreign <= set(re.findall(r"--[a-z-]+", helps))
