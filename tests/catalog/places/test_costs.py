"""The newest sessions come first, and a machine at rest costs little."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from agentwatch.agents.places import Folder
from agentwatch.catalog import places
from agentwatch.catalog.places import FULL_PASS_S, PASS_S, entries_of, own_folder
from tests.builders.machine.fake import fake_machine, save
from tests.builders.machine.made import Story
from tests.builders.machine.searched import Clock, all_found, let_age, places_of, put, settled

STORY = Story("5b0c8c1e-2f4d-4a79-9d53-0d6a6b1f7e22", "/w", "Say hello", 1795300000000)


@pytest.fixture
def clock() -> Clock:
    """Return a clock."""
    return Clock()


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return how often each folder was scanned, and looked at."""
    counts: Counter[str] = Counter()
    scan, look = entries_of, own_folder

    def scanned(folder: Folder, uid: int) -> object:
        counts["scans"] += 1
        return scan(folder, uid)

    def looked(path: str, uid: int) -> int | None:
        counts["looks"] += 1
        counts[path] += 1
        return look(path, uid)

    monkeypatch.setattr(places, "entries_of", scanned)
    monkeypatch.setattr(places, "own_folder", looked)
    return counts


@pytest.mark.system
def test_a_look_at_a_machine_at_rest_scans_little(tmp_path: Path, clock: Clock, scans: Counter[str]) -> None:
    """A look compares no old folder of one session or day, and scans a fifteenth of all folders at most."""
    machine = fake_machine(tmp_path, 2000, with_captures=False)
    places = settled(machine, clock, 7 * 24 * 3600)
    folders = len([path for path in machine.home.rglob("*") if path.is_dir() and "work" not in path.parts])
    cold = [*machine.home.glob(".copilot/session-state/*"), *machine.home.glob(".codex/sessions/*/*/*")]
    assert len(cold) > 150
    for _ in range(int(FULL_PASS_S / PASS_S)):
        scans.clear()
        assert places.refresh(clock.after(PASS_S)) == ([], [])
        assert scans["scans"] <= folders / 15 + 3
        assert scans["looks"] <= folders - len(cold) + 20 + scans["scans"]
    scans.clear()
    for _ in range(int(FULL_PASS_S / PASS_S)):
        places.refresh(clock.after(PASS_S))
    assert scans["scans"] <= folders + 2


def test_a_folder_that_is_gone_is_not_looked_at(tmp_path: Path, clock: Clock, scans: Counter[str]) -> None:
    """Neither are the folders that were in it."""
    machine = fake_machine(tmp_path, 13, with_captures=False)
    places = settled(machine, clock)
    gone = next((machine.home / ".qwen/projects").iterdir())
    for is_there in (True, False):
        scans.clear()
        places.refresh(clock.after(PASS_S))
        assert any(path.startswith(str(gone)) for path in scans) is is_there
        if is_there:
            shutil.rmtree(gone)
            places.refresh(clock.after(PASS_S))


@pytest.mark.slow
@pytest.mark.parametrize("sessions", [500, pytest.param(5000, marks=pytest.mark.system)])
def test_each_folder_is_scanned_once_at_first(tmp_path: Path, scans: Counter[str], sessions: int) -> None:
    """5,000 sessions in some 1,000 folders are found with one scan of each folder."""
    machine = fake_machine(tmp_path, sessions, with_captures=False)
    assert set(all_found(places_of(machine))) == set(machine.made)
    folders = [path for path in machine.home.rglob("*") if path.is_dir() and "work" not in path.parts]
    assert scans["scans"] <= len(folders)


def test_the_newest_folders_come_first(tmp_path: Path) -> None:
    """The first batch has the newest session, and comes before most folders are read."""
    machine = fake_machine(tmp_path, 500, with_captures=False)
    first = next(places_of(machine).first())
    assert first[0].key == next(iter(machine.made))
    assert len(first) < 100
    assert [found.changed_ns for found in first] == sorted((each.changed_ns for each in first), reverse=True)


def test_the_folder_of_a_registered_process_comes_first(tmp_path: Path) -> None:
    """A session that was resumed lies in an old folder, whose time does not change as the file grows."""
    machine = fake_machine(tmp_path, 500, with_captures=False)
    path = save(machine.home, "claude", STORY)
    let_age([path.parent])
    registry = machine.home / ".claude/sessions"
    put(registry / "17.json", '{"cwd": "/w"}')
    put(registry / "18.json", '{"cwd": 3}')
    put(registry / "18.key", '{"cwd": "/other"}')
    assert [found.key for found in next(places_of(machine).first())] == [("claude", STORY.id)]
