"""The tests of a session are green if the last verdict of each command is, and no file changed after it."""

from __future__ import annotations

import time

import pytest

from agentwatch.analysis import verdict_history
from agentwatch.analysis.verdict_history import FinalVerdicts, State, command_key, final_verdicts
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording.saved import open_saved
from tests.analysis.verdict_history.sessions import STORY, edit, feed_of, run_of_tests
from tests.builders.screen.lines import ended, init, started
from tests.conftest import Saver, case

Shown = list[tuple[str, int, str, int | None]]


def killed(number: int, command: str = "pytest -q") -> bytes:
    """Return a call that was interrupted."""
    args: dict[str, object] = {"command": command}
    return started(f"k-{number}", "shell", args) + ended(
        f"k-{number}", "shell", args, {"failure": {"aborted": True}}
    )


def rejected(number: int, command: str = "pytest -q") -> bytes:
    """Return a call that was refused."""
    args: dict[str, object] = {"command": command}
    return started(f"r-{number}", "shell", args) + ended(
        f"r-{number}", "shell", args, {"rejected": {"reason": "no"}}
    )


def open_call(number: int, command: str = "pytest -q") -> bytes:
    """Return a call that has not ended."""
    return started(f"o-{number}", "shell", {"command": command})


def shown(found: FinalVerdicts) -> Shown:
    """Return the facts of each command."""
    return [(each.command, each.call.number, each.colour, each.changed_by) for each in found.commands]


def test_the_state_of_a_session(recording: Saver) -> None:
    """Each command has its last call, that call's verdict, and the first change after it."""
    cases: list[tuple[str, bytes, State, Shown]] = [
        ("green", run_of_tests(1, 0), State.GREEN, [("pytest -q", 1, "green", None)]),
        ("red", run_of_tests(1, 2), State.RED, [("pytest -q", 1, "red", None)]),
        ("no command", edit(1, "a.py"), State.UNKNOWN, []),
        ("no call", b"", State.UNKNOWN, []),
        (
            "the last verdict of the command counts",
            run_of_tests(1, 2) + edit(2, "a.py") + run_of_tests(3, 0),
            State.GREEN,
            [("pytest -q", 3, "green", None)],
        ),
        (
            "a file changed after it",
            run_of_tests(1, 0) + edit(2, "a.py") + edit(3, "b.py"),
            State.CHANGED,
            [("pytest -q", 1, "green", 2)],
        ),
        (
            "an edit failed",
            run_of_tests(1, 0) + edit(2, "a.py", is_failed=True),
            State.GREEN,
            [("pytest -q", 1, "green", None)],
        ),
        (
            "red stays red after an edit",
            run_of_tests(1, 2) + edit(2, "a.py"),
            State.RED,
            [("pytest -q", 1, "red", 2)],
        ),
        (
            "another folder is another command",
            run_of_tests(1, 1) + run_of_tests(2, 0, "cd web && pytest -q"),
            State.RED,
            [("cd web && pytest -q", 2, "green", None), ("pytest -q", 1, "red", None)],
        ),
        (
            "the same command in other words",
            run_of_tests(1, 1) + run_of_tests(2, 0, "pytest -q 2>&1 | tail -3"),
            State.GREEN,
            [("pytest -q", 2, "green", None)],
        ),
        (
            "nothing ran",
            run_of_tests(1, 0) + run_of_tests(2, 0, output="3 deselected in 0.01s"),
            State.UNKNOWN,
            [("pytest -q", 2, "none", None)],
        ),
        ("killed", run_of_tests(1, 0) + killed(2), State.UNKNOWN, [("pytest -q", 2, "none", None)]),
        (
            "killed twice",
            run_of_tests(1, 0) + killed(2) + edit(3, "a.py") + killed(4),
            State.UNKNOWN,
            [("pytest -q", 4, "none", None)],
        ),
        (
            "still running",
            run_of_tests(1, 0) + open_call(2),
            State.UNKNOWN,
            [("pytest -q", 2, "none", None)],
        ),
        (
            "a rejected call did not run",
            run_of_tests(1, 0) + rejected(2),
            State.GREEN,
            [("pytest -q", 1, "green", None)],
        ),
        (
            "linters count",
            run_of_tests(1, 0)
            + run_of_tests(2, 1, "mypy", "Found 2 errors in 1 file (checked 3 source files)"),
            State.RED,
            [("mypy", 2, "red", None), ("pytest -q", 1, "green", None)],
        ),
        (
            "an old output is no run",
            run_of_tests(1, 0) + run_of_tests(2, 3, "cat pytest.log"),
            State.GREEN,
            [("pytest -q", 1, "green", None)],
        ),
    ]
    for name, lines, state, commands in cases:
        with case(name):
            found = final_verdicts(feed_of(recording(init() + lines), follow=True))
            assert shown(found) == commands
            assert found.state is state
            assert found.is_complete


def test_the_state_at_an_earlier_moment(recording: Saver) -> None:
    """At a moment of a session, only what had ended then counts."""
    source = open_saved(recording(STORY + edit(9, "a.py")), follow=False)
    history = History(Feed(source), source)
    history.feed.advance()
    assert final_verdicts(history.feed).state is State.CHANGED
    states = []
    for number in (1, 2, 7, 8):
        place = history.feed.session.calls[number - 1].ended
        assert place is not None
        states.append(final_verdicts(history.at(place.offset + place.length + 1)).state)
    assert states == [State.UNKNOWN, State.RED, State.RED, State.GREEN]


def test_the_outputs_read_are_bounded(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many commands the newest are read, and that others were not is reported."""
    monkeypatch.setattr(verdict_history, "MOST_READ", 3)
    lines = b"".join(run_of_tests(number, number % 2, f"pytest {number}") for number in range(1, 7))
    found = final_verdicts(feed_of(recording(init() + lines)))
    assert [each.call.number for each in found.commands] == [6, 5, 4]
    assert not found.is_complete


def test_the_commands_compared_are_bounded(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many commands the newest are compared, and it is reported that others were not."""
    monkeypatch.setattr(verdict_history, "_MOST_KEYED", 3)
    lines = b"".join(run_of_tests(number, 0, f"cat {number}") for number in range(2, 7))
    found = final_verdicts(feed_of(recording(init() + run_of_tests(1, 0) + lines)))
    assert (found.commands, found.is_complete, found.state) == ([], False, State.UNKNOWN)
    monkeypatch.setattr(verdict_history, "_MOST_KEYED", 6)
    assert final_verdicts(feed_of(recording(init() + run_of_tests(1, 0) + lines))).is_complete


@pytest.mark.costs
def test_a_hostile_command_costs_under_5_ms() -> None:
    """No command takes longer, whatever its words are."""
    for piece in ['"', "\\", "cd a && ", "| tail ", "timeout -k 1 ", "2>&1 ", " ", "a=b;"]:
        with case(piece):
            spent = []
            for _ in range(10):
                began = time.thread_time()
                command_key(piece * 5000, "/home/me")
                spent.append(time.thread_time() - began)
            assert min(spent) < 0.005


def test_the_last_result_of_a_tool_names_it(recording: Saver) -> None:
    """A command without a last verdict has the tool of its earlier one."""
    mypy = run_of_tests(1, 0, "mypy", "Success: no issues found in 3 source files")
    found = final_verdicts(feed_of(recording(init() + mypy + killed(2, "mypy") + run_of_tests(3, 0))))
    assert [(each.tool, each.is_of_tests, each.verdict is None) for each in found.commands] == [
        *(("pytest", True, False), ("mypy", False, True))
    ]
