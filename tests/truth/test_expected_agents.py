"""The summaries of agents' sessions match what was read from their raw lines by hand or by a script.

Each file in `tests/expected/FORMAT/` has the path of its recording below the folder of captures, and the
members of the summary that the recording determines. Calls are compared by the members that are given.
`tests/expected/shared/FORMAT/` has those of the captures of others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentwatch.output.summary import summary
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.conftest import ROOT, case

_UNKNOWN = {"real/vibe-3.0.2/full.ndjson"}
"""Captures of ours in formats without a decoder."""


def expected(captures: Captures) -> dict[str, dict[str, Any]]:
    """Return the expected members of the summary of each recording, by its path."""
    folder = ROOT / ("tests/expected" if captures.is_own else "tests/expected/shared")
    paths = sorted(path for path in folder.glob("*/*.json") if path.parent.name != "cursor")
    found = [json.loads(path.read_text()) for path in paths]
    assert found
    return {each["recording"]: each["summary"] for each in found}


def test_a_sample_has_its_expected_summary(
    captures: Captures, opened_session: Callable[[Path], Session]
) -> None:
    """The summary of a sample has the expected members, value for value; a long text has its digest."""
    for name, wanted in expected(captures).items():
        with case(name):
            found = json.loads(b"".join(summary(opened_session(captures.root / name))))
            found["text_sha256"] = hashlib.sha256(found["text"].encode()).hexdigest()
            calls = wanted.pop("calls")
            assert {key: found[key] for key in wanted} == wanted
            picked = [
                {key: call[key] for key in want} for call, want in zip(found["calls"], calls, strict=False)
            ]
            assert picked == calls
            assert len(found["calls"]) == len(calls)


def test_every_sample_has_an_expected_summary(captures: Captures) -> None:
    """Each sample has an expected summary."""
    found = captures.find("agents/**/*.jsonl", "disk/**/*.jsonl", "disk/gemini-chat/**/session-*.json")
    if captures.is_own:
        found += captures.find("real/**/*.jsonl", "real/*/full.ndjson")
    assert {captures.name(path) for path in found} - _UNKNOWN <= set(expected(captures))
