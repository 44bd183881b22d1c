"""The reports of a check, read as the programs that take them do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from agentwatch.rules.check import reports
from agentwatch.rules.check.judgement import Checked, Judgement, State, Violation
from agentwatch.rules.check.kinds import Forbid, Limit, Rule, Severity, forbid, limit
from agentwatch.text.safe import SafeText
from tests.builders.lines import completed, init, started, user
from tests.rules.check.judged import checked, rules, run, shell

HOSTILE = "rm \x1b[31m\x00\x0b%0A::error::x\n::set-env,b:\ud800\ufffe ]]>&<"


def hostile(folder: Path) -> Checked:
    """Return what a check found in a recording whose text is hostile in all formats."""
    data = init() + user()
    data += started("shell", "c-1", 1000, command=HOSTILE) + completed(
        "shell", "c-1", {"success": {"exitCode": 0}}, 2000
    )
    given: list[Rule] = [forbid("tool:shell", f"name {HOSTILE}"), limit("failed", 3), limit("cost", 1)]
    return checked(data, given, folder, f"a {HOSTILE}.ndjson")


def broken(name: str, hits: int, severity: Severity = Severity.ERROR) -> Judgement:
    """Return the judgement on a broken rule."""
    rule = forbid("tool:edit", name, severity)
    return Judgement(
        rule, State.BROKEN, SafeText(f"{hits} calls"), hits, hits, [Violation("#1", SafeText("Edited"))]
    )


def test_junit_is_read_back(tmp_path: Path) -> None:
    """A testcase for each rule: a failure, an error of one that had nothing to check, and one that passed."""
    path = tmp_path / "report.xml"
    path.write_bytes(reports.junit_document([hostile(tmp_path)]))
    [suite] = JUnitXml.fromfile(str(path))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (3, 1, 1, 0)
    results = [type(each) for case in suite for each in case.result]
    assert results == [Failure, Error]
    [case, *_] = list(suite)
    assert case.classname == suite.name
    assert case.result[0].message == "1 call"
    assert "#1 Ran terminal command" in case.result[0].text
    assert "\x00" not in path.read_text()


def test_junit_skips_what_is_judged_elsewhere(tmp_path: Path) -> None:
    """A rule that had nothing to check in one recording of two is skipped there; so is a warning."""
    given = [*rules(forbid=["tool:edit"]), forbid("tool:shell", "w", Severity.WARNING)]
    found = [checked(run(), given, tmp_path), checked(run(shell("ls", "c-1", 0)), given, tmp_path)]
    path = tmp_path / "report.xml"
    path.write_bytes(reports.junit_document(found))
    kinds = [[type(each) for case in suite for each in case.result] for suite in JUnitXml.fromfile(str(path))]
    assert kinds == [[Skipped, Skipped], [Skipped]]


def test_annotations_are_escaped(tmp_path: Path) -> None:
    """A command is one line; neither its title nor its message ends it or begins another one."""
    lines = list(reports.github_commands([hostile(tmp_path)]))
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("::error title=agentwatch%3A ")
        properties = line.removeprefix("::error ").partition("::")[0]
        assert not set(properties) & {",", ":", "\n", "\r"}
        assert "\n" not in line
        assert "\r" not in line
        assert "%0A::error" not in line.replace("%250A", "")


def test_ten_annotations_of_a_kind_the_worst_first() -> None:
    """Ten errors and ten warnings are printed, those with the most hits first, and then how many more."""
    found = [broken(f"e{number}", number) for number in range(1, 14)]
    found += [broken(f"w{number}", number, Severity.WARNING) for number in range(1, 13)]
    lines = list(reports.github_commands([Checked("a", found, 3, "cursor", 0.1)]))
    assert [line.partition(" ")[0] for line in lines] == [
        *["::error"] * 10,
        "and",
        *["::warning"] * 10,
        "and",
    ]
    assert "e13::" in lines[0]
    assert (lines[10], lines[-1]) == ("and 3 more errors", "and 2 more warnings")


def test_json_has_everything(tmp_path: Path) -> None:
    """The JSON object has each rule of each recording with its counts and places."""
    found = json.loads(reports.json_line([hostile(tmp_path)], 2))
    [recording] = found["recordings"]
    assert [each["state"] for each in recording["rules"]] == ["broken", "holds", "not judged"]
    assert recording["rules"][0]["places"][0]["address"].endswith(".ndjson#1")
    assert [each["reason"] for each in found["looked_at_nothing"]] == ["the agent does not report the cost"]


def test_text_is_one_line_for_each_fact(tmp_path: Path) -> None:
    """The text names the broken rule and its calls, and the result; nothing in it acts on a terminal."""
    lines = list(reports.text_lines([hostile(tmp_path)]))
    assert len(lines) == 3
    assert lines[0].endswith(": 1 call")
    assert lines[1].startswith("  a rm ")
    assert all(line.isprintable() for line in lines)


def test_text_is_calm_if_all_holds(tmp_path: Path) -> None:
    """If all rules hold, the text is one line."""
    found = checked(run(shell("ls", "c-1", 0)), rules(forbid=["tool:edit"], limit=["failed=3"]), tmp_path)
    assert list(reports.text_lines([found])) == ["all 2 rules hold: a.ndjson (0 calls)"]


def test_explain_says_what_each_rule_looked_at(tmp_path: Path) -> None:
    """The explanation has the calls that were checked, hit and not judged, with the unknown field."""
    data = run(shell("ls", "c-1", 0), shell("make", "c-2", 9, 2), started("read", "c-3", path="a"))
    found = checked(data, rules(forbid=["exit>0"], limit=["failed=3"]), tmp_path)
    assert list(reports.explained([found]))[1:-1] == [
        "  broken     exit>0: checked 2 calls, hit 1; 1 not judged (exit in 1 unknown)",
        "             a.ndjson#2 Ran terminal command make (failed: exit 2)",
        "  holds      limit.failed = 3: 1 failed",
    ]


@pytest.mark.parametrize("rule", [forbid("tool:edit"), limit("failed", 3)])
def test_a_warning_is_no_error(rule: Forbid | Limit) -> None:
    """A broken warning is a warning, not an error."""
    found = Judgement(rule._replace(severity=Severity.WARNING), State.BROKEN, SafeText(""))
    assert (found.is_warning, found.is_error) == (True, False)
