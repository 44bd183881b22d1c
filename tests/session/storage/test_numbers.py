"""A list of numbers in an unlinked file behaves as a list in memory."""

from __future__ import annotations

import os
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.session import storage as module
from agentwatch.session import storage as spill_module
from agentwatch.session.storage import Numbers, Spill
from tests.builders.lines import PROPERTY

KINDS = st.sampled_from(["append", "append", "append", "set", "pop"])
STEPS = st.lists(st.tuples(KINDS, st.integers(0, 2**32 - 1)))


@PROPERTY
@given(STEPS, st.sampled_from([8, 1 << 20]), st.booleans())
def test_numbers_are_those_of_a_list(steps: list[tuple[str, int]], most_bytes: int, is_refused: bool) -> None:
    """After any steps, every number is that of a list, also where the file cannot be changed."""

    def refuse(*_: object) -> int:
        raise OSError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "PAGE", 4)
        patched.setattr(module, "_MOST_PAGES", 2)
        patched.setattr(spill_module, "_MOST_BYTES", most_bytes)
        found, expected = Numbers("I", Spill()), list[int]()
        for number in range(30):
            found.append(number)
            expected.append(number)
        if is_refused:
            patched.setattr(os, "pwrite", refuse)
        for step, number in steps:
            if step == "append":
                found.append(number)
                expected.append(number)
            elif expected and step == "set":
                found[number % len(expected)] = expected[number % len(expected)] = number
            elif expected:
                assert found.pop() == expected.pop()
        assert len(found) == len(expected)
        assert [found[index] for index in range(len(found))] == expected
        for start in range(0, len(found), 2):
            assert list(found.part(start, start + 2)) == expected[start : start + 2]


def test_all_numbers_can_be_removed() -> None:
    """Removing every number reads the older pages again, and leaves an empty list that can grow."""
    found = Numbers("Q", Spill())
    for number in range(5000):
        found.append(number)
    found[0] = 7
    assert [found.pop() for _ in range(5000)] == [*range(4999, 0, -1), 7]
    assert len(found) == 0
    found.append(1)
    assert found[0] == 1


@pytest.mark.system
def test_numbers_take_no_memory() -> None:
    """A million numbers of four bytes take less than 2 MB, most of it the newest bytes of the spill."""
    tracemalloc.start()
    found = Numbers("I", Spill())
    for number in range(1_000_000):
        found.append(number)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2_000_000
    assert found[0] + found[500_000] + found[999_999] == 1_499_999


@PROPERTY
@given(
    st.lists(st.tuples(st.booleans(), KINDS, st.integers(0, 2**32 - 1))), st.integers(0, 40), st.booleans()
)
def test_a_prefix_and_its_list_change_apart(
    steps: list[tuple[bool, str, int]], length: int, is_pickled: bool
) -> None:
    """After any steps on a list, its prefix or its copy, each is what its own steps have made."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "PAGE", 4)
        patched.setattr(module, "_MOST_PAGES", 2)
        whole, expected = Numbers("I", Spill()), list(range(40))
        for number in expected:
            whole.append(number)
        whole[3] = expected[3] = 99
        part, expected_part = whole.prefix(length), expected[:length]
        if is_pickled:
            part, expected_part = Numbers.__new__(Numbers), expected[:]
            part.__setstate__(whole.__getstate__())
        for is_part, step, number in steps:
            found, wanted = (part, expected_part) if is_part else (whole, expected)
            if step == "append":
                found.append(number)
                wanted.append(number)
            elif wanted and step == "set":
                found[number % len(wanted)] = wanted[number % len(wanted)] = number
            elif wanted:
                assert found.pop() == wanted.pop()
        assert [part[index] for index in range(len(part))] == expected_part
        assert [whole[index] for index in range(len(whole))] == expected
