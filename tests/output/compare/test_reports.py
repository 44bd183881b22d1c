"""A comparison as text: the summary first, readable at 80 columns, safe for a terminal."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentwatch.output.compare.comparison import compare, compare_several
from agentwatch.output.compare.reports import (
    MOST_BYTES,
    WIDTH,
    json_pieces,
    markdown_pieces,
    report_of,
    several_json,
    several_report,
    text_lines,
)
from agentwatch.text.safe import columns, safe_text
from tests.builders.compared_runs import Run, edit, open_comparison, read, run_tests, side_at
from tests.builders.payloads import PAYLOADS
from tests.conftest import RECORDINGS, case
from tests.output.export.html.test_page import MARKUP
from tests.output.export.markdown.parsed import html_of, tokens

A = Run()
B = replace(A.changed(5, run_tests(3)), text="Mended: the race turns again.", usage=None)


def text_of(folder: Path, a: Run, b: Run, *, every: bool = False) -> str:
    """Return the comparison of two runs as text."""
    with open_comparison(folder, a, b) as found:
        return "\n".join(text_lines(report_of(found, "a.ndjson", "x/b.ndjson", every=every)))


def test_the_text_has_totals_the_parting_and_the_differences(tmp_path: Path) -> None:
    """What a reader wants first is read first. One equal call is listed before and after each difference; the
    others are only counted. Below a difference are the addresses of its calls, one per line if both do not
    fit. The contexts of differences that are close to each other do not repeat calls. The report says that
    they do not part.
    """
    text = text_of(tmp_path, A, B)
    places = [text.index(words) for words in ("Totals", "They part after 5 calls in common", "\nCalls\n")]
    assert places == sorted(places)
    assert "tokens out     200        -          -\n" in text
    assert "tests          green      red\n" in text
    assert "succeeded → failed: exit 1; exit 0 → exit 1; 20 passed → 3" in text
    assert "[-wheel-] {+race+} turns again." in text
    text = text_of(tmp_path, A, B)
    assert "  … 4 equal calls\n  = #5     #5     " in text
    assert "src/wheel.py" not in text
    assert "  = #2     #2     Read file src/wheel.py" in text_of(tmp_path, A, B, every=True)
    text = text_of(tmp_path, A, A.without(3).without(1))
    listed = [text.count(f"\n  {sign} #{number} ") for number, sign in enumerate("=-=-==", 1)]
    assert listed == [1, 1, 1, 1, 1, 0]
    assert "  … 1 equal call\n" in text
    assert re.findall(r"\n {18}(\S+#\d+)(?=\n)", text) == ["a.ndjson#2", "a.ndjson#4"]
    with open_comparison(tmp_path, A, A.changed(1, read("src/race.py"))) as found:
        for a, expected in (
            ("a.ndjson", ["a.ndjson#2  b#2"]),
            ("a" * 60, ["a" * 60 + "#2", "b#2"]),
            ("", ["b#2"]),
        ):
            lines = map(str.strip, text_lines(report_of(found, a, "b")))
            assert [line for line in lines if line.endswith("#2")] == expected
    text = text_of(tmp_path, A, A)
    assert "They do not part: both made the same calls with the same results.\n" in text
    assert "\nCalls\n" not in text
    assert "Both have the same words." in text
    # The runs do not part, and the slower call is listed.
    slow = replace(A, calls=(replace(A.calls[0], took_ms=5000), *A.calls[1:]))
    text = " ".join(text_of(tmp_path, A, slow).split())
    assert "They do not part: both made the same calls with the same results, in other times." in text
    assert "5 calls are the same, 1 in another time." in text
    assert "0.1 s → 5.0 s" in text
    # The report lists the names of A1, A2 and B1, and medians with their ranges.
    sides = [run.side(tmp_path, name) for run, name in ((A, "one"), (A.without(1), "two"), (B, "three"))]
    text = "\n".join(text_lines(several_report(compare_several(sides[:2], sides[2:]))))
    assert text.startswith("A1  one.ndjson · cursor · Auto\nA2  two.ndjson · cursor · Auto\nB1  three.ndjson")
    words = " ".join(text.split())
    assert " calls 5.5 (5–6) 6 +0.5 " in words
    assert " tests green 2 of 2 0 of 1 " in words
    assert "fewer than 10 runs, so a difference may be chance." in text
    # Each row of the report is a row of a table, and numbers do not link to issues.
    text = document(tmp_path, A, A.changed(5, run_tests(3)))
    assert "| tests | green | red |  |\n" in text
    assert "| other result | 6 | 6 | Ran terminal command pytest -q<br>succeeded → failed: exit 1; " in text
    assert "|  |  |  | *4 equal calls* |" in text
    assert "They part after 5 calls in common: A#&#8203;6 and B#&#8203;6 (other result)." in text
    # A hostile text adds no row, no column and no HTML, and does not end a block of code.
    harmless = rows(document(tmp_path, A, A.with_call(0, read("x")).with_call(0, edit("y"))))
    for attack in MARKUP:
        with case(ascii(attack)):
            hostile = A.with_call(0, read(f"{attack}|`a`\n```\n")).with_call(0, edit(f"{attack}|"))
            text = document(tmp_path, A, replace(hostile, text=f"```\n{attack}\n````\n@ada #1"))
            assert set(html_of(text)) <= {"<br>"}
            assert rows(text) == harmless
            assert [token.type for token in tokens(text)].count("fence") == 1
            assert all(token.type != "html_block" for token in tokens(text))


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


def document(folder: Path, a: Run, b: Run, *, every: bool = False) -> str:
    """Return the comparison of two runs as Markdown."""
    with open_comparison(folder, a, b) as found:
        return b"".join(markdown_pieces(report_of(found, every=every))).decode()


def rows(text: str) -> int:
    """Return the number of rows of all tables in a document."""
    return sum(token.type == "tr_open" for token in tokens(text))


@pytest.mark.parametrize(
    "sign", ["|", *(pytest.param(sign, marks=pytest.mark.system) for sign in "&é\U0001f30a`")]
)
def test_two_long_runs_fit_into_a_comment(tmp_path: Path, sign: str) -> None:
    """At most 60,000 bytes are written, also if escapes make a text longer; the rest is counted."""
    long = tuple(edit(f"{sign * 180}{number}.py") for number in range(600))
    other = tuple(read(f"{sign * 180}{number}.md") for number in range(600))
    text = document(
        tmp_path, replace(A, calls=long, text=sign * 40_000), replace(A, calls=other, text="no " * 20_000)
    )
    assert len(text.encode()) <= MOST_BYTES
    code = "".join(token.content for token in tokens(text) if token.type == "fence")
    assert 1_000 < len(code.encode()) <= 16_000
    assert "more rows left out: a comment has limited room." in text


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
UNKNOWN = replace(A.changed(5, run_tests(3)).with_call(3, read("README.md")), usage=None, text="Red.")


def written(folder: Path, a: Run, b: Run, *, every: bool = False) -> str:
    """Return the comparison of two runs as JSON."""
    with open_comparison(folder, a, b) as found:
        return b"".join(json_pieces(found, every=every)).decode()


def members(folder: Path, a: Run, b: Run, *, every: bool = False) -> dict[str, Any]:
    """Return the comparison of two runs, read back from its JSON."""
    found: dict[str, Any] = json.loads(written(folder, a, b, every=every))
    return found


def test_the_differences_are_rows_and_unknown_is_null(tmp_path: Path) -> None:
    """Each has its place, what differs, and both calls as in the summary. An agent that gives no tokens did
    not use 0.
    """
    found = members(tmp_path, A, UNKNOWN)
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
    found = members(tmp_path, A, UNKNOWN)
    assert (found["a"]["output"], found["b"]["output"], found["b"]["cost_usd"]) == (200, None, None)
    assert found["files"] == [
        {"path": "src/mill.py", "a": {"added": 4, "removed": 2}, "b": {"added": 4, "removed": 2}}
    ]
    assert members(tmp_path, A, A)["first_divergence"] is None
    # Equal calls have an empty list of differences. They are written 500 at a time.
    rows = members(tmp_path, A, UNKNOWN, every=True)["rows"]
    assert [row["index"] for row in rows] == [*range(7)]
    assert rows[0]["differs_in"] == []
    long = replace(A, calls=tuple(read(f"{name * 3}.py") for name in map(chr, range(0x4E00, 0x4E00 + 1100))))
    assert len(members(tmp_path, long, replace(A, calls=()))["rows"]) == 1100
    # The figures of each run are there too.
    sides = [run.side(tmp_path, name) for run, name in ((A, "a"), (A.without(0), "b"), (UNKNOWN, "c"))]
    found = json.loads(several_json(compare_several(sides[:2], sides[2:])))
    assert found["figures"]["calls"]["a"] == {"known": 2, "median": 5.5, "least": 5, "most": 6}
    assert found["figures"]["output"]["b"] == {"known": 0, "median": None, "least": None, "most": None}
    assert found["by_tool"]["read"]["b"]["median"] == 3
    assert found["shares"][1] == {"name": "tests green", "a": 2, "known_a": 2, "b": 0, "known_b": 1}
    assert found["few"] is True
    # A file name may have bytes that are no UTF-8; each becomes a question mark.
    side = replace(A.side(tmp_path, "a"), name="half \udcff")
    found = json.loads(b"".join(json_pieces(compare(side, side))))
    assert found["a"]["name"] == "half ?"


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.system)])
def test_a_hostile_text_is_escaped(tmp_path: Path, step: int) -> None:
    """The line cannot control a terminal, and has the text."""
    for attack in (*[*PAYLOADS.values()][::step], "half \ud83d a pair"):
        with case(ascii(attack)):
            hostile = replace(A.with_call(0, edit(attack)), text=attack, cwd=f"/home/{attack}")
            data = written(tmp_path, A, hostile, every=True)
            assert CONTROL.search(data) is None
            json.loads(data)
