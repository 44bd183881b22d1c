"""Places that overlap become one."""

from __future__ import annotations

from agentwatch.output.redact.mask import Found, joined


def test_places_are_sorted_and_do_not_overlap() -> None:
    """Overlapping places are joined, and the kind is that of the one that was found first."""
    found = [Found(5, 9, "jwt"), Found(20, 22, "key"), Found(3, 12, "token"), Found(0, 3, "user name")]
    assert joined(found) == [Found(0, 3, "user name"), Found(3, 12, "jwt"), Found(20, 22, "key")]


def test_a_place_within_another_adds_nothing() -> None:
    """A place within another one of a better kind leaves it as it is."""
    assert joined([Found(0, 9, "jwt"), Found(2, 4, "key")]) == [Found(0, 9, "jwt")]
    assert joined([Found(2, 4, "key"), Found(0, 9, "jwt")]) == [Found(0, 9, "key")]
