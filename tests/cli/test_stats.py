"""`agentwatch stats` prints statistics over all sessions as a report, as JSON and as CSV."""

import csv
import io
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentwatch.catalog.statistics import (
    By,
    CallFacts,
    Chosen,
    Durations,
    EditedFile,
    Failures,
    SessionFacts,
    Spent,
    Statistics,
    Sums,
    Verdicts,
)
from agentwatch.cli.stats import amount, cost, count, csv_lines, duration, estimate_words, percent, report
from agentwatch.session.counts import Use
from agentwatch.session.events import Tokens
from agentwatch.text.safe import columns
from tests.catalog.index.machines import Indexed, machine_of_truth
from tests.conftest import case
from tests.harness.program import ran

REPORT = """\
4 sessions, 1 subagent

ended   2 succeeded, 2 unfinished
tests   2 unknown, 1 green, 1 red
active  36.0 s
calls   18, 5 failed, 1 rejected
tokens  1.3k in (0 cached), 57 out (of 2 of 4 sessions)
cost    $1.50 (of 1 of 4 sessions)

agents  sessions  active  calls  failed   cost  input  output
cursor         2  24.0 s     14       4      -   1.0k      50
claude         2  12.0 s      4       1  $1.50    300       7

repositories  sessions  active  calls  failed   cost  input  output
mill                 2  24.0 s     14       4      -   1.0k      50
tidepool             2  12.0 s      4       1  $1.50    300       7

failures by kind of call  failed  calls  rate
execute                        4     11  40 %
edit                           1      6  17 %

failures by command  failed  calls  rate
pytest                    3      4  75 %

slowest commands  median  longest  calls   total
sleep              3.0 s    9.0 s      3  13.0 s
pytest             10 ms    10 ms      4   40 ms

files edited most   edits  sessions   +  -
mill: src/mill.py       4         2  16  8
mill: src/wheel.py      1         1   4  2

verdicts  runs  red  red share  nothing ran
pytest       4    3       75 %            0

Tools and commands with fewer than 3 calls are left out. Rates are of the calls that succeeded or failed.
"""
"""The report on the machine of truth."""


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    """The machine with known sessions. The command makes its index."""
    return machine_of_truth(tmp_path)


def stats(indexed: Indexed, *options: str) -> subprocess.CompletedProcess[bytes]:
    environ = indexed.machine.environ
    return ran("stats", *options, HOME=environ["HOME"], AGENTWATCH_HOME=environ["AGENTWATCH_HOME"])


def test_the_report_and_its_json_object(indexed: Indexed) -> None:
    """The report has every section, the numbers are beside the names, and nothing is on stderr."""
    done = stats(indexed)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == REPORT
    assert stats(indexed).stdout == done.stdout
    # The object has the keys that the documentation names, and null for what is unknown.
    record = json.loads(stats(indexed, "--json", "--agent", "Cursor").stdout)
    assert (record["version"], record["since_ms"], record["chosen_agents"]) == (1, None, ["cursor"])
    totals = record["totals"]
    assert (totals["sessions"], totals["cost_usd"], totals["cost_sessions"]) == (2, None, 0)
    assert record["repositories"][0]["name"] == "mill"
    assert record["commands"] == [{"name": "pytest", "calls": 4, "failed": 3, "rejected": 0, "rate": 0.75}]
    assert record["files"][0] == {
        "repository": "mill",
        "file": "src/mill.py",
        "edits": 4,
        "sessions": 2,
        "lines_added": 16,
        "lines_removed": 8,
    }
    printed = json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    assert stats(indexed, "--output-format", "json", "--agent", "cursor").stdout == printed
    # If no session is chosen, one line says so, and the exit code is 0.
    cases: list[tuple[tuple[str, ...], str]] = [
        (("--since", "2100-01-01"), "no sessions since 2100-01-01 00:00"),
        (("--repo", "MILL", "--agent", "claude"), "no sessions of claude in MILL"),
    ]
    for options, line in cases:
        with case(options):
            done = stats(indexed, *options)
            assert (done.returncode, done.stdout.decode(), done.stderr) == (0, f"{line}\n", b"")
    # With --by, one table has the costs, and the object has them too.
    done = stats(indexed, "--by", "agent")
    assert [line.split()[0] for line in done.stdout.decode().splitlines() if line][1:4] == [
        "agent",
        "claude",
        "cursor",
    ]
    record = json.loads(stats(indexed, "--by", "repo", "--json").stdout)
    assert record["by"] == "repo"
    assert [(row["name"], row["cost_usd"]) for row in record["costs"]] == [("tidepool", 1.5), ("mill", None)]
    # What has been recorded or deleted since the last time is counted.
    before = json.loads(stats(indexed, "--json").stdout)
    indexed.machine.home.joinpath(".agentwatch/sessions/20261122-120002-000bbbbbb.ndjson").unlink()
    after = json.loads(stats(indexed, "--json").stdout)
    assert (before["totals"]["calls"], after["totals"]["calls"]) == (18, 12)


def test_csv_has_lines_and_a_wrong_option_is_an_error(indexed: Indexed) -> None:
    """An invalid time, and two formats, are reported before a session is read. A line of CSV has a section, a
    repository, a name, a metric and a value; an unknown value is empty.
    """
    wrong = [("--since", "soon"), ("--since", "7"), ("--json", "--output-format", "csv")]
    for options in wrong:
        with case(options):
            done = stats(indexed, *options)
            assert (done.returncode, done.stdout) == (2, b"")
            assert not (indexed.machine.home / ".agentwatch/index.db").exists()
    # A name that no session has is reported with the nearest right word, without an empty report.
    text = stats(indexed, "--output-format", "csv").stdout.decode()
    rows = [*csv.DictReader(io.StringIO(text))]
    assert {*rows[0]} == {"section", "repository", "name", "metric", "value"}
    values = {(row["section"], row["repository"], row["name"], row["metric"]): row["value"] for row in rows}
    assert len(values) == len(rows)
    assert values["totals", "", "", "calls"] == "18"
    assert values["tests", "", "", "green"] == "1"
    assert values["agents", "", "cursor", "cost_usd"] == ""
    assert values["files", "mill", "src/mill.py", "lines_added"] == "16"
    assert values["slowest", "", "sleep", "median_ms"] == "3000"
    assert values["verdicts", "", "pytest", "red_share"] == "0.75"
    cases: list[tuple[tuple[str, str], str]] = [
        (("--agent", "cluade"), "--agent: no session has 'cluade'; did you mean claude?"),
        (("--repo", "tidepol"), "--repo: no session has 'tidepol'; did you mean tidepool?"),
        (("--repo", "zzz"), "--repo: no session has 'zzz'; known: mill, tidepool"),
        (("--repo", "\x1b[31m"), "--repo: no session has '\\x1b[31m'; known: mill, tidepool"),
    ]
    for options, message in cases:
        with case(options):
            done = stats(indexed, *options)
            assert (done.returncode, done.stdout) == (2, b"")
            assert done.stderr.decode() == f"agentwatch: {message}\n"


def test_a_machine_without_sessions(home: Path) -> None:
    """Without any session, one line says so; JSON and CSV have their usual form."""
    assert (done := ran("stats")).returncode == 0
    assert done.stdout == b"no sessions\n"
    for option, name in (("--repo", "any"), ("--agent", "claude")):
        with case(option):
            done = ran("stats", option, name)
            assert (done.returncode, done.stdout) == (2, b"")
            assert done.stderr == f"agentwatch: {option}: no session has {name!r}\n".encode()
    totals = json.loads(ran("stats", "--json").stdout)["totals"]
    assert (totals["sessions"], totals["active_ms"], totals["cost_usd"]) == (0, None, None)
    assert ran("stats", "--output-format", "csv").stdout.startswith(b"section,repository,name,metric,value\n")
    # If the index cannot be created, the reason is one line, and the exit code 73.
    shutil.rmtree(home)
    home.write_bytes(b"")
    done = ran("stats")
    assert (done.returncode, done.stdout) == (73, b"")
    assert done.stderr.startswith(b"agentwatch: cannot create ")
    assert done.stderr.count(b"\n") == 1


HOSTILE = "\x1b]0;x\x07\n\u202e日本\ud800 " + "x" * 5000
FORMULA = '=HYPERLINK("http://example.com","a")'
HUGE = 9_007_199_254_740_993_000


@dataclass
class Made:
    """Statistics in which every name is the same."""

    name: str
    number: int = 12_345

    def statistics(self) -> Statistics:
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
        tokens = Tokens(number, number, number, written=number)
        spent = [
            Spent(1, name, name, Use(name, number * 10**6, 0), is_estimated, tokens)
            for is_estimated in (0, 1)
        ]
        return Statistics(Chosen(frozenset({name}), name, 1 << 62), facts, calls, files, spent)


def test_every_line_fits_and_unknown_is_no_zero() -> None:
    """No line is wider than the terminal; none has a control character. An unknown number is `-`, and a known
    zero is 0.
    """
    for width in (60, 80, 200):
        for number in (0, 12_345, HUGE):
            for name in ("pytest", HOSTILE, FORMULA, ""):
                for by in (None, By.MODEL, By.DAY):
                    with case(f"{width}, {number}, {name:.20}, {by}"):
                        lines = [*report(Made(name, number).statistics(), by, width)]
                        assert len(lines) > (20 if by is None else 5)
                        for line in lines:
                            assert columns(line) <= width
                            assert line.isprintable()
    assert (count(None), amount(None), duration(None), cost(None), percent(None), estimate_words(None)) == (
        "-",
    ) * 6
    assert (count(0), amount(0), duration(0), cost(0), percent(0)) == ("0", "0", "0 ms", "$0.00", "0 %")
    # Large numbers have a unit, small ones are not shown as nothing; a narrow terminal has fewer columns.
    assert [amount(number) for number in (999, 1000, 12_345, 123_456, 999_499, 1_000_000, 2.5e9)] == [
        *("999", "1.0k", "12k", "123k", "999k", "1.0M", "2.5G")
    ]
    assert [percent(share) for share in (0.0001, 0.074, 0.5, 1)] == ["<0.1 %", "7.4 %", "50 %", "100 %"]
    lines = [*report(Made("pytest").statistics(), None, 60)]
    [head] = [line for line in lines if line.startswith("agents")]
    assert "sessions" in head
    assert "output" not in head
    # No cell of CSV begins like a formula, and a name does not break its line.
    for name in (FORMULA, "+1", "-1", "@a", HOSTILE):
        with case(f"{name:.20}"):
            lines = [*csv_lines(Made(name).statistics(), By.MODEL)]
            assert len(lines) > 20
            for line in lines:
                [row] = csv.reader([line])
                assert len(row) == 5
                assert line.isprintable()
                assert not row[2].startswith(("=", "+", "-", "@"))
