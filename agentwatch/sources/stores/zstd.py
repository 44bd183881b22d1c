"""Reads a recording that is compressed with Zstandard, as Codex keeps its older rollouts (`.jsonl.zst`)."""

from __future__ import annotations

import errno
import importlib
import io
import os
from pathlib import Path
from typing import Any

MAGIC = b"\x28\xb5\x2f\xfd"
_PIECE_BYTES = 1 << 20
"""A session is never decompressed in memory as a whole."""
_LONGEST_LINE = 16 << 20
"""A longer line is returned in pieces. The reader of recordings reads only its beginning and its end."""
_MOST_BYTES = 4 << 30
"""The decompressed size is limited: a small file may contain any amount of data."""
_MODULES = ("compression.zstd", "backports.zstd", "zstandard")
"""Python 3.14 has the first. The others are packages; the extra `zstd` installs the last."""


def compressed_at(path: Path, head: bytes) -> CompressedLines | None:
    """Return None for any other file. Raise `OSError` if Python cannot open or decompress it."""
    return CompressedLines(path) if head.startswith(MAGIC) else None


class CompressedLines:
    """The lines of a compressed recording. It does not grow: Codex decompresses one that it continues."""

    def __init__(self, path: Path) -> None:
        """Raise `OSError` if the file cannot be opened, or Python cannot decompress it."""
        self._module = _zstandard()
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
        self._file = io.FileIO(fd)
        self._stream = _stream(self._module, self._file)
        self._rest: list[bytes] = []
        """The pieces of a line without its end."""
        self._rest_bytes = self._read_bytes = 0
        self._is_over = False

    def new_lines(self) -> list[bytes]:
        """The lines in the next piece of the recording; none at its end."""
        while not self._is_over:
            piece = self._piece()
            if not piece:
                self._is_over = True
                return self._take_rest()
            self._read_bytes += len(piece)
            if self._read_bytes > _MOST_BYTES:
                raise OSError(errno.EFBIG, "more than 4 GiB when decompressed")
            first, *others = _lines(piece)
            self._rest.append(first)
            self._rest_bytes += len(first)
            if first.endswith(b"\n") or self._rest_bytes > _LONGEST_LINE:
                return [*self._take_rest(), *self._keep_open(others)]
        return []

    def close(self) -> None:
        self._file.close()

    def _piece(self) -> bytes:
        """The next decompressed bytes; empty at the end, or if the file was cut off."""
        try:
            piece: bytes = self._stream.read(_PIECE_BYTES)
        except EOFError:
            return b""
        except self._module.ZstdError as error:
            raise OSError(errno.EIO, "its compressed data is damaged") from error
        return piece

    def _take_rest(self) -> list[bytes]:
        rest, self._rest, self._rest_bytes = b"".join(self._rest), [], 0
        return [rest] if rest else []

    def _keep_open(self, lines: list[bytes]) -> list[bytes]:
        """Keep the last line if it has no end yet, and return the others."""
        if lines and not lines[-1].endswith(b"\n"):
            self._rest = [lines.pop()]
            self._rest_bytes = len(self._rest[0])
        return lines


def _lines(piece: bytes) -> list[bytes]:
    *whole, last = piece.split(b"\n")
    return [*(line + b"\n" for line in whole), *([last] if last else [])]


def _zstandard() -> Any:
    for name in _MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    from agentwatch.base.extras import EXTRAS, install_command

    what_to_do = f"{install_command(EXTRAS['zstd'])}, use Python 3.14, or decompress it (zstd -d)"
    raise OSError(errno.ENOTSUP, f"it is compressed with Zstandard: {what_to_do}")


def _stream(module: Any, file: io.FileIO) -> Any:
    if hasattr(module, "ZstdFile"):
        return module.ZstdFile(file)
    return module.ZstdDecompressor().stream_reader(file, read_across_frames=True)
