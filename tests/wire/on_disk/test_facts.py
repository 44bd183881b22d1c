"""The facts that most lines of a file on disk repeat are reported when they change."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.events import RunInfo
from agentwatch.wire.on_disk.facts import Facts


def test_the_branch_is_reported_when_it_changes() -> None:
    """A line with the same branch, an empty one or none reports nothing."""
    facts = Facts()
    assert facts.new({"sessionId": "s", "gitBranch": "main"}) == RunInfo("s", branch="main")
    assert facts.new({"sessionId": "s", "gitBranch": "main"}) is None
    assert facts.new({"sessionId": "s", "gitBranch": ""}) is None
    assert facts.new({"sessionId": "s"}) is None
    assert facts.new({"gitBranch": "fix"}) == RunInfo(branch="fix")


@pytest.mark.parametrize("branch", ["", None, 7, [], {}, True, "x" * 100_000])
def test_a_branch_of_any_type_is_no_reason_to_report_the_same_again(branch: object) -> None:
    """The second line with the same facts reports nothing."""
    facts, line = Facts(), {"sessionId": "s", "gitBranch": branch}
    facts.new(line)
    assert facts.new(line) is None


@pytest.mark.parametrize(
    ("entry", "expected"), [("sdk-cli", True), ("cli", False), ("sdk-ts", False), (None, False), ([], False)]
)
def test_a_run_of_another_program_for_one_prompt_is_marked(entry: Any, expected: bool) -> None:
    """`claude -p` names its entry point."""
    found = Facts().new({"sessionId": "s", "entrypoint": entry})
    assert found is not None
    assert found.is_one_liner is expected
