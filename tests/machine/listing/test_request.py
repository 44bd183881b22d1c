"""The words of a search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentwatch.machine.listing.request import row_search
from agentwatch.machine.standing import Ground, Standing, State
from tests.machine.listing.made_rows import row

ROW = replace(
    row("s", State.ASKS),
    agent="codex",
    repo="Web-API",
    branch="fix-lows",
    worktree="lows",
    host="buildbox",
    title="Port the settings page",
    prompts="please port it\nand now the tests",
    standing=Standing(State.ASKS, Ground.INFERRED, 1, "shell npm ci"),
)


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
    assert matches(ROW) is is_match
