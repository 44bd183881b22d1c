"""Lines of every format whose fields are absent or of any type are read without an exception."""

from __future__ import annotations

import json
from itertools import islice, product

import pytest

from agentwatch.agents import Decoder
from agentwatch.api.check_agent import ABSENT, WRONG, check_agent, paths, replaced, shape
from tests.builders.captures import Captures
from tests.builders.formats.samples import named, of_a_format
from tests.conftest import case

pytestmark = pytest.mark.slow
_WITHOUT_EVENTS = "disk/codex-rollout/agent-sessions/schema_drift.jsonl"
"""A capture whose lines are all unknown."""


@pytest.mark.parametrize(
    "is_first", [pytest.param(True, marks=pytest.mark.costs), pytest.param(False, marks=pytest.mark.long)]
)
def test_every_format_passes_the_check_of_plugins(captures: Captures, is_first: bool) -> None:
    """No changed line makes a built-in format raise, return a wrong type, or take more than linear time.

    The first capture of each format is checked in the stage `costs`, the others in `long`.
    """
    seen: set[str] = set()
    for title, data, name in of_a_format(captures):
        if title != _WITHOUT_EVENTS and (name not in seen) == is_first:
            with case(title):
                check_agent(named(name), data.split(b"\n"))
        seen.add(name)
    assert seen


@pytest.mark.system
@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.system)])
def test_recognition_reads_any_field(captures: Captures, step: int) -> None:
    """Every format is asked about lines with fields of any type, and answers."""
    for title, data, _ in of_a_format(captures):
        seen: set[str] = set()
        with case(title):
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
                fields = paths(value, most_items=2, depth=6)  # and those of the objects in them
                for path, wrong in islice(product(fields, (ABSENT, *WRONG)), 0, None, step):
                    decoder = Decoder()
                    decoder.decode(json.dumps(replaced(value, path, wrong)).encode())
                    decoder.end()
            assert seen
