"""The member `tests` of the summary: the state of tests, linters and builds, and the last verdict of each."""

from __future__ import annotations

from agentwatch.analysis.verdict_history import CommandVerdict, FinalVerdicts
from agentwatch.session.actions import TARGET_COLUMNS
from agentwatch.text.safe import cut, safe_line


def tests_members(found: FinalVerdicts) -> dict[str, object] | None:
    """Return the members of `tests`; None if no command has a verdict."""
    if not found.commands:
        return None
    return {
        "state": found.state,
        "commands": [command_members(command) for command in found.commands],
        "complete": found.is_complete,
    }


def command_members(command: CommandVerdict) -> dict[str, object]:
    """Return the members of a command. What an absent verdict would say is null."""
    verdict = command.verdict
    counts = None if verdict is None else verdict.counts
    return {
        "command": cut(safe_line(command.command), TARGET_COLUMNS),
        "call": command.call.number,
        "tool": command.tool,
        "of_tests": command.is_of_tests,
        "verdict": command.colour,
        "source": verdict and verdict.source,
        "words": verdict and verdict.words,
        "passed": counts and counts.passed,
        "failed": counts and counts.failed,
        "errors": counts and counts.errors,
        "skipped": counts and counts.skipped,
        "changed_by": command.changed_by,
    }
