"""A compressed rollout is read in bounded pieces, where Python can decompress it."""

import errno
import io
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from agentwatch.base.faults import cannot_open
from agentwatch.sources.stores import zstd
from agentwatch.sources.stores.zstd import MAGIC, CompressedLines, compressed_at

MODULES = ("compression.zstd", "backports.zstd", "zstandard")
_LARGEST_BLOCK = 1 << 17


class Damaged(Exception):
    """What the stand-in raises for data that is not a frame."""


class StandIn(io.RawIOBase):
    """Reads frames whose blocks are not compressed, as `compression.zstd.ZstdFile` does."""

    def __init__(self, file: io.FileIO) -> None:
        self._data = file.read() or b""
        self._at = 0
        self._left = b""

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes of at most `size`."""
        while not self._left and self._at < len(self._data):
            self._left = self._block()
        piece, self._left = self._left[:size], self._left[size:]
        return piece

    def _block(self) -> bytes:
        if self._data[self._at : self._at + 4] == MAGIC:
            self._at += 6
        head = int.from_bytes(self._data[self._at : self._at + 3], "little")
        begin, size = self._at + 3, head >> 3
        if head & 6:
            raise Damaged
        self._at = begin + size
        if self._at > len(self._data):
            raise EOFError
        return self._data[begin : self._at]


def frame(data: bytes) -> bytes:
    """Return a Zstandard frame with blocks that are not compressed, which every decompressor can read."""
    blocks = [data[at : at + _LARGEST_BLOCK] for at in range(0, len(data), _LARGEST_BLOCK)] or [b""]
    heads = [(len(block) << 3 | (nth == len(blocks) - 1)) for nth, block in enumerate(blocks)]
    body = b"".join(head.to_bytes(3, "little") + block for head, block in zip(heads, blocks, strict=True))
    return MAGIC + b"\x00\x58" + body


def take_away(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make modules impossible to import."""
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture(params=["stand-in", "zstandard"])
def _module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide a module for Zstandard: a stand-in, and the package where it is installed."""
    if request.param == "zstandard":
        pytest.importorskip("zstandard")
        take_away(monkeypatch, *MODULES[:2])
        return
    module = ModuleType("compression.zstd")
    module.ZstdFile, module.ZstdError = StandIn, Damaged  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "compression.zstd", module)


def saved(path: Path, data: bytes) -> CompressedLines:
    """Save a compressed recording and open it."""
    path.write_bytes(data)
    store = compressed_at(path, data[:8])
    assert store is not None
    return store


def all_lines(store: CompressedLines) -> list[bytes]:
    """Return all lines of a store, in the order in which it returns them, and close it."""
    found = []
    while lines := store.new_lines():
        found += lines
    assert store.new_lines() == []
    store.close()
    return found


@pytest.mark.usefixtures("_module")
def test_a_compressed_file_has_the_lines_of_the_file(tmp_path: Path) -> None:
    """Lines of any length come complete, also across pieces, frames and a missing last line end."""
    lines = [b'{"a":1}\n', b"x" * 3_000_000 + b"\n", b"\n", b"one\rline\n"] * 3 + [b"end"]
    data = b"".join(lines)
    whole = frame(data[:5_000_000]) + frame(data[5_000_000:])
    assert all_lines(saved(tmp_path / "a.zst", whole)) == lines
    assert all_lines(saved(tmp_path / "b.zst", frame(b""))) == []
    assert all_lines(saved(tmp_path / "c.zst", frame(b"a\nb\n"))) == [b"a\n", b"b\n"]


@pytest.mark.usefixtures("_module")
def test_damaged_or_too_large_data_ends_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks that are complete are shown, and the missing end is no error. Data that is no frame raises
    an OSError with a reason. A file with more data than the limit raises an error; a line without an end
    comes in pieces.
    """
    whole = frame(b"first\n" + b"x" * 200_000 + b"\nlast\n")
    assert all_lines(saved(tmp_path / "a.zst", whole[:-50]))[0] == b"first\n"
    store = saved(tmp_path / "a.zst", MAGIC + b"\x00\x58" + b"\xff" * 40)
    with pytest.raises(OSError, match="damaged") as raised:
        store.new_lines()
    assert raised.value.errno == errno.EIO
    store.close()
    monkeypatch.setattr(zstd, "_LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(zstd, "_MOST_BYTES", 4 << 20)
    store = saved(tmp_path / "a.zst", frame(b"x" * (5 << 20)))
    assert {len(lines) for lines in (store.new_lines(), store.new_lines())} == {1}
    with pytest.raises(OSError, match="more than 4 GiB"):
        all_lines(store)
    store.close()


def test_what_cannot_be_decompressed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a file that begins as a frame is taken; without a module, one line says what to do."""
    assert compressed_at(tmp_path / "a.jsonl.zst", b'{"type":"x"}') is None
    assert compressed_at(tmp_path / "a.jsonl.zst", b"") is None
    take_away(monkeypatch, *MODULES)
    with pytest.raises(OSError, match="Zstandard") as raised:
        saved(tmp_path / "a.zst", frame(b"a\n"))
    said = os.strerror(0) if raised.value.strerror is None else raised.value.strerror
    assert "pip install 'zstandard>=0.22', use Python" in said
    assert "\n" not in said
    assert f"{cannot_open(tmp_path, raised.value)}".endswith(said)  # a command is printed as it is
    denied = cannot_open(tmp_path, OSError(errno.EACCES, "Permission denied"))
    assert f"{denied}".endswith(": permission denied")
