"""The release: its version, its builds, and the workflow that publishes it."""

import re
import shutil
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from agentwatch import NEEDS, __version__
from tests.conftest import ROOT, case

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = re.compile(r"^\s*(?:- )?uses: (\S{1,200})(.{0,40})$", re.MULTILINE)
PINNED = re.compile(r"[\w.-]{1,50}/[\w.-]{1,50}@[0-9a-f]{40}")


def test_the_version_is_written_in_one_place() -> None:
    """The build takes the version from the package; the changelog and the citation name the same one.

    The index has no agentwatch: the distribution is agentwatch-tui, the command and the package agentwatch.
    """
    read = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = read["project"]
    assert (project["name"], list(project["scripts"])) == ("agentwatch-tui", ["agentwatch"])
    assert "version" in project["dynamic"]
    assert read["tool"]["hatch"]["version"]["path"] == "agentwatch/__init__.py"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = next(line for line in changelog.splitlines() if re.match(r"## \d", line))
    assert newest.split()[1] == __version__
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_each_supported_python_is_tested() -> None:
    """The classifiers begin with the required version, and each workflow installs the wheel on all."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r":: (3\.\d{1,2})$", "\n".join(project["classifiers"]), re.MULTILINE)
    assert project["requires-python"] == f">={named[0]}"
    for name, script in (("test", "run: .ci/wheel\n"), ("release", "pip install --quiet dist/*.whl\n")):
        with case(name):
            text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
            job = next(job for job in text.split("runs-on: ") if script in job)
            (versions,) = re.findall(r"^ {8}python: \[(.{1,99})\]$", job, re.MULTILINE)
            assert re.findall(r"[\d.]{1,9}", versions) == named


@pytest.mark.slow
def test_windows_is_refused_in_one_line() -> None:
    """Where the modules of Unix are missing, the command and the library say what is needed."""
    without = (
        "import sys; sys.platform = 'win32'; "
        "sys.modules |= dict.fromkeys(('fcntl', 'termios', 'pwd', 'grp', 'tty', 'pty', 'resource'))\n"
    )
    for name, then, code in (
        ("command", "from agentwatch.cli.start import main; main()", 2),
        ("module", "import runpy; runpy.run_module('agentwatch', run_name='__main__')", 2),
        ("library", "import agentwatch; agentwatch.load('x')", 1),
    ):
        with case(name):
            done = subprocess.run(
                [sys.executable, "-c", without + then], cwd=ROOT, capture_output=True, text=True, check=False
            )
            said = done.stderr.splitlines()
            assert said[-1].removeprefix("ImportError: ") == NEEDS
            assert (done.returncode, done.stdout) == (code, "")
            assert code == 1 or len(said) == 1


def test_the_first_page_on_the_index_has_no_relative_link() -> None:
    """The links and pictures of the README lead to the repository, at the tag of the version."""
    metadata = ProjectMetadata(str(ROOT), PluginManager()).core
    repository = metadata.urls["Source"]
    raw = repository.replace("github.com", "raw.githubusercontent.com")
    targets = re.findall(r"\]\(([^)\s]{1,300})\)", metadata.readme)
    assert targets
    ours = [target for target in targets if target.startswith((repository, raw))]
    for target in targets:
        with case(target):
            assert target.startswith("https://")
    for target in ours:
        with case(target):
            version, _, path = target.partition("/agentwatch/")[2].removeprefix("blob/").partition("/")
            assert version == f"v{__version__}"
            assert (ROOT / path.partition("#")[0]).exists()
    assert [target for target in ours if target.endswith(".svg")] == [
        target for target in ours if target.startswith(raw)
    ]


def test_a_workflow_has_no_more_rights_than_it_needs() -> None:
    """Each action is pinned by its commit, not by a tag or a branch, which can be moved.

    Nothing has rights by default, and the identity is asked for once, in the job that publishes.
    """
    assert WORKFLOWS
    for workflow in WORKFLOWS:
        with case(workflow.name):
            used = ACTION.findall(workflow.read_text(encoding="utf-8"))
            assert used
            for action, comment in used:
                if action.startswith("./"):  # a workflow of the same commit
                    assert (ROOT / action).is_file()
                    continue
                assert PINNED.fullmatch(action), action
                assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    before, _, publish = text.partition("\n  publish:\n")
    assert "\npermissions: {}\n" in before
    assert "id-token" not in before
    assert publish.count("id-token: write") == 1
    assert "run:" not in publish
    assert "secrets." not in text


@pytest.mark.system
def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    """The sdist and the wheel do not depend on the time, the folder or the umask of the build."""
    first = built(tmp_path / "first", umask=0o022)
    assert {Path(name).suffix for name in first} == {".gz", ".whl"}
    assert built(tmp_path / "second folder", umask=0o077) == first


def built(folder: Path, umask: int) -> dict[str, str]:
    """Return the hash of each built file by its name; the build has its own copy of the checkout."""
    ignored = [".git", *(line.strip("/") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines())]

    def ignore(parent: str, names: list[str]) -> list[str]:
        return [name for name in names if any(Path(parent, name).match(pattern) for pattern in ignored)]

    source = shutil.copytree(ROOT, folder / "source", ignore=ignore)
    for path in source.rglob("*"):
        if path.is_file():
            path.chmod((path.stat().st_mode & 0o111) | (0o666 & ~umask))
    argv = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(source)]
    subprocess.run(argv, check=True, capture_output=True, umask=umask)
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in (folder / "dist").iterdir()}
