"""Looks for the sessions of a machine, and moves the times of its folders."""

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from agentwatch.agents.session_entry import Key, SessionEntry
from agentwatch.catalog.places import FULL_PASS_S, PASS_S, Places
from agentwatch.sources.folder_watch import FolderWatch
from tests.builders.machine.fake import FakeMachine

OLD_NS = 1_700_000_000 * 10**9
"""A time long before any test."""


class Clock:
    """A clock that the tests set."""

    def __init__(self) -> None:
        self.now = 0.0

    def after(self, seconds: float) -> float:
        """Let time pass, and return the new time."""
        self.now += seconds
        return self.now


def places_of(machine: FakeMachine, environ: Mapping[str, str] | None = None) -> Places:
    """Return what finds the sessions of a machine, for the user of the tests."""
    return Places({**machine.environ, **(environ or {})}, machine.home, os.getuid())


def all_found(places: Places) -> dict[Key, SessionEntry]:
    """Return all sessions that are found at first by a list that stays open."""
    return {found.key: found for batch in places.first(stays_open=True) for found in batch}


def found_in(machine: FakeMachine, environ: Mapping[str, str] | None = None) -> dict[Key, SessionEntry]:
    return all_found(places_of(machine, environ))


def let_age(paths: Iterable[Path], at_ns: int = OLD_NS) -> None:
    """Give files and folders an old modification time."""
    for path in paths:
        os.utime(path, ns=(at_ns, at_ns))


def settled(machine: FakeMachine, clock: Clock, age_s: int = 600) -> Places:
    """Return what has found all sessions, and has seen that no folder has changed lately."""
    let_age(machine.home.rglob("*"), time.time_ns() - age_s * 10**9)
    places = places_of(machine)
    all_found(places)
    for _ in range(int(FULL_PASS_S / PASS_S)):
        assert places.refresh(clock.after(PASS_S)) == ([], [])
    return places


def let_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no folder be watched, as on another system."""
    monkeypatch.setattr(FolderWatch, "add", lambda *_: False)


def put(path: Path, text: str = "{}\n") -> Path:
    """Write a file and the folders above it, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
