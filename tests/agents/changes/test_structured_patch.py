"""A patch of hunks becomes a unified diff, and its changed lines are counted."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.changes import patch_lines, unified_diff
from tests.conftest import case

HUNK = {"oldStart": 3, "oldLines": 2, "newStart": 4, "newLines": 3, "lines": [" a", "-b", "+c", "+d"]}


def test_hunks_become_a_diff() -> None:
    """Each hunk has its own heading; the sizes in it are those of the lines that are there."""
    wrong = {
        "oldStart": 9,
        "oldLines": 77,
        "newStart": -4,
        "lines": ["+x", "\\ No newline at end of file", 7],
    }
    assert unified_diff([HUNK, wrong]) == (
        "@@ -3,2 +4,3 @@\n a\n-b\n+c\n+d\n@@ -9,0 +0,1 @@\n+x\n\\ No newline at end of file"
    )
    assert patch_lines([HUNK, wrong]) == (3, 1)


def test_a_patch_without_lines_is_no_diff() -> None:
    """A patch that is empty or of another type has no diff, and no lines are counted as changed."""
    cases: list[Any] = [None, [], "x", 5, [None], [{"lines": "x"}], [{"lines": []}]]
    for patch in cases:
        with case(patch):
            assert unified_diff(patch) is None
            assert patch_lines(patch) in ((None, None), (0, 0))
