"""The note in the row of a call is shown whole or not at all."""

from __future__ import annotations

import pytest

from tests.builders.screen.app import bundled, lines_of, opened
from tests.conftest import case

pytestmark = pytest.mark.system


async def test_no_word_is_cut() -> None:
    """`1 failed` and `rejected` are whole at any width; counts of lines and matches are whole or absent."""
    async with opened(bundled("demo"), (160, 40)) as stage:
        await stage.press("2")
        for width in (160, 120, 110, 100, 80, 60, 40):
            with case(width):
                await stage.pilot.resize_terminal(width, 40)
                await stage.shows("✗ 1 failed", "calls")
                rows = lines_of(stage.calls)
                assert any("rejected" in row for row in rows)
                for row in rows:
                    words = row.split()
                    assert not any(
                        word.startswith(("line", "match", "reje")) and "…" in word for word in words
                    ), row
