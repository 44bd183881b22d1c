"""Prepares a screen before its first frame: agentwatch's compositor, and the classes of its size."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from agentwatch.screen.terminal.stock import is_stock


def prepare(screen: Screen[Any]) -> None:
    """Set a screen's compositor, and the breakpoint classes for the terminal's size.

    Textual has no public way to choose the compositor of a screen, so `_compositor` is replaced.

    Textual sets the classes of HORIZONTAL_BREAKPOINTS and VERTICAL_BREAKPOINTS at the first resize, when all
    widgets are styled already, and would style every widget a second time. `_get_breakpoint_classes` returns
    these classes.
    """
    if is_stock():
        return
    from agentwatch.screen.terminal.compositor import PieceCompositor

    screen._compositor = PieceCompositor()  # noqa: SLF001 - see the docstring
    classes_of = screen._get_breakpoint_classes  # noqa: SLF001 - see the docstring
    width, height = screen.app.size
    wide = classes_of(width, screen.HORIZONTAL_BREAKPOINTS or [])
    tall = classes_of(height, screen.VERTICAL_BREAKPOINTS or [])
    screen.add_class(*wide, *tall, update=False)
