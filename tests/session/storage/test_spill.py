"""A spill returns every piece it was given, from memory or from its file, whatever the disk does."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.session.storage import Spill
from tests.builders.lines import PROPERTY

MEGABYTE = 1 << 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Redirect temporary files to a folder of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@PROPERTY
@given(st.lists(st.binary(max_size=40).map(lambda data: data * 20_000), max_size=12))
def test_each_piece_comes_back(pieces: list[bytes]) -> None:
    """Each piece, and any end of it, is returned as given, from the file and from memory."""
    spill = Spill()
    places = [spill.add(piece) for piece in pieces]
    assert len(places) == len(pieces)
    for place, piece in zip(places, pieces, strict=True):
        assert spill.get(place, len(piece)) == piece
        assert spill.get(place + len(piece) // 2, len(piece) - len(piece) // 2) == piece[len(piece) // 2 :]


def test_less_than_a_megabyte_makes_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than a megabyte stays in memory; the file of a larger spill has no name."""

    def refuse(*_: object) -> int:
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", refuse)
        Spill().add(b"." * (MEGABYTE - 1))
    spill = Spill()
    place = spill.add(b"." * MEGABYTE)
    assert spill.get(place, MEGABYTE) == b"." * MEGABYTE
    assert not list(folder.iterdir())


def test_at_most_128_kib_stay_in_memory_beside_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once there is a file, pieces are written to it whenever they are 128 KiB together."""
    spill, written, write = Spill(), [0], os.pwrite

    def counted(fd: int, data: bytes, offset: int) -> int:
        written[0] += len(data)
        return write(fd, data, offset)

    monkeypatch.setattr(os, "pwrite", counted)
    for number in range(1, 65):
        place = spill.add(bytes([number]) * (1 << 15))
        added = number << 15
        assert written[0] == (added >> 17 << 17 if added >= MEGABYTE else 0)
        assert spill.get(place, 1 << 15) == bytes([number]) * (1 << 15)


def test_an_unreferenced_spill_closes_its_file() -> None:
    """A spill that is no longer referenced closes its descriptor."""
    before = len(os.listdir("/proc/self/fd"))
    spill = Spill()
    spill.add(b"." * MEGABYTE)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    del spill
    assert len(os.listdir("/proc/self/fd")) == before


def test_without_a_folder_all_stays_in_memory(folder: Path) -> None:
    """If no temporary file can be created, all pieces stay in memory."""
    folder.rmdir()
    spill = Spill()
    places = [spill.add(bytes([n]) * MEGABYTE) for n in range(3)]
    assert [spill.get(place, 1) for place in places] == [b"\0", b"\1", b"\2"]


def test_a_full_disk_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces written before the disk was full, and pieces that did not fit, are all returned."""
    write, space = os.pwrite, [MEGABYTE + 1000]

    def write_while_there_is_space(fd: int, data: bytes, offset: int) -> int:
        if not space[0]:
            raise OSError(28, "No space left on device")
        written = write(fd, data[: space[0]], offset)
        space[0] -= written
        return written

    monkeypatch.setattr(os, "pwrite", write_while_there_is_space)
    spill = Spill()
    places = [spill.add(bytes([n]) * MEGABYTE) for n in range(4)]
    assert [spill.get(place, MEGABYTE) for place in places] == [bytes([n]) * MEGABYTE for n in range(4)]


def test_a_piece_that_cannot_be_replaced_is_appended(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the file refuses the new bytes of a piece, the piece gets another place, and nothing is lost."""
    spill = Spill()
    place, other = spill.add(b"a" * MEGABYTE), spill.add(b"b" * MEGABYTE)

    def refuse(_fd: int, _data: bytes, _offset: int) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pwrite", refuse)
    moved = spill.replace(place, b"c" * MEGABYTE)
    assert moved not in (place, other)
    assert spill.get(moved, MEGABYTE) == b"c" * MEGABYTE
    assert spill.get(other, MEGABYTE) == b"b" * MEGABYTE


def test_a_file_that_loses_bytes_raises() -> None:
    """A piece that cannot be read back completely raises; a shorter text is never returned."""
    spill = Spill()
    place = spill.add(b"." * MEGABYTE)
    with pytest.raises(OSError, match="has lost 1 bytes"):
        spill.get(place + 1, MEGABYTE)
