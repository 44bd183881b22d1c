"""Calls are found by their ids, in a table that takes few bytes for each."""

from __future__ import annotations

import tracemalloc

import pytest

from agentwatch.session import storage
from agentwatch.session.storage import CallIds
from tests.builders.lines import DONE, completed, init, session, started


def test_each_call_is_found_by_its_ids() -> None:
    """Of 5,000 calls in two sessions each is found by both of its ids, and no other is."""
    ids = CallIds()
    for number in range(1, 5_001):
        ids.add(1, "s-1" if number % 2 else None, f"c{number // 2}", number)
    for number in range(1, 5_001):
        assert number in ids.numbers(1, "s-1" if number % 2 else None, f"c{number // 2}")
    assert sum(len([*ids.numbers(1, "s-2", f"c{number}")]) for number in range(5_000)) <= 1
    assert sum(len([*ids.numbers(2, "s-1", f"c{number}")]) for number in range(5_000)) <= 1


def test_calls_whose_hashes_are_equal_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls stay apart and paired even if all of their ids have the same hash."""
    monkeypatch.setattr(storage, "hash", lambda _ids: 63, raising=False)
    lines = [line for number in range(100) for line in (started("read", f"c{number}", path=f"{number}"),)]
    ends = [completed("read", f"c{number}", DONE) for number in reversed(range(100))]
    read = session(init(), *lines, *ends)
    assert [(call.call_id, call.target, call.outcome) for call in read.calls] == [
        (f"c{number}", f"{number}", "succeeded") for number in range(100)
    ]


@pytest.mark.system
def test_a_call_takes_at_most_24_bytes() -> None:
    """The ids of 100,000 calls take less than 2.4 MB."""
    tracemalloc.start()
    ids = CallIds()
    for number in range(1, 100_001):
        ids.add(1, "session", f"call-{number}", number)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2_400_000
