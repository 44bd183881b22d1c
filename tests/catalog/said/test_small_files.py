"""Only regular files of the own user are read, and files may vanish at any time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.agents.small_files import FileState, file_state, own_files

UID = os.geteuid()


def names(folder: Path) -> list[str]:
    """Return the names of the files that are found."""
    return sorted(name for name, _ in own_files(folder, UID, lambda name: name != "b"))


def test_only_wanted_regular_files_are_found(tmp_path: Path) -> None:
    """Folders, links and files that are not wanted are left out."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert names(tmp_path) == ["a"]
    assert names(tmp_path / "a") == []
    assert file_state(tmp_path / "link", UID) is None
    assert file_state(tmp_path / "none", UID) is None
    assert file_state(tmp_path / "a", UID + 1) is None
    state = file_state(tmp_path / "a", UID)
    assert state is not None
    assert state.size == 1


class _Gone:
    """An entry of a folder whose file was removed."""

    name = "a"

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        """Fail as the system does."""
        raise FileNotFoundError(self.name)


def test_a_file_may_vanish_while_its_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is removed before it is asked for its state is left out."""

    @contextmanager
    def gone(folder: Path) -> Iterator[Iterator[_Gone]]:
        yield iter([_Gone()])

    monkeypatch.setattr(os, "scandir", gone)
    assert names(tmp_path) == []


@pytest.mark.parametrize(("age_ns", "is_settled"), [(10**9, True), (0, False), (-(10**10), True)])
def test_a_fresh_file_may_change_unseen(tmp_path: Path, age_ns: int, is_settled: bool) -> None:
    """Until its time has passed, a file may change without a change of its time; the future is past too."""
    path = tmp_path / "a"
    path.touch()
    state = file_state(path, UID)
    assert state is not None
    import time

    assert FileState(1, 1, time.time_ns() - age_ns).is_settled is is_settled
