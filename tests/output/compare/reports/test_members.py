"""A comparison as JSON: known keys, null for what is unknown, and one line that is safe for a terminal."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentwatch.output.compare.comparison import compare, compare_several
from agentwatch.output.compare.reports import json_pieces, several_json
from tests.builders.comparing.runs import Run, edit, open_comparison, read, run_tests
from tests.builders.payloads import PAYLOADS
from tests.conftest import ROOT, case

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
A = Run()
B = replace(A.changed(5, run_tests(3)).with_call(3, read("README.md")), usage=None, text="Red.")


def written(folder: Path, a: Run, b: Run, *, every: bool = False) -> str:
    """Return the comparison of two runs as JSON."""
    with open_comparison(folder, a, b) as found:
        return b"".join(json_pieces(found, every=every)).decode()


def members(folder: Path, a: Run, b: Run, *, every: bool = False) -> dict[str, Any]:
    """Return the comparison of two runs, read back from its JSON."""
    found: dict[str, Any] = json.loads(written(folder, a, b, every=every))
    return found


def test_the_differences_are_rows(tmp_path: Path) -> None:
    """Each has its place, what differs, and both calls as in the summary."""
    found = members(tmp_path, A, B)
    assert [(row["index"], row["match"], row["differs_in"]) for row in found["rows"]] == [
        (3, "only_b", []),
        (6, "equal", ["outcome", "exit_code", "verdict"]),
    ]
    assert found["rows"][0]["a"] is None
    assert found["rows"][1]["b"]["verdict"] == "3 failed, 17 passed"
    assert found["first_divergence"] == found["rows"][0]
    assert found["counts"] == {
        "same": 5,
        "other_result": 1,
        "other_time": 0,
        "moved": 0,
        "replaced": 0,
        "only_a": 0,
        "only_b": 1,
    }


def test_what_is_unknown_is_null(tmp_path: Path) -> None:
    """An agent that gives no tokens did not use 0."""
    found = members(tmp_path, A, B)
    assert (found["a"]["output"], found["b"]["output"], found["b"]["cost_usd"]) == (200, None, None)
    assert found["files"] == [
        {"path": "src/mill.py", "a": {"added": 4, "removed": 2}, "b": {"added": 4, "removed": 2}}
    ]
    assert members(tmp_path, A, A)["first_divergence"] is None


def test_all_rows_are_there_if_they_are_asked_for(tmp_path: Path) -> None:
    """Equal calls have an empty list of differences."""
    rows = members(tmp_path, A, B, every=True)["rows"]
    assert [row["index"] for row in rows] == [*range(7)]
    assert rows[0]["differs_in"] == []


def test_many_rows_are_one_list(tmp_path: Path) -> None:
    """They are written 500 at a time."""
    long = replace(A, calls=tuple(read(f"{name * 3}.py") for name in map(chr, range(0x4E00, 0x4E00 + 1100))))
    assert len(members(tmp_path, long, replace(A, calls=()))["rows"]) == 1100


def test_several_runs_a_side_have_medians(tmp_path: Path) -> None:
    """The figures of each run are there too."""
    sides = [run.side(tmp_path, name) for run, name in ((A, "a"), (A.without(0), "b"), (B, "c"))]
    found = json.loads(several_json(compare_several(sides[:2], sides[2:])))
    assert found["figures"]["calls"]["a"] == {"known": 2, "median": 5.5, "least": 5, "most": 6}
    assert found["figures"]["output"]["b"] == {"known": 0, "median": None, "least": None, "most": None}
    assert found["by_tool"]["read"]["b"]["median"] == 3
    assert found["shares"][1] == {"name": "tests green", "a": 2, "known_a": 2, "b": 0, "known_b": 1}
    assert found["few"] is True


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.system)])
def test_a_hostile_text_is_escaped(tmp_path: Path, step: int) -> None:
    """The line cannot control a terminal, and has the text."""
    for attack in (*[*PAYLOADS.values()][::step], "half \ud83d a pair"):
        with case(ascii(attack)):
            hostile = replace(A.with_call(0, edit(attack)), text=attack, cwd=f"/home/{attack}")
            data = written(tmp_path, A, hostile, every=True)
            assert CONTROL.search(data) is None
            json.loads(data)


def test_a_name_that_is_no_text_is_written(tmp_path: Path) -> None:
    """A file name may have bytes that are no UTF-8; each becomes a question mark."""
    side = replace(A.side(tmp_path, "a"), name="half \udcff")
    found = json.loads(b"".join(json_pieces(compare(side, side))))
    assert found["a"]["name"] == "half ?"


def test_the_documentation_names_every_key(tmp_path: Path) -> None:
    """The page about comparing describes each key of the object, of a run and of a row."""
    page = (ROOT / "docs" / "howto" / "compare-runs.md").read_text()
    found = members(tmp_path, A, B)
    own_keys = ("index", "match", "differs_in")
    names = {*found, *found["a"], *found["counts"], *own_keys, *found["text"], *found["files"][0]}
    sides = [run.side(tmp_path, "a") for run in (A, B)]
    names |= {*json.loads(several_json(compare_several(sides[:1], sides)))}
    assert {name for name in names if f"`{name}`" not in page} == set()
