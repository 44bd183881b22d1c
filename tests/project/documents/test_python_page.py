"""The programs on the page about Python print what the page shows, and have correct types."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import RECORDINGS, ROOT, case

PAGE = ROOT / "docs" / "howto" / "python.md"


class Program(NamedTuple):
    """A program of the page, and what it prints."""

    heading: str
    code: str
    printed: str


def programs() -> list[Program]:
    """Return the programs of the page. Each is followed by what it prints."""
    found = []
    for section in PAGE.read_text("utf-8").split("\n## ")[1:]:
        blocks = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        assert section.count("```python") == len(blocks)
        found += [Program(section.partition("\n")[0], *block) for block in blocks]
    return found


PROGRAMS = programs()


@pytest.mark.system
def test_a_program_prints_what_the_page_shows(tmp_path: Path) -> None:
    """Each program runs with the bundled recordings, and prints the lines below it: five uses, and errors."""
    assert len(PROGRAMS) >= 6
    shutil.copytree(RECORDINGS, tmp_path / "runs")
    shutil.copy(RECORDINGS / "demo.ndjson", tmp_path / "session.ndjson")
    before = {*tmp_path.iterdir()}
    for program in PROGRAMS:
        if "import pandas" in program.code and find_spec("pandas") is None:
            continue
        with case(program.heading):
            done = subprocess.run(
                [sys.executable, "-W", "error", "-c", program.code],
                cwd=tmp_path,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert (done.returncode, done.stderr, done.stdout) == (0, "", program.printed)
            assert {*tmp_path.iterdir()} == before


@pytest.mark.system
def test_the_programs_have_correct_types(tmp_path: Path) -> None:
    """Mypy accepts each program in strict mode, by the types that the package declares."""
    for number, program in enumerate(PROGRAMS):
        if "import pandas" not in program.code:
            (tmp_path / f"use_{number}.py").write_text(program.code)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": str(ROOT), "MYPY_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
