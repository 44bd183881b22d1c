"""The header shows at every width that a session is published, where, and why the engine lags."""

from __future__ import annotations

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.screen.panes.header import HeaderLine
from agentwatch.text.safe import columns, safe_line
from tests.conftest import RECORDINGS, case
from tests.screen.panes.frame.test_header import LinesApp, read

pytestmark = pytest.mark.slow


class Published:
    """A publication with given words."""

    def __init__(self, *forms: str) -> None:
        self._forms = forms

    @property
    def has_trouble(self) -> bool:
        """Whether there are words about trouble."""
        return len(self._forms) > 2

    def forms(self) -> tuple[str, ...]:
        """Return the words."""
        return self._forms


WELL = Published("⇡ team.example.com", "⇡")
BEHIND = Published("⇡ team.example.com · 2.1 MB behind", "⇡ 2.1 MB behind", "⇡!")


@pytest.mark.system
async def test_the_place_is_shown_at_every_width() -> None:
    """The host, or as much of it as fits, or at least the sign; never more than the line."""
    for published, width, words in (
        (WELL, 120, "│ ⇡ team.example.com │"),
        (WELL, 80, "│ ⇡ team.example.com "),
        (WELL, 50, "│ ⇡ team.examp… "),
        (WELL, 24, "⇡"),
        (BEHIND, 120, "│ ⇡ team.example.com · 2.1 MB behind │"),
        (BEHIND, 80, "│ ⇡ 2.1 MB behind │"),
        (BEHIND, 24, "⇡!"),
        (Published("⇡ evil\x1b]0;x\x07", "⇡"), 80, "⇡ evil"),
    ):
        with case(f"{width}, {words!r}"):
            app = LinesApp()
            source = saved_source(RECORDINGS / "demo.ndjson")
            source.written.publication = published
            app.header = HeaderLine(source)
            async with app.run_test(size=(width, 5)) as pilot:
                app.header.show_run(read(RECORDINGS / "demo.ndjson"), None)
                await pilot.pause()
                line = str(app.header.visual)
            assert words in line
            assert "\x1b" not in line
            assert columns(safe_line(line)) <= width
