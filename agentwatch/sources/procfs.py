"""Reads process ids and process states from /proc; on systems without it, there are no processes."""

from __future__ import annotations

import os
from typing import NamedTuple


class ProcessStat(NamedTuple):
    """The fields of /proc/PID/stat."""

    name: str
    fields: list[bytes]
    """The fields after the name, from the third of proc(5) on: state, parent, group, session and so on."""


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
