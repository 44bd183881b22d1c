"""JSON of stores is read and written, whatever it contains."""

from __future__ import annotations

from agentwatch.sources.stores.json_values import as_line, parsed
from tests.conftest import case


def test_a_value_is_read() -> None:
    """What orjson rejects is read by Python's parser; what neither reads is None."""
    values: dict[str | bytes, object] = {
        b'{"a":1}': {"a": 1},
        '{"a":1}': {"a": 1},
        b'["\\ud83d"]': ["\ud83d"],
        b'["\xff"]': ["\ufffd"],
        '"\ud83d"': "\ud83d",
        b"{": None,
        b"[" * 100_000: None,
    }
    for data, value in values.items():
        with case(f"{data!r:.80}"):
            assert parsed(data) == value


def test_an_object_is_written() -> None:
    """What orjson cannot write is written by Python's writer; what neither writes is None."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert as_line({"a": 1}) == b'{"a":1}\n'
    assert as_line({"a": "\ud83d"}) == b'{"a": "\\ud83d"}\n'
    assert as_line({"a": 1 << 70}) == b'{"a": %d}\n' % (1 << 70)
    assert as_line({"a": deep}) is None
    while deep:  # a list nested this deeply is not freed as a whole
        [deep] = deep  # type: ignore[assignment]
