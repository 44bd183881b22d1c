"""The summaries of foreign recordings match summaries written by hand from the recorded lines.

The recordings are not ours to distribute; the tests are skipped where they are absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.outputs.summary import summary
from agentwatch.session import Session
from tests.conftest import ROOT, SHARED
from tests.harness.program import watch

EXPECTED = sorted((ROOT / "tests/expected/cursor").glob("*.json"))


def recording_of(path: Path) -> Path:
    """Return the recording that an expected summary belongs to; skip the test if it is absent."""
    for folder in ("docs", "cursor"):
        recording = SHARED / folder / f"{path.stem}.ndjson"
        if recording.exists():
            return recording
    pytest.skip("the recordings of others are not here")


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
def test_a_recording_has_its_expected_summary(path: Path, session_of: Callable[[bytes], Session]) -> None:
    """The summary of a real recording equals the one that was checked by hand, value for value."""
    read = session_of(recording_of(path).read_bytes())
    assert json.loads(b"".join(summary(read))) == json.loads(path.read_text())


def test_every_recording_has_an_expected_summary() -> None:
    """Every recording of the documentation and of a real run has an expected summary."""
    found = {path.stem for folder in ("docs", "cursor") for path in (SHARED / folder).glob("*.ndjson")}
    assert found <= {path.stem for path in EXPECTED}
    assert len(EXPECTED) == 15


@pytest.mark.parametrize("name", ["docs-es", "docs-fr", "docs-ja", "docs-ko"])
def test_the_documentation_is_printed_in_its_own_phrases(name: str) -> None:
    """The brief text of the documentation's examples is what the documentation prints."""
    recording = recording_of(Path(f"{name}.json"))
    done = watch(recording, "--print", "--output-format", "text", "--brief")
    assert (done.returncode, done.stdout) == (0, b"Read file\nCreated new file\n")
