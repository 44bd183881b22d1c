"""Decides whether a command may write a file, and writes it: it is whole, or it is not there."""

from __future__ import annotations

import errno
import os
import signal
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import click

from agentwatch.base.faults import BROKEN_PIPE, INCOMPLETE_RECORDING, USAGE, Fault, cannot_create, raising
from agentwatch.base.files import write_all
from agentwatch.cli.address import STDIN, named_file
from agentwatch.recording.store import SessionFiles, sessions_folder
from agentwatch.recording.write_lock import is_being_written

STDOUT = Path("-")
_RECORDINGS = (".ndjson", ".jsonl")
_OF_DATABASES = ("-wal", "-shm", "-journal")
"""What SQLite appends to the name of a database for the files beside it."""
_MOST_LINKS = 40
_WRITTEN_BYTES = 1 << 16
"""How much is written at once: a page has a piece for each call."""
_OPEN = os.O_WRONLY | os.O_NONBLOCK | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
"""O_NONBLOCK: opening a FIFO would wait for a reader."""
_LINES_AT_ONCE = 1 << 12


class _Kept(NamedTuple):
    path: Path
    status: os.stat_result | None
    words: str


def check_output(
    output: Path | None, inputs: Iterable[str], *, is_forced: bool, has_times: bool = False
) -> None:
    """Check that a command may write the file that the user has named, before the command reads anything.
    Three files are never replaced, also not through a link: an input, a file that belongs to a recording, and
    a file that is being written. The `SessionFiles` of a recording belong to it, whether they exist or not,
    if the recording is an input, ends in `.ndjson` or `.jsonl`, or has arrival times. A recording whose only
    other file is its arrival times may be replaced together with them. Any other existing file is replaced if
    the user says so. A device, a pipe and stdout (`-`) can always be written. `output` is None for a name
    that the command chooses. `has_times`: arrival times are written beside the file."""
    if output is None:
        return
    kept = list(_kept(inputs))
    if (fd := descriptor(output)) is not None:
        with suppress(OSError):  # a closed one is reported when it is written
            _check_kept(output, _real(output), os.fstat(fd), kept)
        return
    with raising(cannot_create, output):
        status = _status(output)
        if status is None:
            os.stat(f"{_real(output).parent}/.")
        elif stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(output))
    if status is not None and not stat.S_ISREG(status.st_mode):
        return
    _check(output, kept, is_forced=is_forced, has_times=has_times)
    if has_times:
        times = SessionFiles(_real(output) if output.is_symlink() else output).times
        _check(times, kept, is_forced=is_forced, recording=_real(output))


def owner_of(path: Path, recording: Path | None = None) -> Path | None:
    """Return the recording, or its arrival times, to which a file's name belongs; the file may not exist."""
    for at in (at for at, sign in enumerate(path.name) if sign == "." and at):
        files = SessionFiles(path.with_name(f"{path.name[:at]}.ndjson"))
        if path not in files.every[1:]:
            continue
        for owner in (*map(files.recording.with_suffix, _RECORDINGS), files.times):
            if owner not in (path, recording) and os.path.lexists(owner):
                return owner
    return None


def descriptor(path: Path) -> int | None:
    """Return the open descriptor that `-`, /dev/stdout, /dev/fd/3 or a link to one names; None for others."""
    if path == STDOUT:
        return 1
    folder = os.path.realpath("/dev/fd")
    for _ in range(_MOST_LINKS):
        if path.name.isdecimal() and os.path.realpath(path.parent) == folder:
            return int(path.name)
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def write_file(path: Path, pieces: Iterable[bytes], *, replaces: bool) -> int:
    """Write a file under another name, and give it its name when it is complete; return its size. Only the
    user may read a new file. A file that is replaced, as `replaces` and `check_output` allow, keeps its
    permissions, and a link its target. A device, a FIFO or an open descriptor is written directly; if its
    reader has closed it, `Exit` ends the command with 141."""
    fd = descriptor(path)
    if fd is not None:
        return _write_descriptor(fd, pieces)
    path = _real(path)
    with raising(cannot_create, path):
        mode = _mode_of(path, replaces=replaces)
    if mode is not None and not stat.S_ISREG(mode):
        with raising(cannot_create, path):
            return _write_device(path, pieces)
    # Ctrl-C waits until the file is created and its removal is certain.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        fd, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise cannot_create(path, error) from None
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        size = _write(fd, pieces)
        if mode is not None:
            os.fchmod(fd, stat.S_IMODE(mode))
        os.fsync(fd)
        if replaces:
            os.replace(name, path)
        else:
            _name(name, path)
    except OSError as error:
        raise cannot_create(path, error) from None
    finally:
        os.close(fd)
        with suppress(FileNotFoundError):
            os.unlink(name)
    return size


def _check(
    path: Path, kept: list[_Kept], *, is_forced: bool, recording: Path | None = None, has_times: bool = False
) -> None:
    real, status = _real(path), _present(path)
    _check_kept(path, real, status, kept)
    for name in (_real(path.parent) / path.name, real):
        if (owner := owner_of(name, recording)) is not None:
            raise _refused(path, f"it belongs to the same recording as {owner.name}")
    if status is None:
        return
    if _is_written(real):
        raise _refused(path, "it is being written")
    if real.parent == _real(sessions_folder()):
        raise _refused(path, "it is among the saved sessions")
    if real.suffix in _RECORDINGS:
        files = SessionFiles(real)
        replaced = {files.recording, files.old_index, *([files.times] if has_times else [])}
        for beside in files.every:
            if beside not in replaced and os.path.lexists(beside):
                raise _refused(path, f"it is a recording with {beside.name}")
    if not is_forced:
        raise Fault(f"cannot write {path}: it exists; --force replaces it", USAGE)


def _check_kept(path: Path, real: Path, status: os.stat_result | None, kept: list[_Kept]) -> None:
    for each in kept:
        if real == each.path or (status and each.status and os.path.samestat(status, each.status)):
            raise _refused(path, each.words)


def _refused(path: Path, reason: str) -> Fault:
    return Fault(f"cannot write {path}: {reason}; name another file", USAGE)


def _kept(inputs: Iterable[str]) -> Iterator[_Kept]:
    for words in inputs:
        name, _ = named_file(words) or (words, None)
        path = Path(name)
        if path == STDIN:
            with suppress(OSError):
                yield _Kept(path, os.fstat(0), "it is the input on stdin")
            continue
        if not os.path.exists(path):
            path = path.parent  # of a session in a database
        if not os.path.isfile(path):
            continue
        yield _Kept(_real(path), _present(path), "it is an input of this command")
        for each in {path, _real(path)}:
            of_database = (each.with_name(each.name + ending) for ending in _OF_DATABASES)
            for beside in (*SessionFiles(each).every[1:], *of_database):
                yield _Kept(_real(beside), _present(beside), f"it belongs to the input {words}")


def _real(path: Path) -> Path:
    """Return the path behind all links; `resolve` raises a RuntimeError if they form a circle."""
    return Path(os.path.realpath(path))


def _present(path: Path) -> os.stat_result | None:
    """Return the status of a file; None if it does not exist or cannot be seen."""
    with suppress(OSError):
        return path.stat()
    return None


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file; None if it does not exist."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_written(path: Path) -> bool:
    """Whether a file is a recording, or an agent's own file, that is still being written."""
    from agentwatch.agents.own_files import is_still_written  # 3 ms, for a file that exists only

    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return is_being_written(fd, None) or is_still_written(path)
    finally:
        os.close(fd)


def _mode_of(path: Path, *, replaces: bool) -> int | None:
    """Return the mode of the file that is written; None if it does not exist."""
    status = _status(path)
    if status is None:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if stat.S_ISREG(status.st_mode) and not replaces:
        raise FileExistsError(errno.EEXIST, "it exists", str(path))
    return status.st_mode


def _name(name: str, path: Path) -> None:
    """Give a complete file its name. Raise `FileExistsError` if the name was taken meanwhile."""
    try:
        os.link(name, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "it exists", str(path)) from None
        os.replace(name, path)


def _write(fd: int, pieces: Iterable[bytes]) -> int:
    size = 0
    gathered = bytearray()
    for piece in pieces:
        gathered += piece
        if len(gathered) >= _WRITTEN_BYTES:
            write_all(fd, bytes(gathered))
            size += len(gathered)
            gathered.clear()
    write_all(fd, bytes(gathered))
    return size + len(gathered)


def _write_device(path: Path, pieces: Iterable[bytes]) -> int:
    try:
        fd = os.open(path, _OPEN)
    except OSError as error:
        if error.errno == errno.ENXIO and path.is_fifo():
            raise OSError(errno.ENXIO, "the pipe has no reader", str(path)) from None
        raise
    try:
        os.set_blocking(fd, True)
        return _write(fd, pieces)
    finally:
        os.close(fd)


def _write_descriptor(fd: int, pieces: Iterable[bytes]) -> int:
    try:
        return _write(fd, pieces)
    except BrokenPipeError:
        raise click.exceptions.Exit(BROKEN_PIPE) from None
    except OSError as error:
        raise Fault(f"cannot print: {(error.strerror or str(error)).lower()}", INCOMPLETE_RECORDING) from None


def write_times(recording: Path, times: Iterable[tuple[int, int]], *, replaces: bool) -> None:
    """Write the arrival times beside a regular file, or remove those of a file that it replaces. `times` has
    the offset of each line that arrived at another time than the line before it, and its time in ms since the
    epoch."""
    if not recording.is_file():
        return
    path, pieces = SessionFiles(recording.resolve()).times, _pieces(iter(times))
    first = next(pieces, None)
    if first is not None:
        write_file(path, chain((first,), pieces), replaces=replaces)
    elif replaces:
        with suppress(FileNotFoundError):
            path.unlink()


def _pieces(times: Iterator[tuple[int, int]]) -> Iterator[bytes]:
    while lines := [b"%d %d\n" % each for each in islice(times, _LINES_AT_ONCE)]:
        yield b"".join(lines)
