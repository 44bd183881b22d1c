"""The facts that most lines of a file on disk repeat are reported when they change."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.on_disk import SessionFacts
from agentwatch.session.events import RunInfo
from tests.conftest import case


def test_the_branch_is_reported_when_it_changes() -> None:
    """A line with the same branch, an empty one or none reports nothing. `HEAD` is not a branch."""
    facts = SessionFacts()
    assert facts.new({"sessionId": "s", "gitBranch": "main"}) == RunInfo("s", branch="main")
    assert facts.new({"sessionId": "s", "gitBranch": "main"}) is None
    assert facts.new({"sessionId": "s", "gitBranch": ""}) is None
    assert facts.new({"sessionId": "s"}) is None
    assert facts.new({"gitBranch": "fix"}) == RunInfo(branch="fix")
    assert facts.new({"gitBranch": "HEAD"}) == RunInfo(branch="")
    assert facts.new({"gitBranch": "HEAD"}) is None
    assert facts.new({"gitBranch": "", "cwd": "/w"}) == RunInfo(cwd="/w")


def test_a_branch_of_any_type_is_no_reason_to_report_the_same_again() -> None:
    """The second line with the same facts reports nothing."""
    cases: list[object] = ["", None, 7, [], {}, True, "x" * 100_000]
    for branch in cases:
        with case(branch):
            facts, line = SessionFacts(), {"sessionId": "s", "gitBranch": branch}
            facts.new(line)
            assert facts.new(line) is None


def test_a_run_of_another_program_for_one_prompt_is_marked() -> None:
    """`claude -p` names its entry point."""
    cases: list[tuple[Any, bool]] = [
        ("sdk-cli", True),
        ("cli", False),
        ("sdk-ts", False),
        (None, False),
        ([], False),
    ]
    for entry, expected in cases:
        with case(entry):
            found = SessionFacts().new({"sessionId": "s", "entrypoint": entry})
            assert found is not None
            assert found.is_one_liner is expected
