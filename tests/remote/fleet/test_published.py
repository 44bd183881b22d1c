"""Recordings of this machine name the sessions as which they are published."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from agentwatch.remote.lists import Published
from tests.conftest import case
from tests.remote.fleet.made import NOW_MS, named


def sidecar(folder: Path, stem: str, content: object, *, is_recorded: bool = True) -> None:
    """Write a file that says as which session a recording is published."""
    (folder / f"{stem}.ship").write_bytes(orjson.dumps(content))
    if is_recorded:
        (folder / f"{stem}.ndjson").touch()


def test_published_recordings_are_known_by_their_sessions(tmp_path: Path) -> None:
    """A file beside a recording names its session; later ones are found within two seconds."""
    sidecar(tmp_path, "a", {"to": "nats://team", "session": str(named(1))})
    published = Published(tmp_path)
    before = published.sessions(NOW_MS)
    assert before == {str(named(1))}
    sidecar(tmp_path, "b", {"session": str(named(2))})
    assert published.sessions(NOW_MS + 1_000) is before
    assert published.sessions(NOW_MS + 2_001) == {str(named(1)), str(named(2))}
    (tmp_path / "a.ndjson").unlink()
    assert published.sessions(NOW_MS + 5_000) == {str(named(2))}


CONTENTS: list[object] = [
    {},
    [],
    "x",
    {"session": 7},
    {"session": "ci"},
    {"session": f"{named(1)}x"},
    {"session": ["a"]},
]


def test_another_content_names_no_session(tmp_path: Path) -> None:
    """What an agent may have written beside its recording is data."""
    for content in CONTENTS:
        with case(content):
            sidecar(tmp_path, "a", content)
            assert Published(tmp_path).sessions(NOW_MS) == frozenset()


def test_a_session_without_a_recording_is_not_here(tmp_path: Path) -> None:
    """A file that was left behind hides nothing."""
    sidecar(tmp_path, "a", {"session": str(named(1))}, is_recorded=False)
    assert Published(tmp_path).sessions(NOW_MS) == frozenset()


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A pipe or a folder of this name, and a missing folder of sessions, name no session."""
    os.mkfifo(tmp_path / "a.ship")
    (tmp_path / "b.ship").mkdir()
    for stem in ("a", "b"):
        (tmp_path / f"{stem}.ndjson").touch()
    assert Published(tmp_path).sessions(NOW_MS) == frozenset()
    assert Published(tmp_path / "missing").sessions(NOW_MS) == frozenset()


def test_many_files_are_read_in_pieces(tmp_path: Path) -> None:
    """A folder with many published recordings does not hold up the list; the newest are read first."""
    for number in range(250):
        sidecar(tmp_path, f"{number:03}", {"session": str(named(number))})
    published = Published(tmp_path)
    assert published.sessions(NOW_MS) == {str(named(number)) for number in range(50, 250)}
    assert len(published.sessions(NOW_MS + 3_000)) == 250
