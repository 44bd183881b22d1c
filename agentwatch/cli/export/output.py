"""Writes the file of a command: it is whole, or it is not there."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agentwatch.faults import INCOMPLETE_RECORDING, Fault, cannot_create
from agentwatch.outputs.writing import write_all

STDOUT = Path("-")


def write_file(path: Path, pieces: Iterable[bytes], *, replaces: bool) -> int:
    """Write a file under another name, and give it its name when it is complete; return its size in bytes.

    A new file may only be read by the user. A file that is replaced keeps its permissions. A link is not
    replaced: its target is. A device or a FIFO is written directly.

    Args:
        path: The file; `-` for stdout.
        pieces: Its contents.
        replaces: Whether an existing file may be replaced.

    Raises:
        Fault: The file exists and may not be replaced, or it cannot be written. What existed is unchanged.
    """
    if path == STDOUT:
        return _write_stdout(pieces)
    try:
        path = path.resolve()
        mode = _mode_of(path, replaces=replaces)
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb", buffering=0) as device:
                return _write(device.fileno(), pieces)
        fd, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    except OSError as error:
        raise cannot_create(path, error) from None
    try:
        size = _write(fd, pieces)
        if mode is not None:
            os.fchmod(fd, stat.S_IMODE(mode))
        os.fsync(fd)
        os.replace(name, path)
    except OSError as error:
        raise cannot_create(path, error) from None
    finally:
        os.close(fd)
        with suppress(FileNotFoundError):
            os.unlink(name)
    return size


def _mode_of(path: Path, *, replaces: bool) -> int | None:
    """Return the mode of a file; None if the file does not exist.

    Raises:
        OSError: The file exists and may not be replaced, or it is a folder.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "it is a folder", str(path))
    if not replaces:
        raise FileExistsError(17, "it exists", str(path))
    return mode


def _write(fd: int, pieces: Iterable[bytes]) -> int:
    size = 0
    for piece in pieces:
        write_all(fd, piece)
        size += len(piece)
    return size


def _write_stdout(pieces: Iterable[bytes]) -> int:
    try:
        return _write(1, pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Fault(f"cannot print: {(error.strerror or str(error)).lower()}", INCOMPLETE_RECORDING) from None
