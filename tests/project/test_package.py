"""The wheel, the sdist and an editable install all find the stylesheet and the recordings."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
import textual

from agentwatch.base.files import stylesheets
from tests.conftest import ROOT, case

FIND_SHEETS = """
import os
from agentwatch.base.files import stylesheets
sheets = stylesheets()
print(all(map(os.path.isfile, sheets)), *{sheet.parent.parent.name for sheet in sheets})
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a built sdist, and a wheel built from it."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return folder


def run_installed(python: Path, arguments: list[str], folder: Path) -> str:
    """Return what the Python of an environment prints, with the agentwatch that is installed there."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(python), *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.system
def test_wheel_runs_from_any_folder(built: Path, tmp_path: Path) -> None:
    """A wheel installed into a new environment plays its demo, and finds its stylesheet and its schemas.

    It has the man page and the completions where systems look for them.
    """
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True, system_site_packages=False)
    python = environment / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "--no-deps", str(wheel)], check=True, capture_output=True
    )
    site = next((environment / "lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(f"{Path(textual.__file__).parent.parent}\n")
    demo = ["-m", "agentwatch", "demo", "--print", "--speed", "1000", "--max-idle", "0"]
    assert "Ran terminal command pytest -q (failed: exit 1)\n" in run_installed(python, demo, tmp_path)
    assert run_installed(python, ["-c", FIND_SHEETS], tmp_path) == "True agentwatch\n"
    assert "\nsummary  " in run_installed(python, ["-m", "agentwatch", "schema"], tmp_path)
    with zipfile.ZipFile(wheel) as packed:
        shared = {
            name.partition(".data/data/share/")[2]: packed.read(name).decode()
            for name in packed.namelist()
            if ".data/data/" in name
        }
    sources = {
        "man/man1/agentwatch.1": "man/agentwatch.1",
        "bash-completion/completions/agentwatch": "completions/agentwatch.bash",
        "zsh/site-functions/_agentwatch": "completions/_agentwatch",
        "fish/vendor_completions.d/agentwatch.fish": "completions/agentwatch.fish",
    }
    assert shared == {name: (ROOT / "docs" / source).read_text() for name, source in sources.items()}


@pytest.mark.system
def test_sdist_contains_what_a_build_needs(built: Path) -> None:
    """The sdist contains all that the build and the tests read, and no files of a local checkout."""
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    sheets = {f"styles/{Path(sheet).name}" for sheet in stylesheets()}
    assert sheets | {"recordings/demo.ndjson", "tests/conftest.py", "LICENSE"} <= names
    assert {"examples/agentwatch-tern/pyproject.toml", "pyproject.toml", ".ci/run"} <= names
    read = {
        path.relative_to(ROOT).as_posix()
        for folder in ("tests", "docs/man", "docs/completions", "recordings", "bench")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sum(name.startswith("tests/captures/") for name in read) > 50
    assert sorted(read - names) == []
    assert not any(name.startswith((".git/", ".venv", "dist")) for name in names)


@pytest.mark.slow
def test_checkout_finds_its_folders(tmp_path: Path) -> None:
    """A checkout or editable install finds the folders beside the package from any working directory.

    No stylesheet lies in the folder that the screen does not read.
    """
    program = "from agentwatch.base.files import resource; print(*map(resource, ('recordings', 'styles')))"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", program]
    found = subprocess.run(argv, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    assert found.stdout == f"{ROOT / 'recordings'} {ROOT / 'styles'}\n"
    assert {*map(Path, stylesheets())} == {*(ROOT / "styles").iterdir()}


@pytest.mark.system
def test_the_sdist_brings_its_own_tests(built: Path, tmp_path: Path) -> None:
    """In an unpacked sdist, without git, all tests are collected, and those of the project pass."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    refusing = tmp_path / "bin" / "git"
    refusing.parent.mkdir()
    refusing.write_text("#!/bin/sh\nexit 128\n")
    refusing.chmod(0o755)
    env = os.environ | {"PYTHONPATH": str(source), "PATH": f"{refusing.parent}:{os.environ['PATH']}"}
    for name, arguments in (
        ("found", ["--collect-only", "--assert=plain", "-m", ""]),  # nothing is rewritten
        ("project", ["-m", "not (slow or system or costs or long or shared or real)", "tests/project"]),
        ("release", ["-m", "system", "tests/project/test_release.py"]),
    ):
        with case(name):
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *arguments],
                cwd=source,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout[-3000:]
