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
    content = {"to": "nats://team", **content} if isinstance(content, dict) else content
    (folder / f"{stem}.ship").write_bytes(orjson.dumps(content))
    if is_recorded:
        (folder / f"{stem}.ndjson").touch()


def test_published_recordings_are_known_by_their_sessions(tmp_path: Path) -> None:
    """A file beside a recording names its session; later ones are found within two seconds."""
    sidecar(tmp_path, "a", {"session": str(named(1))})
    published = Published(tmp_path)
    before = published.sessions(NOW_MS)
    assert before == {str(named(1))}
    sidecar(tmp_path, "b", {"session": str(named(2))})
    assert published.sessions(NOW_MS + 1_000) is before
    assert published.sessions(NOW_MS + 2_001) == {str(named(1)), str(named(2))}
    (tmp_path / "a.ndjson").unlink()
    assert published.sessions(NOW_MS + 5_000) == {str(named(2))}
    # What an agent may have written beside its recording is data.
    (folder := tmp_path / "content").mkdir()
    for content in CONTENTS:
        with case(content):
            sidecar(folder, "a", content)
            assert Published(folder).sessions(NOW_MS) == frozenset()
    # A file that was left behind hides nothing.
    (folder := tmp_path / "without").mkdir()
    sidecar(folder, "a", {"session": str(named(1))}, is_recorded=False)
    assert Published(folder).sessions(NOW_MS) == frozenset()
    # A pipe or a folder of this name, and a missing folder of sessions, name no session.
    (folder := tmp_path / "no file").mkdir()
    os.mkfifo(folder / "a.ship")
    (folder / "b.ship").mkdir()
    for stem in ("a", "b"):
        (folder / f"{stem}.ndjson").touch()
    assert Published(folder).sessions(NOW_MS) == frozenset()
    assert Published(folder / "missing").sessions(NOW_MS) == frozenset()
    # A folder with many published recordings does not hold up the list; the newest are read first.
    (folder := tmp_path / "many").mkdir()
    for number in range(250):
        sidecar(folder, f"{number:03}", {"session": str(named(number))})
    published = Published(folder)
    assert published.sessions(NOW_MS) == {str(named(number)) for number in range(50, 250)}
    assert len(published.sessions(NOW_MS + 3_000)) == 250


CONTENTS: list[object] = [
    {},
    [],
    "x",
    {"session": 7},
    {"session": "ci"},
    {"session": f"{named(1)}x"},
    {"session": ["a"]},
]
