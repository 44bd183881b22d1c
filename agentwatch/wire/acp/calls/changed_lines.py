"""Counts the lines that differ between two texts."""

from __future__ import annotations

_MOST_DIFFERENCES = 200
"""More differing lines are not counted: the comparison takes time proportional to their square."""
_MOST_COMPARED = 200_000
"""The number of pairs of lines that are compared at most: 20 ms."""


def changed_lines(old: str, new: str) -> tuple[int, int] | None:
    """Return the numbers of added and removed lines; None if they differ too much to be compared.

    The length of the shortest edit script is found as Myers describes it (An O(ND) Difference Algorithm,
    1986), after the equal lines at both ends are left out.

    Example:
        >>> changed_lines("a\\nb\\nc\\n", "a\\nB\\nc\\nd\\n")
        (2, 1)
    """
    before, after = _lines(old), _lines(new)
    least = min(len(before), len(after))
    start = next((at for at in range(least) if before[at] != after[at]), least)
    rest = least - start
    end = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    if not before or not after:
        return len(after), len(before)
    steps = _edit_steps(before, after)
    growth = len(after) - len(before)
    return None if steps is None else ((steps + growth) // 2, (steps - growth) // 2)


def _edit_steps(before: list[str], after: list[str]) -> int | None:
    """Return the number of additions and removals that turn one list into the other."""
    goal = len(before) - len(after)
    furthest = {1: 0}
    compared = 0
    for steps in range(min(_MOST_DIFFERENCES, len(before) + len(after)) + 1):
        for diagonal in range(-steps, steps + 1, 2):
            down, right = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1) + 1
            first = at = max(down, right)
            while at < len(before) and at - diagonal < len(after) and before[at] == after[at - diagonal]:
                at += 1
            furthest[diagonal] = at
            compared += at - first + 1
        if furthest.get(goal, -1) >= len(before):
            return steps
        if compared > _MOST_COMPARED:
            break
    return None


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]
