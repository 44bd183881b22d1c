"""Formats sizes in bytes."""

from __future__ import annotations


def byte_size(count: int) -> str:
    """Return a number of bytes in a suitable decimal unit: `999 B`, `12.3 kB`, `4.0 GB`."""
    if count < 1000:
        return f"{count} B"
    amount = float(count)
    for unit in ("kB", "MB", "GB"):
        amount /= 1000
        if amount < 1000 or unit == "GB":
            break
    return f"{amount:.1f} {unit}"
