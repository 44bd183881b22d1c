"""The state of processes, read from /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def zombies_of(parent: int) -> list[int]:
    """Return the children of a process that have ended and were not reaped."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, of = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state == "Z" and int(of) == parent:
            found.append(int(path.parent.name))
    return found
