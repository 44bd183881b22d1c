"""Text too long for its column loses its least informative part."""

from __future__ import annotations

from agentwatch.screen.lines.format import cut_middle
from agentwatch.text.safe import SafeText
from tests.conftest import case


def test_a_path_is_cut_at_whole_folders() -> None:
    """A long path loses folders in its middle first, and characters of the file name last."""
    for limit, shown in (
        (40, "agentwatch/screen/parser/tokens.py"),
        (33, "agentwatch/…/parser/tokens.py"),
        (29, "agentwatch/…/parser/tokens.py"),
        (28, "…/screen/parser/tokens.py"),
        (24, "agentwatch/…/tokens.py"),
        (21, "…/parser/tokens.py"),
        (13, "…/tokens.py"),
        (8, "…kens.py"),
        (1, "…"),
    ):
        with case(f"{limit}, {shown}"):
            assert cut_middle(SafeText("agentwatch/screen/parser/tokens.py"), limit) == shown
