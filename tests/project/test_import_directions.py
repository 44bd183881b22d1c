"""Imports point one way: from the command line and the screen down to the recording, never back."""

import ast
from functools import cache
from pathlib import Path

import pytest

from agentwatch.agents import registry
from tests.conftest import ROOT, case

PACKAGE = ROOT / "agentwatch"
NOTHING = frozenset[str]()
ALLOWED = {
    "text": NOTHING,
    "base": NOTHING,
    "recording": {"base", "text"},
    "session": {"text"},
    "sources": {"base", "recording", "session", "text"},
    "agents": {"base", "recording", "session", "sources", "text"},
    "feed": {"agents", "base", "recording", "session", "text"},
    "analysis": {"feed", "recording", "session", "text"},
    "rules": {"agents", "analysis", "base", "feed", "recording", "session", "text"},
    "catalog": {"agents", "analysis", "base", "feed", "recording", "rules", "session", "sources", "text"},
    "remote": {"agents", "base", "catalog", "recording", "session", "sources", "text"},
    "output": {"agents", "analysis", "base", "catalog", "feed", "recording", "rules", "session", "text"},
    "api": {"agents", "analysis", "base", "catalog", "feed", "output", "recording", "session", "sources"},
    "testing": {"api"},
}
"""What each room may import of the package. The screen may import all but the command line, the command line
all."""
EXCEPTIONS = {
    "output/unknown_parts.py": {""},
    "output/export/otlp/backend.py": {""},
    "rules/calls/readers.py": {"output"},
}
"""The report of unknown fields and the spans name the version of the program. A rule finds credentials in a
command as the redaction does."""
FREE = {"cli", "screen"}
AGENTS = set(registry.AGENTS)
DRAWING = {"textual", "rich"}


def room(path: Path) -> str:
    """Return the folder of the package that a module is in, or the module itself if it is in none."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the dotted name of all that a module imports, anywhere in it and for types alone too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def rooms_imported(path: Path) -> set[str]:
    """Return the rooms that a module imports from; the empty name is the package itself."""
    found = {name.split(".")[1] for name in imported(path) if name.startswith("agentwatch.")}
    return {name if name in NAMES else "" for name in found} - {room(path)}


NAMES = {room(each) for each in PACKAGE.iterdir()}
MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS = sorted({room(path) for path in MODULES if not room(path).startswith("__")})


@pytest.mark.system
def test_a_folder_imports_only_what_is_below_it() -> None:
    """Each folder imports what it is built on, and each new folder declares what that is.

    Only the program's own beginning imports cli/. Outside screen/ neither Textual nor rich is imported, not
    even where it is needed, and outside agents/ no module of an agent. An exception is still needed.
    """
    assert "cursor" in AGENTS
    known = {f"agentwatch.agents.{agent}" for agent in AGENTS}
    for path in MODULES:
        name, rooms, here = str(path.relative_to(PACKAGE)), rooms_imported(path), room(path)
        if here not in ROOMS:
            continue
        with case(name):
            if here not in FREE:
                assert rooms <= ALLOWED[here] | EXCEPTIONS.get(name, NOTHING)
            assert EXCEPTIONS.get(name, NOTHING) <= rooms
            assert here == "cli" or "cli" not in rooms
            assert here == "screen" or {found.partition(".")[0] for found in imported(path)}.isdisjoint(
                DRAWING
            )
            agents = {".".join(found.split(".")[:3]) for found in imported(path)}
            assert here == "agents" or agents.isdisjoint(known)
    assert {*ROOMS} == {*ALLOWED, *FREE}
    # The command line holds signals before Textual is loaded, by a module of the screen's.
    path = PACKAGE / "screen" / "terminal" / "signals.py"
    assert {name.partition(".")[0] for name in imported(path)}.isdisjoint({*DRAWING, "agentwatch"})
