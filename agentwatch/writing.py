"""Writes all of the data, although a pipe may accept only a part of it at once."""

from __future__ import annotations

import os


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`.

    Raises:
        OSError: The data cannot be written; `BrokenPipeError` if nobody reads it any more.
    """
    while data:
        data = data[os.write(fd, data) :]
