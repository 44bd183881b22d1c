"""The words of a filter and of a search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentwatch.machine.listing.request import row_filter, row_search
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


@pytest.mark.parametrize(
    ("text", "is_match"),
    [
        ("port", True),
        ("PORT settings", True),
        ("port missing", False),
        ("npm", True),
        ("web-api", True),
        ("lows", True),
        ("codex", True),
        ("agent:codex", True),
        ("agent:co", True),
        ("agent:dex", False),
        ("agent:", True),
        ("repo:api", True),
        ("repo:tests", False),
        ("branch:fix", True),
        ("branch:main", False),
        ("host:build", True),
        ("host:other", False),
        ("state:asks", True),
        ("state:needs", True),
        ("state:working", False),
        ("asks", True),
        ("asks working", True),
        ("working", False),
        ("as", False),
        ("ask", True),
        ("failed", False),
        ("please", False),
        ("npm:ci", False),
        ("agent:codex repo:api port asks", True),
        ("agent:codex repo:api port failed", False),
    ],
)
def test_all_words_of_a_filter_must_match(text: str, is_match: bool) -> None:
    """Each word is sought in the names, the title and the activity; a word with a colon in its field."""
    matches = row_filter(text)
    assert matches is not None
    assert matches(ROW) is is_match


def test_no_words_are_no_filter() -> None:
    """Blanks neither filter nor search."""
    assert row_filter(" \t ") is None
    assert row_search("") is None


def test_failed_sessions_are_those_that_ended_and_those_whose_turn_failed() -> None:
    """`failed` selects both; other states are selected by their own names only."""
    matches = row_filter("failed")
    assert matches is not None
    assert {state for state in State if matches(row("a", state))} == {State.FAILED, State.TURN_FAILED}
    matches = row_filter("succeeded unknown")
    assert matches is not None
    assert {state for state in State if matches(row("a", state))} == {State.SUCCEEDED, State.UNKNOWN}


@pytest.mark.parametrize(
    ("text", "is_match"),
    [("port", True), ("PLEASE tests", True), ("page it", True), ("npm", False), ("port npm", False)],
)
def test_a_search_reads_titles_and_prompts(text: str, is_match: bool) -> None:
    """All words must occur in the title or a prompt."""
    matches = row_search(text)
    assert matches is not None
    assert matches(ROW) is is_match
