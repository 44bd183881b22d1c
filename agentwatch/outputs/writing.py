"""Writing all of it: a pipe and a full disk take less than they are given."""

from __future__ import annotations

import os


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`.

    Raises:
        OSError: It cannot be written; `BrokenPipeError` when nobody reads.
    """
    while data:
        data = data[os.write(fd, data) :]
