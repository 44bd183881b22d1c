"""The folder of copies finds a copy again, and stays small."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agentwatch.remote.copies import Copies, Limits, LocalCopy, used_copy
from tests.conftest import case

ADDRESS = "nats://team"


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    """Return copies without limits that a test reaches."""
    return Copies({"AGENTWATCH_HOME": str(tmp_path)}, Limits(free=0))


def ended(copies: Copies, session: str, content: bytes = b"{}\n") -> Path:
    """Make a complete copy that nobody uses."""
    copy = copies.create(ADDRESS, session)
    assert copy.hold()
    copy.begin_at(0)
    copy.append(content, [(0, 1000)], [])
    copy.note(copy.origin._replace(is_complete=True, sha256=copy.digest().hexdigest()))
    copy.close()
    return copy.path


def test_a_copy_is_found_again_by_its_session(copies: Copies) -> None:
    """A copy is found by the engine and the session, and by nothing else."""
    path = ended(copies, "ci.1")
    found = copies.find(ADDRESS, "ci.1")
    assert found is not None
    assert (found.path, found.have, found.origin.is_complete) == (path, 3, True)
    found.close()
    assert copies.find(ADDRESS, "ci.2") is None
    assert copies.find("nats://other", "ci.1") is None


def test_only_the_user_may_read_a_copy(copies: Copies) -> None:
    """The folder and all files of a copy are private, and their names say nothing of the session."""
    path = ended(copies, "ci.secret")
    assert stat.S_IMODE(copies.folder.stat().st_mode) == 0o700
    for each in copies.folder.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
        assert "secret" not in each.name
    assert path.suffix == ".ndjson"


def test_a_broken_origin_is_ignored(copies: Copies) -> None:
    """A copy whose origin contains anything else is not found, and harms no other."""
    for content in (
        b"",
        b"{",
        b"[]",
        b'{"address":1,"session":[]}',
        b'{"address":"a"}',
        b"\xff" * 5000,
        b"9" * 2048,
    ):
        with case(f"{content[:60]!r}"):
            path = ended(copies, "ci.1")
            path.with_suffix(".origin").write_bytes(content)
            assert copies.find(ADDRESS, "ci.1") is None
            assert copies.known() == []
            assert used_copy(path) is None


def test_links_are_not_followed(copies: Copies, tmp_path: Path) -> None:
    """A copy or an origin that was replaced by a link is not used."""
    path = ended(copies, "ci.1")
    other = tmp_path / "other"
    path.rename(other)
    path.symlink_to(other)
    assert copies.find(ADDRESS, "ci.1") is None
    path.unlink()
    other.rename(path)
    origin = path.with_suffix(".origin")
    origin.rename(other)
    origin.symlink_to(other)
    assert copies.find(ADDRESS, "ci.1") is None


def test_one_process_at_a_time_fills_a_copy(copies: Copies) -> None:
    """The second one that uses a copy cannot fill it until the first one stops."""
    first = copies.create(ADDRESS, "ci.1")
    assert first.hold()
    first.begin_at(0)
    first.append(b"{}\n", [], [])
    second = copies.find(ADDRESS, "ci.1")
    assert second is not None
    assert not second.hold()
    first.release()
    assert second.hold()
    assert second.have == 3
    second.close()
    first.close()


def test_the_oldest_copies_that_nobody_uses_are_removed(copies: Copies) -> None:
    """If the copies take too much, the oldest are removed with all their files; one in use is kept."""
    paths = [ended(copies, f"ci.{number}", b"x" * 1000) for number in range(4)]
    oldest = sorted(paths)
    paths[0].with_suffix(".bookmarks.json").write_bytes(b"x")
    used = used_copy(oldest[0])
    assert isinstance(used, LocalCopy)
    small = Copies({"AGENTWATCH_HOME": str(copies.folder.parent)}, Limits(all=2500, free=0))
    assert small.has_room(0)
    assert sorted(path for path in paths if path.exists()) == [oldest[0], oldest[3]]
    assert {each.name.partition(".")[0] for each in copies.folder.iterdir()} == {
        oldest[0].stem,
        oldest[3].stem,
    }
    assert not small.has_room(2000)
    assert oldest[0].exists()
    used.close()


def test_the_last_of_a_disk_is_left_free(copies: Copies) -> None:
    """Copies do not grow when too little of the disk would be left."""
    full = Copies({"AGENTWATCH_HOME": str(copies.folder.parent)}, Limits(free=1 << 60))
    assert not full.has_room(1)
    assert copies.has_room(1)


def test_an_empty_copy_is_removed_when_it_is_closed(copies: Copies) -> None:
    """A copy that has got no byte leaves no files."""
    copies.create(ADDRESS, "ci.1").close()
    assert list(copies.folder.iterdir()) == []


def test_a_break_within_a_line_of_times_is_mended(copies: Copies) -> None:
    """A line of times that was cut short is removed, and times that are known are not written again."""
    path = ended(copies, "ci.1")
    times = path.with_suffix(".times")
    times.write_bytes(b"0 1000\n3 20")
    copy = used_copy(path)
    assert copy is not None
    assert copy.hold()
    copy.append(b"{}\n", [(0, 1000), (3, 2000)], [])
    assert times.read_bytes() == b"0 1000\n3 2000\n"
    copy.close()


def test_a_file_that_was_replaced_is_not_written(copies: Copies, tmp_path: Path) -> None:
    """If the copy has a second name, it is not filled."""
    path = ended(copies, "ci.1")
    os.link(path, tmp_path / "second")
    copy = used_copy(path)
    assert copy is not None
    with pytest.raises(OSError, match="linked"):
        copy.hold()
    copy.close()
