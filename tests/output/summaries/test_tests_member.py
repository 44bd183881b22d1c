"""The summary has the state of tests, linters and builds, and the last verdict of each command."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.output.summary import whole_summary
from tests.analysis.verdict_history.sessions import STORY, edit, feed_of, run_of_tests
from tests.builders.screen.lines import ended, init, started
from tests.conftest import Saver

LONG = f"pytest {'x' * 300}\x1b[2J\ud800"


def tests_of(recording: Saver, *lines: bytes) -> Any:
    """Return the member `tests` of the summary of a recording."""
    feed = feed_of(recording(init(), *lines))
    return json.loads(b"".join(whole_summary(feed)))["tests"]


def test_without_a_verdict_it_is_null(recording: Saver) -> None:
    """A session without tests, linters and builds has null."""
    assert tests_of(recording, edit(1, "a.py")) is None


def test_each_command_has_its_last_verdict(recording: Saver) -> None:
    """A command has its call, its tool, the verdict and its source, the counts, and what changed after it."""
    lines = (
        STORY + edit(9, "a.py") + run_of_tests(10, 1, "mypy", "Success: no issues found in 3 source files")
    )
    mypy = {"command": "mypy", "call": 10, "tool": "mypy", "of_tests": False, "verdict": "red"}
    pytest = {"command": "pytest -q", "call": 8, "tool": "pytest", "of_tests": True, "verdict": "green"}
    none = {"failed": 0, "errors": 0, "skipped": 0}
    assert tests_of(recording, lines) == {
        "state": "red",
        "commands": [
            {**mypy, "source": "exit", "words": "no errors, exit 1", "passed": 0, **none, "changed_by": None},
            {**pytest, "source": "pattern", "words": "20 passed", "passed": 20, **none, "changed_by": 9},
        ],
        "complete": True,
    }


def test_a_command_without_a_last_verdict_has_nulls(recording: Saver) -> None:
    """The last call of a command was killed: the verdict is `none`, and the state is `unknown`."""
    args: dict[str, object] = {"command": "pytest -q"}
    killed = started("k", "shell", args) + ended("k", "shell", args, {"failure": {"aborted": True}})
    found = tests_of(recording, run_of_tests(1, 0), killed)
    assert found["state"] == "unknown"
    assert found["commands"] == [
        {
            "command": "pytest -q",
            "call": 2,
            "tool": "pytest",
            "of_tests": True,
            "verdict": "none",
            **dict.fromkeys(("source", "words", "passed", "failed", "errors", "skipped", "changed_by")),
        }
    ]


def test_a_command_is_one_safe_line_of_200_columns(recording: Saver) -> None:
    """A command is cut, and contains nothing that could control a terminal."""
    command = tests_of(recording, run_of_tests(1, 0, LONG), run_of_tests(2, 0, "pytest\x1b[2J\ud800"))
    shown = [each["command"] for each in command["commands"]]
    assert all(each.isprintable() and len(each) <= 200 for each in shown)
    assert shown[1].endswith("…")
