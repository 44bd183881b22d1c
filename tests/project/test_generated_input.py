"""Which input Hypothesis generates: the same on every machine, or that of a seed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.system
TEST = """
from hypothesis import given, strategies as st
import names

@given(st.text(max_size=8) | st.integers(0, 10**6))
def test_any(value):
    print(ascii(value))
"""


def ran(folder: Path, *options: str, **environment: str) -> list[str]:
    """Return the output of the test in this folder, beside a module with constants."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_any.py").write_text(TEST)
    (folder / "names.py").write_text("".join(f"A{number} = 'word {number}'\n" for number in range(99)))
    arguments = ("-q", "-s", "-c", os.devnull, "-p", "tests.conftest", "-p", "no:cacheprovider", *options)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, str(folder)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (done.stdout + done.stderr).splitlines()
    return [line for line in lines if not re.search(r"\d passed|\d%\]", line)]


def test_a_clone_tries_the_same_input_each_time(tmp_path: Path) -> None:
    """Neither the folder, nor the modules beside a test, nor the order of sets changes the examples."""
    one = ran(tmp_path / "one", PYTHONHASHSEED="1")
    assert len(one) > 60
    assert ran(tmp_path / "tests" / "two", PYTHONHASHSEED="2") == one


def test_a_random_search_is_repeated_by_its_seed(tmp_path: Path) -> None:
    """A random search prints the option that tries its examples again."""
    *found, last = ran(tmp_path, AGENTWATCH_HYPOTHESIS="random")
    seed = re.fullmatch(r"hypothesis: random examples; (--hypothesis-seed=\d+) repeats them", last)
    assert seed, last
    assert ran(tmp_path, seed[1]) == [*found, last]
    assert ran(tmp_path, "--hypothesis-seed=1")[:-1] != found


def test_another_search_is_refused(tmp_path: Path) -> None:
    """A misspelt search is an error, and not the search that is the same each time."""
    assert "ERROR: AGENTWATCH_HYPOTHESIS: rand: only `random` is known" in ran(
        tmp_path, AGENTWATCH_HYPOTHESIS="rand"
    )
