"""Reads process ids and process states from /proc; on systems without it, there are no processes."""

from __future__ import annotations

import os
from typing import NamedTuple

_MOST_ENVIRONMENT = 1 << 18


class ProcessStat(NamedTuple):
    """The fields of /proc/PID/stat."""

    name: str
    fields: list[bytes]
    """The fields after the name, from the third of proc(5) on: state, parent, group, session and so on."""

    @property
    def state(self) -> str:
        """The state: `R` running, `S` sleeping, `T` stopped by a signal, `Z` ended and not reaped."""
        return self.fields[0].decode("ascii", "replace")

    @property
    def parent(self) -> int:
        """The process id of the parent."""
        return int(self.fields[1])

    @property
    def session(self) -> int:
        """The id of the process session."""
        return int(self.fields[3])

    @property
    def began(self) -> int:
        """The time of the start, in clock ticks since the system was started."""
        return int(self.fields[19])


def pids() -> list[int]:
    """Return the ids of all processes."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def stat_of(pid: int) -> ProcessStat | None:
    """Return the state of a process; None if the process does not exist."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            before, _, after = file.read().rpartition(b")")
    except OSError:
        return None
    return ProcessStat(before.partition(b"(")[2].decode("utf-8", "replace"), after.split())


def environment_of(pid: int) -> list[bytes]:
    """Return the environment that a process was started with, `NAME=value` each; empty if not readable."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read(_MOST_ENVIRONMENT).split(b"\0")
    except OSError:
        return []
