"""The time to read a recording of any format grows with its size, and with the size of its fields."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Any

import pytest

from agentwatch.agents import Decoder
from tests.builders.captures import Captures
from tests.builders.formats.samples import named, of_a_format, read
from tests.conftest import case
from tests.harness.costs import takes_more

pytestmark = pytest.mark.costs

_TIMES = 12
_QUICK_SECONDS = 0.072
_MOST_SECONDS = 2.0


def test_a_long_recording_takes_time_by_its_length(captures: Captures) -> None:
    """A recording with its lines twelve times over takes at most three times twelve times as long."""
    for title, data, name in of_a_format(captures):
        with case(title):
            long = partial(read, (data.rstrip(b"\n") + b"\n") * _TIMES, name)
            assert not takes_more(long, 3 * _TIMES, partial(read, data, name), _QUICK_SECONDS)


def grown(value: Any, by: int) -> Any:
    """Return a JSON value with each text of several words made long."""
    if isinstance(value, dict):
        return {key: grown(inner, by) for key, inner in value.items()}
    if isinstance(value, list):
        return [grown(inner, by) for inner in value]
    if isinstance(value, str) and (" " in value or "\n" in value):
        return "\n".join([value] * (by // max(len(value), 1)))
    return value


def test_a_huge_field_takes_time_by_its_length(captures: Captures) -> None:
    """A line whose texts have 200,000 characters each is read, and shown, within two seconds."""
    tried = 0
    for title, data, name in of_a_format(captures):
        decoder = Decoder(named(name))
        for number, line in enumerate(data.split(b"\n")[:40]):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            big = json.dumps(grown(value, 200_000)).encode()
            if len(big) > 4_000_000:
                continue
            with case(f"{title}, line {number}"):
                start = time.process_time()
                decoder.decode(big)
                list(decoder.blocks(big, "x"))
                assert time.process_time() - start < _MOST_SECONDS
            tried += 1
    assert tried
