"""What /proc tells of processes; nothing where there is none."""

from __future__ import annotations

import os
from typing import NamedTuple


class ProcessStat(NamedTuple):
    """The line of a process in /proc/PID/stat."""

    name: str
    fields: list[bytes]
    """Those behind the name: state, parent, group, session and so on (proc(5), from the third on)."""


def pids() -> list[int]:
    """Return the ids of all processes."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def stat_of(pid: int) -> ProcessStat | None:
    """Return what is told of a process; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            before, _, after = file.read().rpartition(b")")
    except OSError:
        return None
    return ProcessStat(before.partition(b"(")[2].decode("utf-8", "replace"), after.split())
