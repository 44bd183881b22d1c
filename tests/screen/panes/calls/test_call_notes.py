"""The note in the row of a call is shown whole or not at all."""

from __future__ import annotations

import pytest

from agentwatch.screen.panes.calls.pane import CallTable
from tests.builders.screen.app import bundled, lines_of, opened
from tests.conftest import case

pytestmark = pytest.mark.system


async def test_no_word_is_cut() -> None:
    """`1 failed` and `rejected` are whole at any width; counts of lines and matches are whole or absent."""
    for width in (40, 60, 80, 100, 110, 120, 160):
        with case(width):
            async with opened(bundled("demo"), (width, 40)) as stage:
                await stage.press("2")
                table = stage.pane("calls")
                assert isinstance(table, CallTable)
                await stage.shows("✗ 1 failed", "calls")
                rows = lines_of(table)
                assert any("rejected" in row for row in rows)
                for row in rows:
                    words = row.split()
                    assert not any(
                        word.startswith(("line", "match", "reje")) and "…" in word for word in words
                    ), row
