"""The verdicts of tests since a moment: the first and the last of each tool."""

from __future__ import annotations

import random
from pathlib import Path

from agentwatch.analysis.seen import mark
from agentwatch.analysis.since import MOST_BEFORE, MOST_READ, VerdictChanges
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from tests.builders.lines import completed, init, started
from tests.conftest import Saver

Ran = tuple[str, str, int]
"""A command, what it printed, and its exit code."""

RED_3: Ran = ("pytest -q", "3 failed, 4 passed in 0.31s", 1)
RED_1: Ran = ("pytest -q tests/a.py", "1 failed in 0.31s", 1)
GREEN: Ran = ("pytest -q | tail -1", "7 passed in 0.31s", 0)
LINTED: Ran = ("ruff check src", "All checks passed!", 0)
UNLINTED: Ran = ("ruff check src", "Found 2 errors.", 1)
NOTHING: Ran = ("pytest -k none; true", "no tests ran in 0.01s", 0)
QUIET: Ran = ("cat log", "9 failed in 0.31s", 0)
OTHER: Ran = ("npm install", "added 3 packages", 0)


def lines_of(*runs: Ran) -> bytes:
    """Return the lines of these commands."""
    made = [init()]
    for number, (command, stdout, exit_code) in enumerate(runs):
        body = {"success" if not exit_code else "failure": {"exitCode": exit_code, "stdout": stdout}}
        made.append(started("shell", f"c-{number}", command=command))
        made.append(completed("shell", f"c-{number}", body, command=command))
    return b"".join(made)


def changes(path: Path, first: int) -> list[str]:
    """Return the changes since the moment at which some calls had ended: `3 → 0 pytest ×2 #5`."""
    feed = Feed(open_saved(path))
    feed.advance()
    assert mark(feed.session, 0, None).ended_calls == len(feed.session.calls)
    found = VerdictChanges(feed, first)
    for position, call in enumerate(feed.session.ended_calls):
        found.add(position, call)
    while found.read_one():
        pass
    return [
        f"{each.before.counts.failed + each.before.counts.errors} → "
        f"{each.after.counts.failed + each.after.counts.errors} {each.tool} ×{each.runs} #{each.call.number}"
        for each in found.changes()
    ]


def test_red_becomes_green(recording: Saver) -> None:
    """A tool has its first and its last verdict, the number of its runs, and the last call."""
    assert changes(recording(lines_of(RED_3, RED_1, OTHER, GREEN)), 0) == ["3 → 0 pytest ×3 #4"]


def test_the_verdict_of_the_moment_comes_first(recording: Saver) -> None:
    """If a verdict from before the moment is known, the change begins with it."""
    path = recording(lines_of(GREEN, RED_3, OTHER, GREEN))
    assert changes(path, 3) == ["3 → 0 pytest ×1 #4"]
    assert changes(path, 2) == ["3 → 0 pytest ×1 #4"]
    assert changes(path, 1) == ["0 → 0 pytest ×2 #4"]


def test_tools_have_their_own_changes(recording: Saver) -> None:
    """Each tool has a change of its own; those that are red come first, then the newest."""
    path = recording(lines_of(UNLINTED, RED_1, GREEN, UNLINTED))
    assert changes(path, 0) == ["2 → 2 ruff ×2 #4", "1 → 0 pytest ×2 #3"]
    assert changes(recording(lines_of(UNLINTED, GREEN)), 0) == ["2 → 2 ruff ×1 #1", "0 → 0 pytest ×1 #2"]
    path = recording(lines_of(UNLINTED, RED_1, GREEN, LINTED))
    assert changes(path, 0) == ["2 → 0 ruff ×2 #4", "1 → 0 pytest ×2 #3"]


def test_a_tool_that_did_not_run_again_is_left_out(recording: Saver) -> None:
    """A tool with verdicts only from before the moment did not change."""
    assert changes(recording(lines_of(UNLINTED, RED_1)), 1) == ["1 → 1 pytest ×1 #2"]


def test_what_is_no_verdict_is_left_out(recording: Saver) -> None:
    """A command that only prints a file, that runs no tool, or whose run found no tests, has no verdict."""
    assert changes(recording(lines_of(QUIET, OTHER, NOTHING)), 0) == []


def test_only_the_newest_commands_are_read(recording: Saver) -> None:
    """Of very many commands only the newest are read; the first verdict is then the first of these."""
    path = recording(lines_of(RED_3, *[RED_1] * (MOST_READ - 1), GREEN))
    assert changes(path, 0) == [f"1 → 0 pytest ×{MOST_READ} #{MOST_READ + 1}"]
    assert MOST_BEFORE < MOST_READ


def test_commands_that_only_print_take_no_place(recording: Saver) -> None:
    """Commands that only print files do not count among the newest commands."""
    assert changes(recording(lines_of(RED_3, *[QUIET] * MOST_READ)), 0) == ["3 → 3 pytest ×1 #1"]


def test_any_order_of_verdicts(recording: Saver) -> None:
    """For any commands and any moment, the changes are those of the truth by construction."""
    counts = {RED_3: ("pytest", 3), RED_1: ("pytest", 1), GREEN: ("pytest", 0)}
    counts |= {LINTED: ("ruff", 0), UNLINTED: ("ruff", 2)}
    chance = random.Random(14)
    for _ in range(40):
        runs = chance.choices([*counts, QUIET, OTHER, NOTHING], k=12)
        first = chance.randrange(13)
        expected = set()
        for tool in ("pytest", "ruff"):
            at = [position for position, run in enumerate(runs) if counts.get(run, ("",))[0] == tool]
            after = [position for position in at if position >= first]
            if after:
                start = max([position for position in at if position < first], default=after[0])
                before, last = counts[runs[start]][1], counts[runs[after[-1]]][1]
                expected.add(f"{before} → {last} {tool} ×{len(after)} #{after[-1] + 1}")
        assert set(changes(recording(lines_of(*runs)), first)) == expected
