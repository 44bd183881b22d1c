"""Writes all of the data to the standard output, although a pipe may accept only a part of it at once."""

from __future__ import annotations

import os


def write_all(data: bytes) -> None:
    """Write all of `data`.

    Raises:
        OSError: It cannot be written; `BrokenPipeError` if nobody reads it any more.
    """
    left = memoryview(data)
    while left:
        left = left[os.write(1, left) :]
