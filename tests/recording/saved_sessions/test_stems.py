"""The files of a saved session are found by its stem, and nothing else in the folder is taken for one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentwatch.recording.saved_sessions import is_stem, saved_stems, session_files, session_size
from agentwatch.recording.store import new_session_files, sessions_folder
from tests.builders.machine.saved import ENDINGS, save
from tests.conftest import case


def test_every_file_of_a_session_counts() -> None:
    """The size of a session is that of all its files, also of those without a recording."""
    assert saved_stems() == []
    path = save(2, *ENDINGS[1:])
    [stem] = saved_stems()
    assert stem.recording == path
    assert stem.size == session_size(path) == path.stat().st_size + 1_100
    assert stem.changed_ms == path.stat().st_mtime_ns // 10**6
    path.unlink()
    [stem] = saved_stems()
    assert (stem.recording, stem.size) == (path, 1_100)


def test_sessions_are_newest_first() -> None:
    """The order is that of the times in the stems."""
    old, new = save(3), save(1)
    assert [stem.recording for stem in saved_stems()] == [new, old]


def test_the_stems_of_new_sessions_are_recognised() -> None:
    """What agentwatch names itself is its own."""
    assert is_stem(new_session_files().recording.stem)


def test_other_names_are_no_stems() -> None:
    """A file that somebody has put among the sessions is not one of ours."""
    for name in (
        "",
        "session",
        "20261120-140307",
        "20261120-140307-",
        "20261120-140307-xyzxyz",
        "20261120-140307-ABCDEF",
        "20261120-14030-abcdef",
        "2026112a-140307-abcdef",
        "²0261120-140307-abcdef",
        "20261120-140307-abcdef0123456789a",
        "20261120-140307-abcdef-1",
        ".20261120-140307-abcdef",
    ):
        with case(name):
            assert not is_stem(name)
            path = save(2)
            moved = path.rename(path.with_name(f"{name}.ndjson"))
            assert saved_stems() == []
            with pytest.raises(OSError, match="not among the sessions that agentwatch has saved"):
                session_files(moved)


def test_other_files_beside_a_session_do_not_count(tmp_path: Path) -> None:
    """Files with other endings, links, FIFOs and folders beside a recording are not counted."""
    path = save(2, ".md", ".ndjson.gz", ".bookmarks.json.bak")
    path.with_suffix(".log").symlink_to(path)
    path.with_suffix(".times").mkdir()
    os.mkfifo(path.with_suffix(".json"))
    [stem] = saved_stems()
    assert stem.size == path.stat().st_size


def test_a_recording_that_is_a_link_is_no_session(tmp_path: Path) -> None:
    """A link in the place of a recording, or one of another user, leaves out all that is beside it."""
    path = save(2, ".log")
    assert saved_stems(os.geteuid() + 1) == []
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert saved_stems() == []


def test_a_folder_that_is_a_link_is_an_error(home: Path, tmp_path: Path) -> None:
    """The sessions behind a link are neither listed nor measured."""
    path = save(2)
    sessions_folder().rename(tmp_path / "elsewhere")
    sessions_folder().symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="it is a link, which is not followed"):
        saved_stems()
    assert session_size(path) == 0


def test_a_path_outside_the_folder_is_none_of_ours(tmp_path: Path) -> None:
    """A file elsewhere is refused, whatever its name is; the folder may be named in another way."""
    path = save(2)
    with pytest.raises(OSError, match="not among the sessions"):
        session_files(tmp_path / path.name)
    with pytest.raises(OSError, match="not among the sessions"):
        session_files(path.with_suffix(".jsonl"))
    (tmp_path / "link").symlink_to(path.parent.parent)
    assert session_files(tmp_path / "link" / "sessions" / path.name).recording == path
