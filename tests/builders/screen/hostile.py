"""Checks that nothing drawn can act on the terminal."""

import unicodedata

from agentwatch.screen.widgets.line_view import LineView
from tests.builders.screen.app import Stage, lines_of


def acting(text: str) -> set[str]:
    """Return the characters of a drawn line that control a terminal or change how the line reads."""
    return {
        f"U+{ord(char):04X}" for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    }


def check_drawn(stage: Stage) -> None:
    """Check that nothing on the screen controls the terminal, can be clicked or holds a link."""
    segments = stage.segments()
    assert segments
    for segment in segments:
        assert not acting(segment.text), segment
        if segment.style is not None:
            assert segment.style.link is None
            assert not segment.style._meta or not [key for key in segment.style.meta if "click" in key]


def check_panes(*panes: LineView) -> None:
    """Check every line of the panes, visible or not."""
    for pane in panes:
        for text in lines_of(pane):
            assert not acting(text), (pane.id, text)
