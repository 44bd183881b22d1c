"""Samples of Gemini are recognised, and never taken for another vendor's if their head is cut off."""

from __future__ import annotations

from tests.builders.captures import Captures
from tests.builders.lines import session
from tests.conftest import case


def test_a_sample_without_its_head_is_of_no_other_agent(captures: Captures) -> None:
    """The whole sample is recognised; without its first lines, it is recognised or unknown."""
    streams = captures.find("agents/gemini/*.jsonl")
    for path in [*streams, *captures.find("disk/gemini-chat/**/*.jsonl")]:
        lines = path.read_bytes().splitlines(keepends=True)
        expected = "gemini" if path in streams else "gemini-chat"
        for cut in (0, 1, 3, 8):
            with case(f"{captures.name(path)}, {cut}"):
                found = session(*lines[cut:]).format
                assert found in ((expected,) if cut == 0 else (expected, None))
                assert found == expected or len(lines) - cut < 2
