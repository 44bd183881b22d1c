"""The summaries of other agents' sessions match what was read from their raw lines by hand or by a script.

Each file in `tests/expected/FORMAT/` has the path of its recording below the folder of recordings, and the
members of the summary that the recording determines. Calls are compared by the members that are given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentwatch.outputs.summary import summary
from agentwatch.session import Session
from tests.conftest import ROOT, SHARED

EXPECTED = sorted(path for path in (ROOT / "tests/expected").glob("*/*.json") if path.parent.name != "cursor")


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_sample_has_its_expected_summary(path: Path, opened_session: Callable[[Path], Session]) -> None:
    """The summary of a sample has the expected members, value for value; a long text has its digest."""
    expected = json.loads(path.read_text())
    recording = SHARED / expected["recording"]
    if not (recording.exists() or recording.parent.exists()):  # a session in a database is no file
        pytest.skip("the recordings of others are not here")
    found = json.loads(b"".join(summary(opened_session(recording))))
    found["text_sha256"] = hashlib.sha256(found["text"].encode()).hexdigest()
    wanted: dict[str, Any] = expected["summary"]
    calls = wanted.pop("calls")
    assert {key: found[key] for key in wanted} == wanted
    picked = [{key: call[key] for key in want} for call, want in zip(found["calls"], calls, strict=False)]
    assert picked == calls
    assert len(found["calls"]) == len(calls)


def test_every_sample_has_an_expected_summary() -> None:
    """Each sample has an expected summary."""
    known = {json.loads(path.read_text())["recording"] for path in EXPECTED}
    found = (path for folder in ("agents", "disk") for path in (SHARED / folder).rglob("*.jsonl"))
    samples = {path.relative_to(SHARED).as_posix() for path in found}
    assert samples - known == set()
