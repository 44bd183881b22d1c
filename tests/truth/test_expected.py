"""The summaries of captures match what was read from their raw lines by hand or by a script."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentwatch.output.summary import summary
from agentwatch.session.session import Session
from tests.builders.captures import FOREIGN, Captures
from tests.conftest import ROOT, case
from tests.harness.program import watch


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
    """Each sample has one, value for value."""
    # Each sample has an expected summary.
    found = captures.find("agents/**/*.jsonl", "disk/**/*.jsonl", "disk/gemini-chat/**/session-*.json")
    if captures.is_own:
        found += captures.find("real/**/*.jsonl", "real/*/full.ndjson")
    assert {captures.name(path) for path in found} <= set(expected(captures))
    # The summary of a sample has the expected members, value for value; a long text has its digest.
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


EXPECTED = {path.stem: path for path in (ROOT / "tests/expected/shared/cursor").glob("*.json")}


def recordings() -> dict[str, Path]:
    """Return the recordings of the documentation and of real runs, by their names."""
    found = Captures(Path(FOREIGN)).find("docs/*.ndjson", "cursor/*.ndjson")
    return {path.stem: path for path in found}


@pytest.mark.shared
def test_a_recording_has_its_expected_summary(session_of: Callable[[bytes], Session]) -> None:
    """Each recording of the documentation and of a real run has one."""
    # Every recording of the documentation and of a real run has an expected summary.
    assert set(recordings()) == set(EXPECTED)
    assert len(EXPECTED) == 15
    # The summary of a real recording equals the one that was checked by hand, value for value.
    for name, path in recordings().items():
        with case(name):
            read = session_of(path.read_bytes())
            assert json.loads(b"".join(summary(read))) == json.loads(EXPECTED[name].read_text())


@pytest.mark.shared
@pytest.mark.parametrize("name", ["docs-es", "docs-fr", "docs-ja", "docs-ko"])
def test_the_documentation_is_printed_in_its_own_phrases(name: str) -> None:
    """The brief text of the documentation's examples is what the documentation prints."""
    done = watch(recordings()[name], "--print", "--output-format", "text", "--brief")
    assert (done.returncode, done.stdout) == (0, b"Read file\nCreated new file\n")
