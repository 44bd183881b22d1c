"""The name of a process of ours that has no terminal, for `ps` and `top`."""

from __future__ import annotations


def take_name(name: bytes) -> None:
    """Name this process; Linux only.

    Args:
        name: At most 15 bytes.
    """
    try:
        with open("/proc/self/comm", "wb") as comm:
            comm.write(name)
    except OSError:
        return
