"""What is not valid by itself is not made valid by the deltas that it is read with."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.events import Malformed
from tests.builders.lines import delta, init, result, session
from tests.wire.test_bursts import at_once, bursts, deltas, told

T = 1_760_000_000_077


def with_text(raw: bytes) -> bytes:
    """Return a delta whose text stands in it as these bytes."""
    return delta("x", T).replace(b'"x"', b'"' + raw + b'"')


def with_time(raw: bytes) -> bytes:
    """Return a delta whose time stands in it as these bytes."""
    return delta("x", T).replace(b"1760000000077", raw)


MALFORMED = {
    "a list over three texts": [with_text(b'a",["b'), with_text(b"c"), with_text(b'd"],"e')],
    "an object over two texts": [with_text(b'a",{"b":"c'), with_text(b'd"},"e')],
    "a quote too many, and an escape": [with_text(b'a","b'), with_text(b"c\\"), with_text(b"d")],
    "an escape that the next text ends": [with_text(b"\\u12"), with_text(b"34")],
    "a character that the next text ends": [with_text(b"\xe2"), with_text(b"\x82\xac")],
    "two times in one": [with_time(b"176000,900077"), with_time(b"1760000000077")],
    "a list over two times": [with_time(b"[760000000077"), with_time(b"176000000007]")],
    "no time": [with_time(b"             "), with_time(b"176000,900077")],
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_wrong_with_a_line_stays_with_it(tmp_path: Path, name: str) -> None:
    """Lines that would be right together are told one by one, each as what it is."""
    lines = [init(), *deltas(3), *MALFORMED[name], *deltas(4, T + 1000), result("…")]
    read = at_once(lines, tmp_path / "r.ndjson")
    assert told(read) == told(session(*lines))
    if b"\xe2" not in b"".join(lines):
        assert any(type(odd.event) is Malformed for odd in read.lines.odd)


@pytest.mark.parametrize("raw", [b"    760000000", b"-760000000077", b"0760000000077"])
def test_a_time_that_is_a_string_is_read_as_one(tmp_path: Path, raw: bytes) -> None:
    """A time in quotes may hold what a number may not, and a number what such a time may not."""
    quoted = [line.replace(b"176", b'"176').replace(b"}\n", b'"}\n') for line in deltas(3, T)]
    odd = quoted[0].replace(b"1760000000077", raw)
    lines = [init(), *quoted, odd, result("…")]
    assert told(at_once(lines, tmp_path / "r.ndjson")) == told(session(*lines))


def test_a_time_is_looked_for_where_a_number_stands(tmp_path: Path) -> None:
    """Digits within a string that are those of the time are not taken for it."""
    form = b'{"type":"thinking","subtype":"delta","timestamp_ms":%d,"text":"a","note":"b:%d,c"}\n'
    lines = [init(), *(form % (T, T + n) for n in range(4)), result("…")]
    assert told(at_once(lines, tmp_path / "r.ndjson")) == told(session(*lines))


def test_one_line_that_is_not_valid_costs_only_itself() -> None:
    """The deltas on both sides of a line that is no JSON are still read many at once."""
    lines = [init(), *deltas(1), *deltas(32), with_text(b"\t"), *deltas(32)]
    assert bursts(lines) == [32, 32]
    assert bursts([init(), *deltas(1), *deltas(20), with_text(b"\t"), *deltas(20)])[0] == 20
