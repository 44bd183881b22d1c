"""`Heights`, the prefix sums of block heights, equals a plain list after any sequence of changes."""

import random
import tracemalloc
from bisect import bisect_right
from itertools import accumulate

import pytest

from agentwatch.screen.panes.transcript.block_list import BlockList, Heights
from tests.conftest import case


def check(heights: Heights, expected: list[int]) -> None:
    """Compare every result with a sum over a plain list."""
    tops = list(accumulate(expected, initial=0))
    assert [heights[index] for index in range(len(heights))] == expected
    assert [heights.top(index) for index in range(len(expected) + 1)] == tops
    assert heights.total() == tops[-1]
    for line in range(tops[-1] + 2):
        index = bisect_right(tops, line) - 1
        assert heights.at(line) == (index, line - tops[index])


def test_heights_equal_a_plain_list() -> None:
    """Heights equal those of a plain list, also of none, and while a prefix and its list change apart."""
    # After any changes, tops, lines and the total equal those of a plain list, across groups too.
    for seed in range(8):
        with case(seed):
            chance = random.Random(seed)
            expected = [
                chance.choice((0, 0, 1, 1, 3, 9)) for _ in range(chance.choice((0, 20, 60, 125, 400)))
            ]
            if seed % 3 == 0:
                expected[64:192] = [0] * len(expected[64:192])
            heights = Heights(expected)
            check(heights, expected)
            for step in range(120):
                match chance.randrange(4):
                    case 0 if expected:
                        assert heights.pop() == expected.pop()
                    case 1 if expected:
                        index, height = chance.randrange(len(expected)), chance.choice((0, 1, 2, 30))
                        heights[index] = expected[index] = height
                    case _:
                        expected.append(chance.choice((0, 1, 4, 11)))
                        heights.append(expected[-1])
                if step % 5 == 0:
                    check(heights, expected)
    # A prefix of any length equals the first heights, whatever is changed in either list afterwards.
    for seed in range(12):
        with case(seed):
            chance = random.Random(seed)
            expected = [chance.choice((0, 1, 3, 9)) for _ in range(chance.choice((1, 64, 129, 300)))]
            heights = Heights(expected)
            length = chance.choice((0, len(expected) // 2, len(expected) // 64 * 64, len(expected)))
            part, expected_part = heights.prefix(length), expected[:length]
            for _ in range(60):
                found, wanted = chance.choice(((heights, expected), (part, expected_part)))
                if wanted and chance.random() < 0.5:
                    index, height = chance.randrange(len(wanted)), chance.choice((0, 1, 2, 30))
                    found[index] = wanted[index] = height
                elif wanted and chance.random() < 0.3:
                    assert found.pop() == wanted.pop()
                else:
                    wanted.append(chance.choice((0, 1, 4, 11)))
                    found.append(wanted[-1])
            check(heights, expected)
            check(part, expected_part)
    # Without any heights, line 0 is past the end.
    check(Heights(), [])


@pytest.mark.system
def test_blocks_take_few_bytes() -> None:
    """50,000 blocks and their heights take less than 12 bytes each; each keeps its numbers."""
    tracemalloc.start()
    blocks = BlockList([])
    heights = Heights(spill=blocks.spill)
    for number in range(50_000):
        blocks.add(number, number + 1, number + 2, number % 2, 0, 1, 7, 80)
        heights.append(8)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 12 * 50_000
    assert heights.total() == 8 * 50_000
    blocks[20_000].height = 9
    for number in (0, 20_000, 30_000, 49_999):
        block = blocks[number]
        found = (block.number, block.start, block.end, block.is_code, block.gap, block.measured_width)
        assert found == (number, number + 1, number + 2, number % 2, 1, 80)
        assert block.height == (9 if number == 20_000 else 7)
    blocks.drop_last()
    assert (len(blocks), blocks[-1].number) == (49_999, 49_998)
