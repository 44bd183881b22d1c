"""Finds the items that two sequences have in common, in bounded time.

`difflib` comes first: it prefers consecutive matches, which are the easiest to read. It takes quadratic time
or more if an item occurs often, so its steps are counted in advance. When the limit of steps is reached, the
rest is matched by the longest common subsequence, with a row of bits at a time. If the rest is too large for
that, equal items are paired in the order in which they occur.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

MOST_STEPS = 8_000_000
"""Comparisons that difflib may make: 0.8 s."""
_STEPS_PER_ITEM = 400
"""Comparisons for each item of the shorter sequence. Two runs of 1,000 calls need 150 each."""
_MOST_BITS = 200_000_000
"""The size of the table of the longest common subsequence: 25 MB, as for two runs of 14,000 calls; 0.2 s."""


class Matching(NamedTuple):
    """Which items of two sequences match."""

    pairs: list[tuple[int, int]]
    """The indices of equal items, ascending in both sequences."""
    is_exact: bool
    """Whether a better match is very unlikely; False if long sequences repeat the same few items."""


def matching(a: Sequence[Hashable], b: Sequence[Hashable], most_steps: int = MOST_STEPS) -> Matching:
    """Return the items that two sequences have in common, in the same order.

    Args:
        a: The first sequence.
        b: The second sequence.
        most_steps: The number of comparisons for the accurate part.

    Example:
        >>> matching("abcd", "bxd").pairs
        [(1, 0), (3, 2)]
    """
    numbers: dict[Hashable, int] = {}
    first = [numbers.setdefault(item, len(numbers)) for item in a]
    second = [numbers.setdefault(item, len(numbers)) for item in b]
    head, tail = _equal_ends(first, second)
    pairs = [(at, at) for at in range(head)]
    most_steps = min(most_steps, _STEPS_PER_ITEM * min(len(a), len(b)))
    middle, is_exact = _middle(first[head : len(a) - tail], second[head : len(b) - tail], most_steps)
    pairs += ((at + head, other + head) for at, other in middle)
    pairs += ((len(a) - left, len(b) - left) for left in range(tail, 0, -1))
    return Matching(pairs, is_exact)


def _equal_ends(a: list[int], b: list[int]) -> tuple[int, int]:
    """Return the number of equal items at the start, and at the end of what remains."""
    most = min(len(a), len(b))
    head = next((at for at in range(most) if a[at] != b[at]), most)
    most -= head
    return head, next((at for at in range(most) if a[-1 - at] != b[-1 - at]), most)


def _middle(a: list[int], b: list[int], most_steps: int) -> tuple[list[tuple[int, int]], bool]:
    """Return the pairs of equal items, and whether all of them were found by difflib."""
    if not a or not b:
        return [], True
    counts = Counter(b)
    steps = [0, *accumulate(1 + counts[item] for item in a)]
    """The comparisons that difflib makes for the items before each index, at most."""
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    pairs: list[tuple[int, int]] = []
    is_exact, ranges = True, deque([(0, len(a), 0, len(b))])
    while ranges:  # the largest parts first: difflib improves them most
        from_a, to_a, from_b, to_b = ranges.popleft()
        most_steps -= steps[to_a] - steps[from_a]
        if most_steps < 0:
            if (to_a - from_a) * (to_b - from_b) <= _MOST_BITS:
                pairs += _by_bits(a, b, range(from_a, to_a), range(from_b, to_b))
            else:
                is_exact = False
                pairs += _by_occurrence(a, b, range(from_a, to_a), range(from_b, to_b))
            continue
        at, other, size = matcher.find_longest_match(from_a, to_a, from_b, to_b)
        if not size:
            continue
        pairs += ((at + nth, other + nth) for nth in range(size))
        if from_a < at and from_b < other:
            ranges.append((from_a, at, from_b, other))
        if at + size < to_a and other + size < to_b:
            ranges.append((at + size, to_a, other + size, to_b))
    pairs.sort()
    return pairs, is_exact


def _by_bits(a: list[int], b: list[int], of_a: range, of_b: range) -> Iterator[tuple[int, int]]:
    """Yield the pairs of the longest common subsequence, the last pair first.

    Of the table of its lengths, a row is one integer, with a bit of 0 where the length grows by 1. The rows
    follow from each other in a few operations on integers (Hyyrö, "Bit-parallel LCS-length computation
    revisited", 2004).
    """
    masks: dict[int, int] = defaultdict(int)
    for column, other in enumerate(of_b):
        masks[b[other]] |= 1 << column
    row = every = (1 << len(of_b)) - 1
    rows = [row]
    for at in of_a:
        equal = row & masks.get(a[at], 0)
        row = ((row + equal) | (row - equal)) & every
        rows.append(row)
    left, column = len(of_a), len(of_b)
    while left and column:
        if rows[left] >> (column - 1) & 1:
            column -= 1
            continue
        left -= 1
        if rows[left] >> (column - 1) & 1:
            column -= 1
            yield of_a[left], of_b[column]


def _by_occurrence(a: list[int], b: list[int], of_a: range, of_b: range) -> list[tuple[int, int]]:
    """Pair the nth occurrence of each item with the nth of the other; return the longest ascending part."""
    places: dict[int, deque[int]] = defaultdict(deque)
    for other in of_b:
        places[b[other]].append(other)
    return ascending([(at, places[a[at]].popleft()) for at in of_a if places.get(a[at])])


def ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of pairs that ascends in the second index; the first ascends already.

    Example:
        >>> ascending([(0, 5), (1, 1), (2, 2), (3, 0)])
        [(1, 1), (2, 2)]
    """
    last: list[int] = []
    """For each length, the smallest second index with which a part of that length ends."""
    ends: list[int] = []
    before = [-1] * len(pairs)
    for at, (_, other) in enumerate(pairs):
        length = bisect_left(last, other)
        before[at] = ends[length - 1] if length else -1
        if length == len(last):
            last.append(other)
            ends.append(at)
        else:
            last[length], ends[length] = other, at
    found, at = [], ends[-1] if ends else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]
