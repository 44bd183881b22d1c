"""The whole screen as text, at four widths."""

from __future__ import annotations

import pytest

from tests.builders.home.home_app import home_of, screen_rows
from tests.builders.home.machine_rows import ROWS
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

SIZES = ((160, 16), (140, 16), (80, 16), (40, 22))


@pytest.mark.system
@pytest.mark.parametrize("size", SIZES)
async def test_the_screen(size: tuple[int, int]) -> None:
    """A session in each group, with wide characters and a hostile title, as tests/expected/home shows it."""
    expected = ROOT / "tests" / "expected" / "home" / f"{size[0]}.txt"
    async with home_of(ROWS, size) as (app, _):
        assert "\n".join([*screen_rows(app), ""]) == expected.read_text(encoding="utf-8")
