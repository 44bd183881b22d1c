"""Keeps the time to the first frame short: every widget is styled once, and with the styles that it uses.

Textual styles a widget when it is mounted, when its screen gets the classes of its size, and when its screen
is shown. It then computes all component styles of the widget. The panes have 22 of them, and use a few.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.style import Style
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

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


def is_styled(node: DOMNode) -> bool:
    """Return whether a node is a screen that is just being shown for the first time: mounting has styled it.

    Textual increments `stack_updates`, styles the screen, and then gives it a size.
    """
    return isinstance(node, Screen) and not node.is_modal and node.stack_updates == 1 and not node.outer_size


def eager_classes(names: Iterable[str]) -> set[str]:
    """Return the component classes that Textual must compute: none, or all of them on stock Textual."""
    return set(names) if is_stock() else set()


def component_style(widget: Widget, name: str) -> tuple[Style, Style]:
    """Return a component's own style, and its style over that of the widget.

    The component is a node below the widget, as in Textual. `_attach` sets the parent of the node; there is
    no public way to do so without mounting it.
    """
    if name in widget.COMPONENT_CLASSES:
        return widget.get_component_rich_style(name, partial=True), widget.get_component_rich_style(name)
    component = DOMNode(classes=name)
    component._attach(widget)  # noqa: SLF001 - see the docstring
    widget.app.stylesheet.apply(component)
    return component.styles.partial_rich_style, component.styles.rich_style
