"""A report fits into its width, and foreign names in it cannot control a terminal."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from agentwatch.catalog.statistics import (
    CallFacts,
    Chosen,
    Durations,
    EditedFile,
    Failures,
    SessionFacts,
    Statistics,
    Sums,
    Verdicts,
)
from agentwatch.cli.stats import amount, cost, count, csv_lines, duration, percent, report
from agentwatch.text.safe import columns
from tests.conftest import case

HOSTILE = "\x1b]0;x\x07\n\u202e日本\ud800 " + "x" * 5000
FORMULA = '=HYPERLINK("http://example.com","a")'
HUGE = 9_007_199_254_740_993_000


@dataclass
class Made:
    """Statistics in which every name is the same."""

    name: str
    number: int = 12_345

    def statistics(self) -> Statistics:
        """Return the statistics."""
        name, number = self.name, self.number
        sums = Sums(number, 2, number, 1, number, number, 3, number, number, number, 4, float(number), 5)
        facts = SessionFacts(
            sums, {"failed": number}, {"green": number}, 1, {name: sums}, {None: sums, name: sums}
        )
        calls = CallFacts(
            [Failures(name, number, number, 0, 1.0)],
            [Failures(name, number, 1, 0, 0.0001)],
            [Durations(name, number, 0.5, number, number)],
            [Verdicts(name, number, 0, 0, number, None)],
        )
        files = [EditedFile(name, name, number, number, None, number), EditedFile(None, name, 1, 1, 1, None)]
        return Statistics(Chosen(frozenset({name}), name, 1 << 62), facts, calls, files)


def test_every_line_fits() -> None:
    """No line is wider than the terminal; none has a control character."""
    for width in (60, 80, 200):
        for number in (0, 12_345, HUGE):
            for name in ("pytest", HOSTILE, FORMULA, ""):
                with case(f"{width}, {number}, {name:.20}"):
                    lines = [*report(Made(name, number).statistics(), width)]
                    assert len(lines) > 20
                    for line in lines:
                        assert columns(line) <= width
                        assert line.isprintable()


def test_what_is_unknown_is_no_zero() -> None:
    """An unknown number is `-`, and a known zero is 0."""
    assert (count(None), amount(None), duration(None), cost(None), percent(None)) == ("-",) * 5
    assert (count(0), amount(0), duration(0), cost(0), percent(0)) == ("0", "0", "0 ms", "$0.00", "0 %")


def test_numbers_are_short() -> None:
    """Large numbers have a unit, and small ones are not shown as nothing."""
    assert [amount(number) for number in (999, 1000, 12_345, 123_456, 999_499, 1_000_000, 2.5e9)] == [
        *("999", "1.0k", "12k", "123k", "999k", "1.0M", "2.5G")
    ]
    assert [percent(share) for share in (0.0001, 0.074, 0.5, 1)] == ["<0.1 %", "7.4 %", "50 %", "100 %"]


def test_a_narrow_report_leaves_out_columns() -> None:
    """On a narrow terminal the last columns are left out, so that names stay readable."""
    lines = [*report(Made("pytest").statistics(), 60)]
    [head] = [line for line in lines if line.startswith("agents")]
    assert "sessions" in head
    assert "output" not in head


def test_csv_is_safe_for_a_spreadsheet() -> None:
    """No cell of CSV begins like a formula, and a name does not break its line."""
    for name in (FORMULA, "+1", "-1", "@a", HOSTILE):
        with case(f"{name:.20}"):
            lines = [*csv_lines(Made(name).statistics())]
            assert len(lines) > 20
            for line in lines:
                [row] = csv.reader([line])
                assert len(row) == 5
                assert line.isprintable()
                assert not row[2].startswith(("=", "+", "-", "@"))
