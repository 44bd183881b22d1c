"""The common part of two sequences, compared with the longest common subsequence."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.output.compare.alignment import ascending, matching

ITEMS = st.lists(st.sampled_from("abcd"), max_size=14)


def longest(a: list[str], b: list[str]) -> int:
    """Return the length of the longest common subsequence, by its definition."""
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for row, item in enumerate(a):
        for column, other in enumerate(b):
            lengths[row + 1][column + 1] = (
                lengths[row][column] + 1
                if item == other
                else max(lengths[row][column + 1], lengths[row + 1][column])
            )
    return lengths[-1][-1]


def is_common(pairs: list[tuple[int, int]], a: list[str], b: list[str]) -> bool:
    """Return whether the pairs name equal items, ascending in both."""
    ascends = all(x < u and y < v for (x, y), (u, v) in itertools.pairwise(pairs))
    return ascends and all(a[at] == b[other] for at, other in pairs)


@given(ITEMS, ITEMS, st.sampled_from([0, 5, 30, 1_000]))
def test_pairs_are_equal_items_in_order(a: list[str], b: list[str], steps: int) -> None:
    """Whatever the budget is, each pair names equal items, and no item has two partners."""
    assert is_common(matching(a, b, steps).pairs, a, b)


@given(ITEMS, ITEMS)
def test_without_steps_the_longest_common_part_is_found(a: list[str], b: list[str]) -> None:
    """What difflib has no steps left for is matched as completely as possible."""
    assert len(matching(a, b, 0).pairs) == longest(a, b)


@given(ITEMS)
def test_a_sequence_matches_itself(a: list[str]) -> None:
    """Every item of two equal sequences has its partner."""
    assert matching(a, a, 0).pairs == [(at, at) for at in range(len(a))]


def test_consecutive_items_are_preferred() -> None:
    """With steps, a run of equal items stays together, although another choice is as long."""
    assert matching("abcxa", "zabcy").pairs == [(0, 1), (1, 2), (2, 3)]


def test_a_table_that_is_too_large_is_matched_by_occurrence() -> None:
    """Two hostile runs of 20,000 calls take the time of a sort, and the result says so."""
    a, b = ["x", *["k"] * 20_000, "y"], ["z", *["k"] * 20_000, "w"]
    found = matching(a, b)
    assert not found.is_exact
    assert len(found.pairs) == 20_000
    assert is_common(found.pairs, a, b)


@given(st.permutations(range(9)))
def test_the_ascending_part_is_a_longest_one(order: list[int]) -> None:
    """It ascends, and none is longer."""
    found = [other for _, other in ascending(list(enumerate(order)))]
    assert found == sorted(found)
    assert len(found) == longest([*map(str, order)], [*map(str, sorted(order))])
