"""What a screen is given before it is first drawn: our compositor, and the classes of its size."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from agentwatch.screen.terminal.stock import is_stock


def prepare(screen: Screen[Any]) -> None:
    """Have a screen drawn by our compositor, and styled for its size from the beginning.

    Textual has no way to choose a screen's compositor, so `_compositor` is replaced. It sets the classes of
    HORIZONTAL_BREAKPOINTS and VERTICAL_BREAKPOINTS at the first resize, after all is styled: all widgets
    would be styled twice. `_get_breakpoint_classes` says which they are.
    """
    if is_stock():
        return
    from agentwatch.screen.terminal.compositor import PieceCompositor

    screen._compositor = PieceCompositor()  # noqa: SLF001 - as said above
    classes_of = screen._get_breakpoint_classes  # noqa: SLF001 - as said above
    width, height = screen.app.size
    wide = classes_of(width, screen.HORIZONTAL_BREAKPOINTS or [])
    tall = classes_of(height, screen.VERTICAL_BREAKPOINTS or [])
    screen.add_class(*wide, *tall, update=False)
