"""`Heights`, the prefix sums of block heights, equals a plain list after any sequence of changes."""

from __future__ import annotations

import random
from bisect import bisect_right
from itertools import accumulate

import pytest

from agentwatch.screen.transcript.heights import Heights


def check(heights: Heights, expected: list[int]) -> None:
    """Compare every result with a sum over a plain list."""
    tops = list(accumulate(expected, initial=0))
    assert [heights[index] for index in range(len(heights))] == expected
    assert [heights.top(index) for index in range(len(expected) + 1)] == tops
    assert heights.total() == tops[-1]
    for line in range(tops[-1] + 2):
        index = bisect_right(tops, line) - 1
        assert heights.at(line) == (index, line - tops[index])


@pytest.mark.parametrize("seed", range(24))
def test_heights_equal_a_plain_list(seed: int) -> None:
    """After any changes, tops, lines and the total equal those of a plain list, across groups too."""
    chance = random.Random(seed)
    expected = [chance.choice((0, 0, 1, 1, 3, 9)) for _ in range(chance.choice((0, 20, 60, 125, 400)))]
    if seed % 3 == 0:
        expected[64:192] = [0] * len(expected[64:192])
    heights = Heights(expected)
    check(heights, expected)
    for _ in range(120):
        match chance.randrange(4):
            case 0 if expected:
                assert heights.pop() == expected.pop()
            case 1 if expected:
                index, height = chance.randrange(len(expected)), chance.choice((0, 1, 2, 30))
                heights[index] = expected[index] = height
            case _:
                expected.append(chance.choice((0, 1, 4, 11)))
                heights.append(expected[-1])
        check(heights, expected)


def test_no_heights() -> None:
    """Without any heights, line 0 is past the end."""
    check(Heights(), [])
