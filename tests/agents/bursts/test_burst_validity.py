"""Lines that are invalid one by one stay invalid when they are decoded as one burst of deltas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents import delta_frames
from agentwatch.session.events import Malformed
from tests.agents.bursts.test_delta_bursts import at_once, bursts, deltas, facts_of
from tests.builders.lines import delta, init, result, session
from tests.conftest import case

T = 1_760_000_000_077


def with_text(raw: bytes) -> bytes:
    """Return a delta with these raw bytes as its text."""
    return delta("x", T).replace(b'"x"', b'"' + raw + b'"')


def with_time(raw: bytes) -> bytes:
    """Return a delta with these raw bytes as its time."""
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


def test_invalid_lines_stay_invalid_in_a_burst(tmp_path: Path) -> None:
    """Lines that are valid only when joined are decoded one by one, each as malformed."""
    for name, odd in MALFORMED.items():
        with case(name):
            lines = [init(), *deltas(3), *odd, *deltas(4, T + 1000), result("…")]
            read = at_once(lines, tmp_path / "r.ndjson")
            assert facts_of(read) == facts_of(session(*lines))
            if b"\xe2" not in b"".join(lines):
                assert any(type(odd.event) is Malformed for odd in read.lines.odd)


@pytest.mark.parametrize("raw", [b"    760000000", b"-760000000077", b"0760000000077"])
def test_a_time_that_is_a_string_is_read_as_one(tmp_path: Path, raw: bytes) -> None:
    """A time in quotes is decoded as a string, which allows other forms than a number does."""
    quoted = [line.replace(b"176", b'"176').replace(b"}\n", b'"}\n') for line in deltas(3, T)]
    odd = quoted[0].replace(b"1760000000077", raw)
    lines = [init(), *quoted, odd, result("…")]
    assert facts_of(at_once(lines, tmp_path / "r.ndjson")) == facts_of(session(*lines))


def test_digits_in_a_string_are_not_the_time(tmp_path: Path) -> None:
    """Digits inside a string that equal those of the time are not read as the time."""
    form = b'{"type":"thinking","subtype":"delta","timestamp_ms":%d,"text":"a","note":"b:%d,c"}\n'
    lines = [init(), *(form % (T, T + n) for n in range(4)), result("…")]
    assert facts_of(at_once(lines, tmp_path / "r.ndjson")) == facts_of(session(*lines))


def test_an_invalid_line_interrupts_only_its_burst() -> None:
    """Deltas before and after an invalid line are decoded in bursts; after it, the bursts grow from two."""
    lines = [init(), *deltas(1), *deltas(32), with_text(b"\t"), *deltas(32)]
    assert bursts(lines) == [32, 2, 4, 8, 16, 2]
    assert bursts([init(), *deltas(1), *deltas(20), with_text(b"\t"), *deltas(20)])[0] == 20


@pytest.mark.parametrize("valid", [0, 1, 2, 7])
def test_invalid_deltas_are_not_decoded_again_from_each_of_them(
    valid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However invalid deltas and valid ones alternate, each line is decoded a bounded number of times."""
    decoded = 0

    def counted(frame: Any, lines: list[bytes]) -> Any:
        nonlocal decoded
        decoded += len(lines)
        return decode_burst(frame, lines)

    decode_burst = delta_frames._decode_burst
    monkeypatch.setattr(delta_frames, "_decode_burst", counted)
    lines = [init(), *deltas(1), *[*deltas(valid), with_text(b"\t")] * (1600 // (valid + 1))]
    bursts(lines)
    assert decoded < 8 * len(lines)
