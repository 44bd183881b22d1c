"""Which private names of Textual a module of the screen uses, read from its source."""

import ast
import importlib
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

UNKNOWN = "?"
"""Where a private attribute is, of an object whose class the source does not show."""
_NAMED_TUPLE = frozenset(("_asdict", "_fields", "_make", "_replace"))


def has(where: str, name: str) -> bool:
    """Return whether a module, a class of a module, or the instances of that class have a name."""
    module, _, last = where.rpartition(".")
    try:
        if last[0].islower() or last[0] == "_":
            return hasattr(importlib.import_module(where), name)
        cls = getattr(importlib.import_module(module), last, None)
    except ImportError:
        return False
    return isinstance(cls, type) and (hasattr(cls, name) or name in _assigned(cls))


def own_names(paths: list[Path]) -> frozenset[str]:
    """Return the private names that classes in these files define, as methods or as attributes."""
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return _NAMED_TUPLE | own | {name for node in nodes for name in _stored(node)}


def used(path: Path, own: frozenset[str]) -> set[tuple[str, str]]:
    """Return the private names of Textual that a file uses, each with the module or class that has it.

    In a private module every name is private. On other objects than `self`, `own` names are ours.
    """
    tree = ast.parse(path.read_text())
    names: set[tuple[str, str]] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "textual":
                imported = [alias.name for alias in node.names]
                names |= {(module, name) for name in imported if _is_private(module, name)}
            case ast.Import():
                names |= {(UNKNOWN, alias.name) for alias in node.names if "textual._" in alias.name}
            case ast.Attribute(value=value, attr=attr) if not _is_self(value) and _is_private("", attr):
                names |= {(UNKNOWN, attr)} - {(UNKNOWN, name) for name in own}
            case ast.Subscript(value=ast.Call(func=ast.Name(id="vars")), slice=ast.Constant(value=str(name))):
                names.add((UNKNOWN, name))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names |= set(_used_in_class(node, path))
    return names


def _used_in_class(node: ast.ClassDef, path: Path) -> Iterator[tuple[str, str]]:
    """Yield the private names of Textual's base classes that a class of ours uses or overrides."""
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    places = {
        name: where
        for base in reversed(getattr(module, node.name).__mro__)
        if base.__module__.partition(".")[0] == "textual"
        for where in [f"{base.__module__}.{base.__name__}"]
        for name in {*vars(base), *_assigned(base)}
        if _is_private(base.__module__, name)
    }
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(value=value, attr=name) if _is_self(value) and name in places:
                yield places[name], name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in places:
                yield places[name], name


def _is_private(module: str, name: str) -> bool:
    """Return whether a name begins with one underscore, or the name of its module does.

    `textual.widgets` exports what its private modules hold.
    """
    if name.startswith("__"):
        return False
    return name.startswith("_") or ("._" in module and not module.startswith("textual.widgets._"))


@cache
def _assigned(cls: type) -> frozenset[str]:
    """Return the names that the methods of a class give to its instances."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    return frozenset(name for node in ast.walk(tree) for name in _stored(node))


def _stored(node: ast.AST) -> list[str]:
    is_stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value)
    return [node.attr] if is_stored and isinstance(node, ast.Attribute) else []


def _is_self(node: ast.expr) -> bool:
    """Return whether an expression is `self` or `super()`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id == "self"
