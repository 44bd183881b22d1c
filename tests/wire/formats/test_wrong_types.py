"""Lines of every format whose fields are absent or of any type are read without an exception."""

from __future__ import annotations

import json

import pytest

from agentwatch.testing import check_agent
from agentwatch.testing.variants import ABSENT, WRONG, paths, replaced, shape
from agentwatch.wire import Decoder
from tests.builders.formats.samples import OF_A_FORMAT, every_sample, named

_WITHOUT_EVENTS = "codex-rollout-schema_drift"
"""A sample whose lines are all unknown."""


@pytest.mark.parametrize(
    ("data", "name"),
    [each[1:] for each in OF_A_FORMAT if each[0] != _WITHOUT_EVENTS],
    ids=[each[0] for each in OF_A_FORMAT if each[0] != _WITHOUT_EVENTS],
)
def test_every_format_passes_the_check_of_plugins(data: bytes, name: str) -> None:
    """No changed line makes a built-in format raise, return a wrong type, or take more than linear time."""
    check_agent(named(name), data.split(b"\n"))


@every_sample
def test_recognition_reads_any_field(data: bytes, name: str) -> None:
    """Every format is asked about lines with fields of any type, and answers."""
    seen: set[str] = set()
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if not isinstance(value, dict):
            continue
        kind = repr((value.get("type"), value.get("subtype"), shape(value)))
        if kind in seen:
            continue
        seen.add(kind)
        for path in paths(value, most_items=2, depth=6):  # the fields, and those of the objects in them
            for wrong in (ABSENT, *WRONG):
                decoder = Decoder()
                decoder.decode(json.dumps(replaced(value, path, wrong)).encode())
                decoder.end()
    assert seen, name
