"""What decoders keep about the calls that have not ended."""

from __future__ import annotations

from agentwatch.agents.open_calls import OpenCalls, remember


def test_the_oldest_call_is_dropped() -> None:
    """At most 1,024 calls are open; the next one replaces the one that has been open for the longest time."""
    calls = OpenCalls[int]()
    for number in range(1030):
        calls.keep(f"call-{number}", number)
    assert (len(calls), next(iter(calls.items()))) == (1024, ("call-6", 6))


def test_a_call_with_a_long_id_or_name_is_not_kept() -> None:
    """Neither an id nor a name of more than 1,000 characters stays in memory."""
    calls = OpenCalls[None]()
    calls.keep("x" * 1000, None, "x" * 1000)
    calls.keep("x" * 1001, None)
    calls.keep("y", None, "x" * 1001)
    assert list(calls) == ["x" * 1000]


def test_the_oldest_value_of_a_table_is_dropped() -> None:
    """A value that is replaced keeps its place; one more than the limit replaces the oldest."""
    kept = {"a": 1, "b": 2}
    remember(kept, "a", 3, 2)
    assert list(kept.items()) == [("a", 3), ("b", 2)]
    remember(kept, "c", 4, 2)
    assert list(kept.items()) == [("b", 2), ("c", 4)]
