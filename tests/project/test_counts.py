"""The work of reading a session is counted: a change that needs more says so."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT, case

FIGURES = ROOT / "tests" / "project" / "counts.toml"
TOLERANCE = 0.01


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the counts are those of Python 3.11")
def test_reading_takes_as_much_work_as_is_noted(tmp_path: Path) -> None:
    """The calls of functions and the imported modules are within 1 % of the figures in counts.toml."""
    argv = [sys.executable, str(ROOT / "bench" / "counts.py"), "--json", "--folder", str(tmp_path)]
    found = json.loads(subprocess.run(argv, check=True, capture_output=True).stdout)
    noted = tomllib.loads(FIGURES.read_text("utf-8"))
    assert {kind: [*counts] for kind, counts in found.items()} == {
        kind: [*counts] for kind, counts in noted.items()
    }
    for kind, counts in found.items():
        for name, count in counts.items():
            with case(f"{kind}, {name}: {count} counted, {noted[kind][name]} noted"):
                assert abs(count - noted[kind][name]) <= TOLERANCE * noted[kind][name]
