"""Samples of Gemini are recognised, and never taken for another vendor's if their head is cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.lines import session
from tests.conftest import SHARED

STREAMS = sorted((SHARED / "agents/gemini").glob("*.jsonl"))
CHATS = sorted((SHARED / "disk/gemini-chat").rglob("*.jsonl"))


@pytest.mark.parametrize("path", [*STREAMS, *CHATS], ids=lambda path: path.stem)
@pytest.mark.parametrize("cut", [0, 1, 3, 8])
def test_a_sample_without_its_head_is_of_no_other_agent(path: Path, cut: int) -> None:
    """The whole sample is recognised; without its first lines, it is recognised or unknown."""
    lines = path.read_bytes().splitlines(keepends=True)
    expected = "gemini" if path in STREAMS else "gemini-chat"
    found = session(*lines[cut:]).format
    assert found in ((expected,) if cut == 0 else (expected, None))
    assert found == expected or len(lines) - cut < 2
