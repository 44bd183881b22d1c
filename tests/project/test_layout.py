"""The tests read nothing beside the repository."""

from __future__ import annotations

import ast
import re

from tests.conftest import ROOT, case

THIS = "tests/project/test_layout.py"


def levels_above(node: ast.AST, depth: int) -> int | None:
    """Return how many folders above the repository a path leads; None if it does not begin at its root.

    Args:
        node: The expression of a path.
        depth: How many folders above the module the root of the repository is.
    """
    match node:
        case ast.Name(id="ROOT" | "_ROOT"):
            return 0
        case ast.Call(func=ast.Name(id="Path"), args=[ast.Name(id="__file__")]):
            return -depth
        case ast.Call(func=ast.Attribute(value=inner, attr="resolve" | "absolute")):
            return levels_above(inner, depth)
        case ast.Attribute(value=inner, attr="parent"):
            steps = [".."]
        case ast.Subscript(
            value=ast.Attribute(value=inner, attr="parents"), slice=ast.Constant(value=int(at))
        ):
            steps = [".."] * (at + 1)
        case ast.BinOp(left=inner, op=ast.Div(), right=ast.Constant(value=str(name))):
            steps = name.split("/")
        case _:
            return None
    if (level := levels_above(inner, depth)) is None:
        return None
    for step in steps:
        if step == "..":
            level += 1
        elif level <= 0:  # a folder beside the repository does not lead back into it
            level -= 1
    return level


def paths_beside(source: str, depth: int) -> list[int]:
    """Return the lines of a module that lead to a folder beside the repository."""
    if not re.search(r"__file__|ROOT\b|\.\./shared\b", source):
        return []
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr)]
    found = {node.lineno for node in nodes if (levels_above(node, depth) or 0) > 0}
    found |= {
        number for number, line in enumerate(source.splitlines(), 1) if re.search(r"\.\./shared\b", line)
    }
    return sorted(found)


def test_the_tests_read_nothing_beside_the_repository() -> None:
    """No path of the tests leads out of the repository: a clone has all that they need."""
    tests = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]
    names = {path.relative_to(ROOT): path.read_text("utf-8") for path in tests if path != ROOT / THIS}
    assert len(names) > 500
    found = {str(name): paths_beside(source, len(name.parts)) for name, source in names.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_path_beside_the_repository_is_found() -> None:
    """A path above the root is found however it is written; one below it is none."""
    for source, is_beside in (
        ('ROOT.parent / "shared"', True),
        ('ROOT / ".." / "recordings"', True),
        ('(ROOT / "tests" / "../../x").read_text()', True),
        ("Path(__file__).parent.parent.parent", True),
        ("Path(__file__).resolve().parents[2]", True),
        ('_ROOT.parents[0] / "x"', True),
        ('open("../shared/x")', True),
        ('ROOT / "tests"', False),
        ('(ROOT / "tests" / "x.py").parent.parent', False),
        ("Path(__file__).resolve().parents[1]", False),
        ('Path("a").parent.parent.parent', False),
    ):
        with case(source):
            assert bool(paths_beside(source, 2)) is is_beside
