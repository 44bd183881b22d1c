"""Reads what /proc shows of a process; see proc(5). A process may end, or another user may own it, at any
time: what cannot be read is None or empty. Each reading is one system call on an unbuffered file, in half the
time of `open()`.
"""

import os
import weakref
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from agentwatch.base.clock import epoch_ns

ROOT = Path("/proc")
_ENDED = frozenset({"Z", "X", "x"})
_MOST_STAT = 2048
_LAST_FIELD = 20
_MOST_COMMAND = 16 << 10
"""A command line may contain a whole prompt."""
_MOST_ARGUMENTS = 64
_MOST_ARGUMENT = 300
_MOST_FILES = 4096
_MOST_LOCKS = 256 << 10
_MOST_ENVIRONMENT = 1 << 18
_MOST_HELD = 500
"""The most processes that are held. Each takes a descriptor, and a process may usually open 1,024."""
_PAGE = 2048
"""One reading returns shorter files whole; of longer ones the kernel returns a part of at least this size."""
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Stat(NamedTuple):
    """The fields of /proc/PID/stat that matter here."""

    name: str
    parent: int
    began: int
    """The start of the process, in clock ticks since the system was started."""
    ticks: int
    """The CPU time of it and its ended children, in clock ticks."""
    has_terminal: bool = False
    state: str = "S"
    """`R` running, `S` sleeping, `T` stopped by a signal, `Z` ended and not reaped."""
    session: int = 0

    @property
    def is_runnable(self) -> bool:
        """Whether its main thread runs, or waits for a processor."""
        return self.state == "R"

    @property
    def began_ms(self) -> int:
        return epoch_ns() // 10**6 + self.began * 1000 // _TICKS_PER_SECOND


class Proc:
    """The files of /proc, or of a folder that has the same files."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = os.fspath(root)
        self._stats: dict[int, Stat | None] | None = None
        """The facts read since `read_once`; None before it is called."""

    def exists(self) -> bool:
        return os.path.exists(f"{self._root}/self/stat")

    def pids(self) -> set[int]:
        try:
            return {int(name) for name in os.listdir(self._root) if name.isdecimal()}
        except OSError:
            return set()

    def newest(self) -> bytes:
        """Return the id of the process or thread that has begun last, see proc_loadavg(5); empty if it is not
        shown, as by gVisor."""
        last = self._read("loadavg", _MOST_STAT).rpartition(b" ")[2].strip()
        return b"" if last == b"0" else last

    def read_once(self) -> None:
        """Read each state once until the next call: 300 sessions and the table ask for the same ones."""
        self._stats = {}

    def stat(self, pid: int) -> Stat | None:
        """Return None if there is no process, or it has ended and was not reaped."""
        stats = self._stats
        if stats is not None and pid in stats:
            return stats[pid]
        stat = self.stat_now(pid)
        if stat is not None and stat.state in _ENDED:
            stat = None
        if stats is not None:
            stats[pid] = stat
        return stat

    def stat_now(self, pid: int) -> Stat | None:
        """Return also the facts of a process that has ended and was not reaped; None if there is none."""
        before, _, after = self._read(f"{pid}/stat", _MOST_STAT).rpartition(b")")
        fields = after.split(maxsplit=_LAST_FIELD)
        try:
            name = before.partition(b"(")[2].decode("utf-8", "replace")
            state, ticks = fields[0].decode("ascii", "replace"), sum(map(int, fields[11:15]))
            has_terminal = int(fields[4]) != 0
            return Stat(name, int(fields[1]), int(fields[19]), ticks, has_terminal, state, int(fields[3]))
        except (IndexError, ValueError):
            return None

    def has_program(self, pid: int) -> bool:
        """Whether a process runs a program: false without one, or if it has ended and was not reaped."""
        try:
            os.readlink(f"{self._root}/{pid}/exe")
        except PermissionError:  # it is shown to no debugger
            return True
        except OSError:
            return False
        return True

    def ends(self) -> "ProcessEnds | None":
        """Return an object that tells which processes have ended. It is None for another folder than the
        /proc of the system, without `pidfd_open`, and while too many files are open."""
        if self._root == os.fspath(ROOT) and hasattr(os, "pidfd_open"):
            with suppress(OSError):  # too many files are open
                return ProcessEnds()
        return None

    def environment(self, pid: int) -> list[bytes]:
        """What the process was started with, `NAME=value` each."""
        return self._read(f"{pid}/environ", _MOST_ENVIRONMENT).split(b"\0")

    def uid(self, pid: int) -> int | None:
        """Return None if there is no such process. The folder of one that no debugger may attach to, as of
        Codex, belongs to root; its status has the user."""
        try:
            owner = os.stat(f"{self._root}/{pid}").st_uid
        except OSError:
            return None
        if owner:
            return owner
        for line in self._read(f"{pid}/status", _MOST_STAT).splitlines():
            key, *values = line.split()[:2] or [b""]
            if key == b"Uid:" and values and values[0].isdigit():
                return int(values[0])
        return owner

    def arguments(self, pid: int) -> tuple[str, ...]:
        """Return at most 64 arguments of 300 characters each."""
        line = self._read(f"{pid}/cmdline", _MOST_COMMAND).rstrip(b"\0 ")
        words = line.split(b"\0")[:_MOST_ARGUMENTS] if line else []
        return tuple(word.decode("utf-8", "replace")[:_MOST_ARGUMENT] for word in words)

    def cwd(self, pid: int) -> str | None:
        """Return None if it is not shown."""
        try:
            return os.readlink(f"{self._root}/{pid}/cwd").removesuffix(" (deleted)")
        except OSError:
            return None

    def open_paths(self, pid: int) -> list[str] | None:
        """Return None if they are not shown."""
        folder, found = f"{self._root}/{pid}/fd", []
        try:
            with os.scandir(folder) as entries:
                for entry in islice(entries, _MOST_FILES):
                    try:
                        found.append(os.readlink(entry.path))
                    except OSError:  # it was closed
                        continue
        except OSError:
            return None
        return found

    def lock_holders(self) -> dict[int, int] | None:
        """The process that holds a lock (flock) on a file, by the file's inode; None if not shown. The device
        is left out: on some file systems it differs from that of stat(2). See proc_locks(5): `1: FLOCK
        ADVISORY WRITE 1234 08:01:5678 0 EOF`."""
        if not os.path.exists(f"{self._root}/locks"):
            return None
        holders = {}
        for line in self._read("locks", _MOST_LOCKS).splitlines():
            match line.split():
                case [_, b"FLOCK", _, b"WRITE", pid, place, *_]:
                    inode = place.rpartition(b":")[2]
                    if pid.isdigit() and inode.isdigit():
                        holders[int(inode)] = int(pid)
        return holders

    def namespace(self) -> str:
        """The namespace of process ids, `pid:[4026531836]`; empty if it is not shown."""
        try:
            return os.readlink(f"{self._root}/self/ns/pid")
        except OSError:
            return ""

    def _read(self, name: str, most_bytes: int) -> bytes:
        try:
            fd = os.open(f"{self._root}/{name}", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            return b""
        try:
            found = os.read(fd, most_bytes)
            while _PAGE <= len(found) < most_bytes and (more := os.read(fd, most_bytes - len(found))):
                found += more
        except OSError:  # the process has ended
            return b""
        else:
            return found
        finally:
            os.close(fd)


class ProcessEnds:
    """Tells which processes have ended, reaped or not, by one system call for all. Each is held by a
    descriptor, see pidfd_open(2), which names no later process with the same id."""

    def __init__(self) -> None:
        import select  # a printed recording does without it

        self._poll = select.epoll()
        self._held: dict[int, int] = {}
        """The descriptors by the id of the process."""
        self._most = min(_MOST_HELD, os.sysconf("SC_OPEN_MAX") // 2)
        weakref.finalize(self, _close_all, self._held)

    def __contains__(self, pid: int) -> bool:
        return pid in self._held

    def hold(self, pid: int) -> None:
        """Hold a process if that is possible."""
        if pid in self._held or len(self._held) >= self._most:
            return
        try:
            fd = self._held[pid] = os.pidfd_open(pid)
        except (OSError, OverflowError):
            return
        self._poll.register(fd)

    def release(self, pid: int) -> None:
        if (fd := self._held.pop(pid, None)) is not None:
            self._poll.unregister(fd)
            os.close(fd)

    def take(self) -> set[int]:
        """Return the processes that have ended since the last call, and hold them no longer."""
        ready = {fd for fd, _ in self._poll.poll(0)} if self._held else set()
        ended = {pid for pid, fd in self._held.items() if fd in ready} if ready else set()
        for pid in ended:
            self.release(pid)
        return ended


def _close_all(held: dict[int, int]) -> None:
    for fd in held.values():
        os.close(fd)


_THIS_MACHINE = Proc()
pids, stat_of, environment_of = _THIS_MACHINE.pids, _THIS_MACHINE.stat_now, _THIS_MACHINE.environment
