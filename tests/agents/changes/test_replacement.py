"""Two texts are compared line by line."""

from __future__ import annotations

from functools import partial

import pytest

from agentwatch.agents.changes import replacement
from tests.conftest import case
from tests.harness.costs import takes_more


def test_what_differs_is_shown() -> None:
    """The lines between the first and the last difference are removed and added, with three lines around."""
    cases: list[tuple[str, str, str, tuple[int, int]]] = [
        ("a", "a", "", (0, 0)),
        ("a\n", "a", "", (0, 0)),
        ("a", "b", "@@ -1,1 +1,1 @@\n-a\n+b", (1, 1)),
        ("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b", (2, 0)),
        ("a\nb", "", "@@ -1,2 +0,0 @@\n-a\n-b", (0, 2)),
        ("a\nb\nc", "a\nB\nc", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c", (1, 1)),
        ("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n7", "@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n+7", (1, 1)),
        ("a\na", "a\na\na", "@@ -1,2 +1,3 @@\n a\n a\n+a", (1, 0)),
        ("x\u2028y", "x\u2028z", "@@ -1,1 +1,1 @@\n-x\u2028y\n+x\u2028z", (1, 1)),
    ]
    for old, new, diff, counts in cases:
        with case((old, new, diff)):
            found = replacement(old, new)
            assert (found.diff, (found.added, found.removed)) == (diff, counts)


@pytest.mark.costs
def test_a_large_text_is_compared_in_linear_time() -> None:
    """Ten times the lines take no more than 40 times as long."""
    long, short = (partial(replacement, "a\nb\n" * lines, "b\na\n" * lines) for lines in (50_000, 5_000))
    assert not takes_more(long, 40, short, 0.04)
