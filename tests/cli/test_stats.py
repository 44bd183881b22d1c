"""`agentwatch stats` prints statistics over all sessions as a report, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import pytest

from tests.catalog.index.machines import Indexed
from tests.catalog.index.truth import machine_of_truth
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
    """Run the command on a machine."""
    environ = indexed.machine.environ
    return ran("stats", *options, HOME=environ["HOME"], AGENTWATCH_HOME=environ["AGENTWATCH_HOME"])


def test_the_report(indexed: Indexed) -> None:
    """The report has every section, the numbers are beside the names, and nothing is on stderr."""
    done = stats(indexed)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == REPORT
    assert stats(indexed).stdout == done.stdout


def test_new_sessions_are_read_first(indexed: Indexed) -> None:
    """What has been recorded since the last time is counted."""
    before = json.loads(stats(indexed, "--json").stdout)
    indexed.machine.home.joinpath(".agentwatch/sessions/20261122-120002-000bbbbbb.ndjson").unlink()
    after = json.loads(stats(indexed, "--json").stdout)
    assert (before["totals"]["calls"], after["totals"]["calls"]) == (18, 12)


def test_the_json_object(indexed: Indexed) -> None:
    """The object has the keys that the documentation names, and null for what is unknown."""
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
    assert stats(indexed, "--output-format", "json", "--agent", "cursor").stdout == json_of(record)


def json_of(record: object) -> bytes:
    """Return a record as the command prints it."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def test_the_lines_of_csv(indexed: Indexed) -> None:
    """Each line has a section, a repository, a name, a metric and a value; an unknown value is empty."""
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


def test_an_unknown_name_is_an_error(indexed: Indexed) -> None:
    """A name that no session has is reported with the nearest right word, and there is no empty report."""
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


def test_a_wrong_option_is_an_error(indexed: Indexed) -> None:
    """An invalid time, and two formats, are reported before a session is read."""
    cases: list[tuple[str, ...]] = [
        ("--since", "soon"),
        ("--since", "7"),
        ("--json", "--output-format", "csv"),
    ]
    for options in cases:
        with case(options):
            done = stats(indexed, *options)
            assert (done.returncode, done.stdout) == (2, b"")
            assert not (indexed.machine.home / ".agentwatch/index.db").exists()


def test_no_chosen_session_is_one_line(indexed: Indexed) -> None:
    """If no session is chosen, one line says so, and the exit code is 0."""
    cases: list[tuple[tuple[str, ...], str]] = [
        (("--since", "2100-01-01"), "no sessions since 2100-01-01 00:00"),
        (("--repo", "MILL", "--agent", "claude"), "no sessions of claude in MILL"),
    ]
    for options, line in cases:
        with case(options):
            done = stats(indexed, *options)
            assert (done.returncode, done.stdout.decode(), done.stderr) == (0, f"{line}\n", b"")


def test_a_machine_without_sessions(home: Path) -> None:
    """Without any session, one line says so; JSON and CSV have their usual form."""
    assert home
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


def test_an_index_that_cannot_be_created_is_reported(home: Path) -> None:
    """If the index cannot be created, the reason is one line, and the exit code 73."""
    home.write_bytes(b"")
    done = ran("stats")
    assert (done.returncode, done.stdout) == (73, b"")
    assert done.stderr.startswith(b"agentwatch: cannot create ")
    assert done.stderr.count(b"\n") == 1
