"""Fixtures for the tests of hooks."""

from pathlib import Path

import pytest

from agentwatch.catalog.hooks.program import Program


def user_in(folder: Path) -> Path:
    """Make the home folder of a user who has started all agents, and return it."""
    for name in (".codex", ".gemini", ".cursor"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """Return the home folder of a user who has started all agents."""
    return user_in(tmp_path / "user")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Install the program in a folder whose name has a blank and a quotation mark."""
    program = Program(tmp_path / "agent's home" / "hooks")
    program.install()
    return program
