"""Imports point one way: from the command line and the screen down to the recording, never back."""

from __future__ import annotations

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
    "feed": {"agents", "recording", "session", "text"},
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
    "output/drift.py": {""},
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


def modules_without(*free: str) -> list[Path]:
    """Return the modules of all folders but some, each of which exists."""
    assert {*free} < {*ROOMS}
    return [path for path in MODULES if room(path) in ROOMS and room(path) not in free]


@pytest.mark.system
@pytest.mark.slow
def test_a_folder_imports_only_what_is_below_it() -> None:
    """Each folder imports what it is built on, and each new folder declares what that is."""
    for path in modules_without(*FREE):
        with case(path.relative_to(PACKAGE)):
            more = EXCEPTIONS.get(str(path.relative_to(PACKAGE)), NOTHING)
            assert rooms_imported(path) <= ALLOWED[room(path)] | more


def test_an_exception_is_still_needed() -> None:
    """A module that may import more than its folder does so."""
    for path, rooms in EXCEPTIONS.items():
        with case(path):
            assert rooms <= rooms_imported(PACKAGE / path)


@pytest.mark.system
@pytest.mark.slow
def test_nothing_imports_the_command_line() -> None:
    """Only the program's own beginning imports cli/."""
    assert [path for path in modules_without("cli") if "cli" in rooms_imported(path)] == []


@pytest.mark.system
@pytest.mark.slow
def test_only_the_screen_draws() -> None:
    """Outside screen/ neither Textual nor rich is imported, not even where it is needed."""
    for path in modules_without("screen"):
        with case(path.relative_to(PACKAGE)):
            assert {found.partition(".")[0] for found in imported(path)}.isdisjoint(DRAWING)


@pytest.mark.slow
def test_only_the_agents_know_an_agent() -> None:
    """Outside agents/ no module of an agent is imported."""
    assert "cursor" in AGENTS
    known = {f"agentwatch.agents.{agent}" for agent in AGENTS}
    for path in modules_without("agents"):
        with case(path.relative_to(PACKAGE)):
            assert {".".join(found.split(".")[:3]) for found in imported(path)}.isdisjoint(known)


def test_the_signals_are_held_without_textual() -> None:
    """The command line holds signals before Textual is loaded, by a module of the screen's."""
    path = PACKAGE / "screen" / "terminal" / "signals.py"
    assert {name.partition(".")[0] for name in imported(path)}.isdisjoint({*DRAWING, "agentwatch"})
