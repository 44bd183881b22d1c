"""The summaries of others' recordings of Cursor match summaries written by hand from the recorded lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.output.summary import summary
from agentwatch.session.session import Session
from tests.builders.captures import FOREIGN, Captures
from tests.conftest import ROOT, case
from tests.harness.program import watch

pytestmark = pytest.mark.shared
EXPECTED = {path.stem: path for path in (ROOT / "tests/expected/shared/cursor").glob("*.json")}


def recordings() -> dict[str, Path]:
    """Return the recordings of the documentation and of real runs, by their names."""
    found = Captures(Path(FOREIGN)).find("docs/*.ndjson", "cursor/*.ndjson")
    return {path.stem: path for path in found}


def test_a_recording_has_its_expected_summary(session_of: Callable[[bytes], Session]) -> None:
    """The summary of a real recording equals the one that was checked by hand, value for value."""
    for name, path in recordings().items():
        with case(name):
            read = session_of(path.read_bytes())
            assert json.loads(b"".join(summary(read))) == json.loads(EXPECTED[name].read_text())


def test_every_recording_has_an_expected_summary() -> None:
    """Every recording of the documentation and of a real run has an expected summary."""
    assert set(recordings()) == set(EXPECTED)
    assert len(EXPECTED) == 15


@pytest.mark.parametrize("name", ["docs-es", "docs-fr", "docs-ja", "docs-ko"])
def test_the_documentation_is_printed_in_its_own_phrases(name: str) -> None:
    """The brief text of the documentation's examples is what the documentation prints."""
    done = watch(recordings()[name], "--print", "--output-format", "text", "--brief")
    assert (done.returncode, done.stdout) == (0, b"Read file\nCreated new file\n")
