"""The screen has four layers: terminal, widgets, panes and screens."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

SCREEN = ROOT / "agentwatch" / "screen"
LAYERS = ("terminal", "widgets", "panes", "screens")
"""A module imports only modules of its own layer and of those before it."""


def layer(parts: tuple[str, ...]) -> int:
    """Return the number of a module's layer; -1 for a module beside the layers, which all may import."""
    return LAYERS.index(parts[0]) if parts[0] in LAYERS else -1


def imported(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the modules of the screen that a module imports, anywhere in it, each by its parts."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = [each.name for each in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        yield from (tuple(name.split(".")[2:]) for name in names if name.startswith("agentwatch.screen."))


def test_no_module_imports_a_later_layer() -> None:
    """No module of the screen imports one of a later layer, neither at once nor later."""
    paths = [*SCREEN.rglob("*.py")]
    assert {layer(path.relative_to(SCREEN).parts) for path in paths} == {-1, *range(len(LAYERS))}
    assert [
        f"{path.relative_to(SCREEN)} imports {'.'.join(name)}"
        for path in paths
        for name in imported(path)
        if layer(name) > layer(path.relative_to(SCREEN).parts)
    ] == []
