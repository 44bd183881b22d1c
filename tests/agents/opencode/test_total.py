"""No line of opencode's makes the decoder fail, whatever its fields are."""

from __future__ import annotations

import json
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents import Decoder
from agentwatch.agents.opening import store_for
from agentwatch.api.check_agent import WRONG, paths, replaced
from agentwatch.session.events import Outcome
from tests.builders.captures import OURS
from tests.builders.lines import ANY_JSON, PROPERTY, line, session
from tests.conftest import case

STREAM = OURS.root / "agents/opencode/own-1.18.33-full.jsonl"
STORED = OURS.root / "disk/opencode-db/own-1.18.33/opencode.db/ses_dffa9fa12ffeEeBbv1p8Var6C9"
SAMPLES = [STREAM, STORED]


def lines(path: Path) -> list[bytes]:
    """Return the lines of a sample, or those of a stored session."""
    store = store_for(path)
    return path.read_bytes().splitlines(keepends=True) if store is None else store.new_lines()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_session_may_end_at_any_line(path: Path) -> None:
    """A session that is cut has the first calls and the beginning of the text of the whole."""
    data = lines(path)
    cuts = [session(*data[:end]) for end in range(1, len(data) + 1)]
    for before, after in pairwise(cuts):
        assert after.text.startswith(before.text)
        known = [call.call_id for call in before.calls]
        assert [call.call_id for call in after.calls][: len(known)] == known
    assert {found.outcome for found in cuts} <= {Outcome.UNFINISHED, Outcome.SUCCEEDED}
    assert all(found.lines.unknown == 0 for found in cuts)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_session_may_begin_at_any_line(path: Path) -> None:
    """A session whose beginning is missing is opencode's, and has no calls but its own."""
    data = lines(path)
    whole = [call.call_id for call in session(*data).calls]
    for start in range(1, len(data)):
        found = session(*data[start:])
        assert found.format == "opencode"
        assert {call.call_id for call in found.calls} <= set(whole)


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.system)])
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_field_may_have_any_type(path: Path, step: int) -> None:
    """Each member of each line is replaced by values of other types, and the call's blocks are read."""
    given = [(data, json.loads(data)) for data in lines(path)]
    changes = [(data, fields, member) for data, fields in given for member in paths(fields)]
    for (data, fields, member), value in islice(product(changes, WRONG), 0, None, step):
        with case(f"{member} is {value!r} in {data!r}"):
            changed = line(replaced(fields, member, value) | {"z": 1})
            decoder = Decoder()
            decoder.decode(data)
            decoder.decode(changed)
            decoder.blocks(changed.rstrip())


@pytest.mark.system
@PROPERTY
@given(st.lists(st.tuples(st.integers(0, 74), st.integers(0, 200), ANY_JSON), max_size=12))
def test_many_wrong_fields_end_nothing(changes: list[tuple[int, int, Any]]) -> None:
    """A session with any values in any places is read to its end."""
    fields = [json.loads(data) for data in lines(STORED)]
    for number, member, value in changes:
        places = [*paths(fields[number % len(fields)])]
        place = places[member % len(places)]
        fields[number % len(fields)] = replaced(fields[number % len(fields)], place, value)
    found = session(*map(line, fields))
    assert found.is_closed
