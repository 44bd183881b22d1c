"""A timestamp is read as UTC unless it has an offset; anything else is no time."""

from __future__ import annotations

import pytest

from agentwatch.wire.iso_time import iso_ms


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("1970-01-01T00:00:01.500Z", 1500),
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("0001-01-01T00:00:00+14:00", -62135647200000),
        *(("x", None), ("", None), (5, None), (None, None), ([], None), ("1" * 1000, None)),
    ],
)
def test_a_time_is_in_milliseconds(value: object, found: int | None) -> None:
    """A value that is no timestamp, is None; a time may be before the epoch."""
    assert iso_ms({"at": value}, "at") == found
