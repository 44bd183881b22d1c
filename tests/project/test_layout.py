"""Modules are short, classes and folders small, and each package says what lives in it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT, SLOW, SLOW_FILES

MODULES = sorted(path for base in ("agentwatch", "tests", "bench") for path in (ROOT / base).rglob("*.py"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FOLDERS = sorted({path.parent for path in MODULES} - {ROOT / "bench"})
"""The folders of packages; bench/ holds scripts."""


def shown(path: Path) -> str:
    """Return a path as pytest shows it."""
    return path.relative_to(ROOT).as_posix()


def test_no_module_is_long() -> None:
    """A module has at most 300 lines."""
    lengths = {shown(path): path.read_bytes().count(b"\n") for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > 300} == {}


def test_no_class_is_large() -> None:
    """A class has at most 20 methods, properties included."""
    counts = {
        f"{shown(path)}: {node.name}": sum(isinstance(each, FUNCTIONS) for each in node.body)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ClassDef)
    }
    assert {name: count for name, count in counts.items() if count > 20} == {}


def test_no_folder_is_crowded() -> None:
    """A folder has at most 12 modules besides its `__init__`."""
    counts = {shown(path): len([*path.glob("[!_]*.py")]) for path in FOLDERS}
    assert {name: count for name, count in counts.items() if count > 12} == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=shown)
def test_a_package_says_what_lives_there(folder: Path) -> None:
    """The `__init__` of each package begins with a docstring."""
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_bytes()))


def test_what_is_slow_exists() -> None:
    """The fast lane leaves out folders and files that are there."""
    stems = {path.stem for path in MODULES}
    assert [folder for folder in SLOW if not (ROOT / folder).is_dir()] == []
    assert [name for name in SLOW_FILES if name not in stems] == []
