"""The release: its version, its builds, and the workflow that publishes it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from agentwatch import __version__
from tests.conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = re.compile(r"^\s*(?:- )?uses: (\S{1,200})(.{0,40})$", re.MULTILINE)
PINNED = re.compile(r"[\w.-]{1,50}/[\w.-]{1,50}@[0-9a-f]{40}")


def test_the_version_is_written_in_one_place() -> None:
    """The build takes the version from the package; the changelog and the citation name the same one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "agentwatch/__init__.py"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = next(line for line in changelog.splitlines() if re.match(r"## \d", line))
    assert newest.split()[1] == __version__
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_distribution_has_a_name_that_the_index_accepts() -> None:
    """The distribution is agentwatch-tui; the command and the package are agentwatch."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "agentwatch-tui"
    assert list(project["scripts"]) == ["agentwatch"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_each_action_is_pinned_by_its_commit(workflow: Path) -> None:
    """No workflow uses an action by a tag or a branch, which can be moved; a comment has the version."""
    used = ACTION.findall(workflow.read_text(encoding="utf-8"))
    assert used
    for action, comment in used:
        assert PINNED.fullmatch(action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


def test_only_the_job_that_publishes_may_ask_for_an_identity() -> None:
    """Nothing has rights by default, and the identity is asked for once, in the job that publishes."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    before, _, publish = text.partition("\n  publish:\n")
    assert "\npermissions: {}\n" in before
    assert "id-token" not in before
    assert publish.count("id-token: write") == 1
    assert "run:" not in publish
    assert "secrets." not in text


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    """The sdist and the wheel do not depend on the time, the folder or the umask of the build."""
    first = built(tmp_path / "first", umask=0o022)
    assert {Path(name).suffix for name in first} == {".gz", ".whl"}
    assert built(tmp_path / "second folder", umask=0o077) == first


def built(folder: Path, umask: int) -> dict[str, str]:
    """Return the hash of each built file by its name; the build has its own copy of the checkout."""
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    for name in os.fsdecode(files).rstrip("\0").split("\0"):
        if (source := ROOT / name).is_file():
            target = folder / "source" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
            target.chmod((source.stat().st_mode & 0o111) | (0o666 & ~umask))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            str(folder / "dist"),
            str(folder / "source"),
        ],
        check=True,
        capture_output=True,
        umask=umask,
    )
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in (folder / "dist").iterdir()}
