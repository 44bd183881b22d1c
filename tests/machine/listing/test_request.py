"""The words of a search."""

from __future__ import annotations

import pytest

from agentwatch.machine.listing.request import row_search
from tests.machine.listing.made_rows import ASKING


def test_no_words_are_no_search() -> None:
    """Blanks do not search."""
    assert row_search(" \t ") is None


@pytest.mark.parametrize(
    ("text", "is_match"),
    [("port", True), ("PLEASE tests", True), ("page it", True), ("npm", False), ("port npm", False)],
)
def test_a_search_reads_titles_and_prompts(text: str, is_match: bool) -> None:
    """All words must occur in the title or a prompt."""
    matches = row_search(text)
    assert matches is not None
    assert matches(ASKING) is is_match
