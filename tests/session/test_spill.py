"""What a spill was given it gives back, from memory or from its file, whatever becomes of the disk."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.session.spill import Spill
from tests.builders.lines import PROPERTY

MEGABYTE = 1 << 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let temporary files be made in a folder of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@PROPERTY
@given(st.lists(st.binary(max_size=40).map(lambda data: data * 20_000), max_size=12))
def test_each_piece_comes_back(pieces: list[bytes]) -> None:
    """Each piece, and any end of it, is what was given, those in the file and those in memory."""
    spill = Spill()
    places = [spill.add(piece) for piece in pieces]
    for place, piece in zip(places, pieces, strict=True):
        assert spill.get(place, len(piece)) == piece
        assert spill.get(place + len(piece) // 2, len(piece) - len(piece) // 2) == piece[len(piece) // 2 :]


def test_less_than_a_megabyte_makes_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small session stays in memory; the file of a larger one has no name."""

    def refuse(*_: object) -> int:
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", refuse)
        Spill().add(b"." * (MEGABYTE - 1))
    spill = Spill()
    place = spill.add(b"." * MEGABYTE)
    assert spill.get(place, MEGABYTE) == b"." * MEGABYTE
    assert not list(folder.iterdir())


def test_its_file_goes_with_it() -> None:
    """A spill that nobody holds leaves no descriptor open."""
    before = len(os.listdir("/proc/self/fd"))
    spill = Spill()
    spill.add(b"." * MEGABYTE)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    del spill
    assert len(os.listdir("/proc/self/fd")) == before


def test_without_a_folder_all_stays_in_memory(folder: Path) -> None:
    """Where no temporary file can be made, every piece comes back all the same."""
    folder.rmdir()
    spill = Spill()
    places = [spill.add(bytes([n]) * MEGABYTE) for n in range(3)]
    assert [spill.get(place, 1) for place in places] == [b"\0", b"\1", b"\2"]


def test_a_full_disk_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written before the disk was full and what did not fit come back alike, also half written."""
    write, room = os.pwrite, [MEGABYTE + 1000]

    def write_while_there_is_room(fd: int, data: bytes, offset: int) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        written = write(fd, data[: room[0]], offset)
        room[0] -= written
        return written

    monkeypatch.setattr(os, "pwrite", write_while_there_is_room)
    spill = Spill()
    places = [spill.add(bytes([n]) * MEGABYTE) for n in range(4)]
    assert [spill.get(place, MEGABYTE) for place in places] == [bytes([n]) * MEGABYTE for n in range(4)]


def test_a_file_that_loses_bytes_is_told_of() -> None:
    """What cannot be read back whole is a fault, never a shorter text."""
    spill = Spill()
    place = spill.add(b"." * MEGABYTE)
    with pytest.raises(OSError, match="has lost 1 bytes"):
        spill.get(place + 1, MEGABYTE)
