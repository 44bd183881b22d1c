"""Which files of folders have changed, as inotify of Linux notes it. Nothing is waited for: the notes are
read when they are asked for. Where a folder cannot be watched, its files are polled.
"""

from __future__ import annotations

import os
import struct
import sys
import weakref
from typing import NamedTuple

_MODIFY, _ATTRIB, _MOVED, _CREATE, _DELETE = 0x2, 0x4, 0xC0, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_FOLDER, _NO_LINK, _IS_FOLDER = 0x1000000, 0x2000000, 0x40000000
_ASKED = _MODIFY | _ATTRIB | _MOVED | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDER | _NO_LINK
_ENDED = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _IGNORED
_LOCAL = frozenset(
    {
        *(0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010),  # ext, xfs, btrfs, tmpfs, f2fs
        *(0x2FC12FC1, 0x794C7630, 0xCA451A4E),  # zfs, overlay, bcachefs
    }
)
"""The file systems that only this machine writes to, see statfs(2): what another one writes is not noted."""
_MOST_FOLDERS = 2_048
"""A watch takes 1 KB of the kernel's memory; users have at least 8,192 of them."""
_HEADER = struct.Struct("iIII")
_READ_BYTES = 1 << 16
_MOST_READINGS = 16
"""A queue of the kernel has 16,384 notes, of 32 to 48 bytes with their names."""


class Note(NamedTuple):
    folder: str
    name: str
    """The file or folder in it; empty if the folder has ended or got other rights, and is watched no more."""
    is_folder: bool = False
    is_entry: bool = False
    """Whether it is new, deleted or has another name; otherwise its content or its times have changed."""


class FolderWatch:
    def __init__(self) -> None:
        self._fd = -1
        self._folders: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        if not sys.platform.startswith("linux"):
            return
        import ctypes  # takes 1.5 ms, and only a list that stays open needs it

        libc = self._libc = ctypes.CDLL(None)
        self._status = ctypes.create_string_buffer(512)
        self._kind = ctypes.c_long.from_buffer(self._status)  # the first field of statfs
        if hasattr(libc, "inotify_init1"):
            self._fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd >= 0:
            weakref.finalize(self, os.close, self._fd)

    def add(self, folder: str) -> bool:
        """Watch a folder, or another one that is at its path now. Return whether it is watched: a change
        after the call is noted."""
        known = self._numbers.get(folder)
        if self._fd < 0 or (known is None and len(self._numbers) >= _MOST_FOLDERS):
            return False
        path = os.fsencode(folder)
        is_local = self._libc.statfs(path, self._status) == 0 and self._kind.value in _LOCAL
        number = self._libc.inotify_add_watch(self._fd, path, _ASKED) if is_local else -1
        if known is not None and number != known:
            self.remove(folder)
        if number < 0 or self._folders.setdefault(number, folder) != folder:  # it has another path too
            return False
        self._numbers[folder] = number
        return True

    def __contains__(self, folder: str) -> bool:
        return folder in self._numbers

    def remove(self, folder: str) -> None:
        if (number := self._numbers.pop(folder, None)) is not None:
            del self._folders[number]
            self._libc.inotify_rm_watch(self._fd, number)

    def notes(self) -> list[Note] | None:
        """Return what was noted since the last call; None if notes were lost."""
        found: dict[Note, None] = {}
        for _ in range(_MOST_READINGS if self._folders else 0):
            try:
                data = os.read(self._fd, _READ_BYTES)
            except OSError:  # all notes are read
                break
            at = 0
            while at < len(data):
                number, what, _, size = _HEADER.unpack_from(data, at)
                name = data[at + _HEADER.size : at + _HEADER.size + size].rstrip(b"\0")
                at += _HEADER.size + size
                if what & _OVERFLOW:
                    return None
                folder = self._folders.get(number)
                if folder is None:
                    continue
                if what & _ENDED or not name:
                    self.remove(folder)
                is_entry = bool(what & (_MOVED | _CREATE | _DELETE))
                found[Note(folder, os.fsdecode(name), bool(what & _IS_FOLDER), is_entry)] = None
        return list(found)
