"""No printed format of hostile text acts on the terminal."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import RECORDINGS
from tests.harness.program import watch


@pytest.mark.slow
def test_a_summary_cannot_drive_a_terminal() -> None:
    """The summary decodes to the hostile text, but its bytes contain no control or direction mark."""
    done = watch(RECORDINGS / "hostile.ndjson", "--output-format", "summary")
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", done.stdout.decode()
    )
    assert json.loads(done.stdout)["model"].startswith("Model\x1b[2J")


@pytest.mark.system
def test_no_output_of_hostile_text_drives_a_terminal() -> None:
    """Text, log and stderr of the hostile recording contain no control character."""
    path = RECORDINGS / "hostile.ndjson"
    for done in (watch(path), watch("log", path), watch(path, "--output-format", "json")):
        assert done.stdout
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stderr.decode())
    for done in (watch(path), watch("log", path)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stdout.decode())
