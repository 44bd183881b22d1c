"""Times in ISO 8601 are read as milliseconds since the epoch."""

from __future__ import annotations

from agentwatch.agents.on_disk import iso_ms
from tests.conftest import case


def test_a_time_is_read_in_its_zone() -> None:
    """A time is exact to the millisecond; without a zone it is in UTC."""
    cases: list[tuple[str, int]] = [
        ("2026-11-21T22:50:55.616Z", 1795301455616),
        ("2026-11-21T23:50:55.616+01:00", 1795301455616),
        ("2026-11-21T22:50:55.616", 1795301455616),
        ("1970-01-01T00:00:00Z", 0),
        ("0001-01-01T00:00:00+14:00", -62135647200000),
    ]
    for text, expected in cases:
        with case(text):
            assert iso_ms(text) == expected


def test_another_value_is_no_time() -> None:
    """Another type, another text and a very long text are no times."""
    cases: list[object] = [None, 5, "", "soon", "2026-99-99T00:00:00Z", ["x"], "2026" * 100]
    for value in cases:
        with case(value):
            assert iso_ms(value) is None
