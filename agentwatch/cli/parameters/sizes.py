"""Sizes on the command line: `500MB`, `50GB`, `2GiB`."""

from __future__ import annotations

import re

from agentwatch.cli.parameters import number_in

_SIZE = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,3}))?([kKMGT]?)(i?)[bB]?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def byte_count(words: str) -> int | None:
    """Return a size in bytes; None if the words are no size.

    Example:
        >>> byte_count("1.5GB"), byte_count("2GiB"), byte_count("much")
        (1500000000, 2147483648, None)
    """
    found = _SIZE.fullmatch(words)
    if found is None:
        return None
    whole, part, unit, binary = found.groups()
    if binary and not unit:
        return None
    scale: int = (1024 if binary else 1000) ** _POWERS[unit.upper()]
    return int(whole) * scale + int((part or "0").ljust(3, "0")) * scale // 1000


size = number_in(byte_count, "is no size; a size is 500MB, 50GB or 2GiB")
"""The callback of an option that is a size, in bytes."""
