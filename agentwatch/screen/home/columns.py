"""The columns of the list, and which of them give way in a narrow pane."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from agentwatch.machine.row import Row
from agentwatch.screen.home import words
from agentwatch.text.safe import SafeText, columns

STATE = 9
"""The width of the state: `– unknown`."""
SINCE = 7
"""The width of the clock: `1:02:13`."""
LEAST_FOR_ONE_ROW = 68
"""In fewer columns, each session takes two rows."""
_LEAST_FOR_WIDE_GAPS = 96
_AGENT = 10
_PROJECT = (10, 30)
"""The least and the greatest width of the project."""
_PROJECT_STEP = 4
"""The project grows by several columns at a time, so that it seldom grows."""
_LEAST_TITLE = 16
_LEAST_NOW = 14
_COMFORT = (18, 26, 26)
"""The widths of project, title and activity below which a column that can give way does."""

_MORE = 8
"""The columns that the texts have beyond these widths beside the age and the tests.

Beside changed lines they have twice as many.
"""


class Widths(NamedTuple):
    """The widths that the columns need for what they contain; 0 for a column without content.

    A column with content has room for its heading, and for a number of two digits, so that it seldom grows.
    """

    agent: int = 6
    project: int = 0
    succeeded: int = 0
    failed: int = 0
    context: int = 0
    changed: int = 0
    age: int = 0
    tests: int = 0

    def grown(self, rows: Iterable[Row], now_ms: int) -> Widths:
        """Return widths that have room for more rows as well; none is smaller than before.

        Args:
            rows: The rows to make room for.
            now_ms: The current time, in ms since the epoch.
        """
        agent, project, succeeded, failed, context, changed, age, tests = self
        for row in rows:
            agent = max(agent, columns(words.foreign(row.agent)))
            place = words.repository(row) + words.branch(row) + words.worktree(row)
            project = max(project, columns(SafeText(place)))
            if row.calls is not None:
                succeeded = max(succeeded, len(words.succeeded(row)), len("99 ✓"))
                failed = max(failed, len(words.failed(row)), len("9 ✗"))
            if row.context_used is not None:
                context = max(context, len(words.context(row)), len("99 %"))
            if shown := words.changed_lines(row):
                changed = max(changed, len(shown), len("+99 −99"))
            if shown := words.tests(row):
                tests = max(tests, len(shown), len("tests"))
            if shown := words.age(row, now_ms):
                age = max(age, len(shown), len("59 min"))
        project += -project % _PROJECT_STEP
        return Widths(min(agent, _AGENT), project, succeeded, failed, context, changed, age, tests)


class Columns(NamedTuple):
    """The widths of the columns in a pane; 0 for a column that is not shown.

    The columns give way in this order, the first one first: changed lines, tests, age, context, calls.
    At 80 columns, state, clock, agent, project, title and activity are left. In a pane of fewer than 68
    columns, each session takes two rows: state and title; below them the clock and the activity, and behind
    it the project if there is room.
    """

    gap: int
    agent: int
    project: int
    title: int
    now: int
    succeeded: int
    failed: int
    context: int
    changed: int
    age: int
    tests: int


def columns_for(width: int, needed: Widths) -> Columns:
    """Return the columns of a pane in which each session takes one row.

    Args:
        width: The width of a row.
        needed: The widths that the contents need.
    """
    gap = 2 if width >= _LEAST_FOR_WIDE_GAPS else 1
    room = width - STATE - gap - SINCE - gap - needed.agent - 3 * gap
    least = min(max(needed.project, _PROJECT[0]), _COMFORT[0]) + _COMFORT[1] + _COMFORT[2]
    calls = needed.succeeded + (needed.failed and needed.failed + 1)
    kept = []
    for name, size, more in (
        ("calls", calls, 0),
        ("context", needed.context, 0),
        ("age", needed.age, _MORE),
        ("tests", needed.tests, _MORE),
        ("changed", needed.changed, 2 * _MORE),
    ):
        if size:
            if room - size - gap < least + more:
                break
            room -= size + gap
            kept.append(name)
    project = max(min(needed.project, _PROJECT[1], room * 3 // 10), min(_PROJECT[0], room // 4))
    rest = room - project
    now = max(min(rest * 45 // 100, rest - _LEAST_TITLE), _LEAST_NOW)
    return Columns(
        gap=gap,
        agent=needed.agent,
        project=project,
        title=max(rest - now, 1),
        now=now,
        succeeded=needed.succeeded if "calls" in kept else 0,
        failed=needed.failed if "calls" in kept else 0,
        context=needed.context if "context" in kept else 0,
        changed=needed.changed if "changed" in kept else 0,
        age=needed.age if "age" in kept else 0,
        tests=needed.tests if "tests" in kept else 0,
    )
