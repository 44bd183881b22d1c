"""The words of a search."""

from __future__ import annotations

from agentwatch.catalog.listing import row_search
from tests.catalog.listing.made_rows import ASKING
from tests.conftest import case


def test_no_words_are_no_search() -> None:
    """Blanks do not search."""
    assert row_search(" \t ") is None


def test_a_search_reads_titles_and_prompts() -> None:
    """All words must occur in the title or a prompt."""
    cases: list[tuple[str, bool]] = [
        ("port", True),
        ("PLEASE tests", True),
        ("page it", True),
        ("npm", False),
        ("port npm", False),
    ]
    for text, is_match in cases:
        with case(text):
            matches = row_search(text)
            assert matches is not None
            assert matches(ASKING) is is_match
