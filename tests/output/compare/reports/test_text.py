"""A comparison as text: the summary first, readable at 80 columns, safe for a terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.output.compare.comparison import compare, compare_several
from agentwatch.output.compare.reports import WIDTH, report_of, several_report, text_lines
from agentwatch.text.safe import columns, safe_text
from tests.builders.comparing.runs import Run, open_comparison, read, run_tests, side_at
from tests.builders.payloads import PAYLOADS
from tests.conftest import RECORDINGS, case

A = Run()
B = replace(A.changed(5, run_tests(3)), text="Mended: the race turns again.", usage=None)


def text_of(folder: Path, a: Run, b: Run, *, every: bool = False) -> str:
    """Return the comparison of two runs as text."""
    with open_comparison(folder, a, b) as found:
        return "\n".join(text_lines(report_of(found, every=every)))


def test_the_totals_come_first_then_where_they_part_then_the_differences(tmp_path: Path) -> None:
    """What a reader wants first is read first."""
    text = text_of(tmp_path, A, B)
    places = [text.index(words) for words in ("Totals", "They part after 5 calls in common", "\nCalls\n")]
    assert places == sorted(places)
    assert "tokens out     200        -          -\n" in text
    assert "tests          green      red\n" in text
    assert "succeeded → failed: exit 1; exit 0 → exit 1; 20 passed → 3" in text
    assert "[-wheel-] {+race+} turns again." in text


def test_equal_calls_are_counted_or_listed(tmp_path: Path) -> None:
    """One equal call is listed before and after each difference; the others are only counted."""
    text = text_of(tmp_path, A, B)
    assert "  … 4 equal calls\n  = #5     #5     " in text
    assert "src/wheel.py" not in text
    assert "  = #2     #2     Read file src/wheel.py" in text_of(tmp_path, A, B, every=True)


def test_a_call_between_two_differences_is_listed_once(tmp_path: Path) -> None:
    """The contexts of differences that are close to each other do not repeat calls."""
    text = text_of(tmp_path, A, A.without(3).without(1))
    listed = [text.count(f"\n  {sign} #{number} ") for number, sign in enumerate("=-=-==", 1)]
    assert listed == [1, 1, 1, 1, 1, 0]
    assert "  … 1 equal call\n" in text


def test_equal_runs_have_no_list_of_calls(tmp_path: Path) -> None:
    """The report says that they do not part."""
    text = text_of(tmp_path, A, A)
    assert "They do not part: both made the same calls with the same results.\n" in text
    assert "\nCalls\n" not in text
    assert "Both have the same words." in text


def test_other_times_alone_are_no_other_results(tmp_path: Path) -> None:
    """The runs do not part, and the slower call is listed."""
    slow = replace(A, calls=(replace(A.calls[0], took_ms=5000), *A.calls[1:]))
    text = " ".join(text_of(tmp_path, A, slow).split())
    assert "They do not part: both made the same calls with the same results, in other times." in text
    assert "5 calls are the same, 1 in another time." in text
    assert "0.1 s → 5.0 s" in text


def test_all_runs_of_a_side_are_named(tmp_path: Path) -> None:
    """The report lists the names of A1, A2 and B1, and medians with their ranges."""
    sides = [run.side(tmp_path, name) for run, name in ((A, "one"), (A.without(1), "two"), (B, "three"))]
    text = "\n".join(text_lines(several_report(compare_several(sides[:2], sides[2:]))))
    assert text.startswith("A1  one.ndjson · cursor · Auto\nA2  two.ndjson · cursor · Auto\nB1  three.ndjson")
    words = " ".join(text.split())
    assert " calls 5.5 (5–6) 6 +0.5 " in words
    assert " tests green 2 of 2 0 of 1 " in words
    assert "fewer than 10 runs, so a difference may be chance." in text


def test_every_recording_fits_and_is_safe() -> None:
    """No line is wider than 80 columns, and none can control the terminal."""
    other = side_at(RECORDINGS / "demo.ndjson")
    paths = sorted(RECORDINGS.glob("*.ndjson"))
    assert paths
    for path in paths:
        with case(path):
            lines = [*text_lines(report_of(compare(side_at(path), other), every=True))]
            assert len(lines) > 10
            for line in lines:
                assert columns(line) <= WIDTH
                assert line == safe_text(line)


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.system)])
def test_a_hostile_text_controls_nothing(tmp_path: Path, step: int) -> None:
    """Texts of the agent are made safe everywhere, and cannot begin a new line in a table."""
    for name, attack in [*PAYLOADS.items()][::step]:
        with case(name):
            hostile = replace(A.with_call(0, read(attack)), text=f"{attack} now", cwd=f"/home/{attack}")
            with open_comparison(tmp_path, A, hostile) as found:
                lines = [*text_lines(report_of(found, every=True))]
            assert len(lines) > 10
            for line in lines:
                assert line == safe_text(line)
                assert "\n" not in line
