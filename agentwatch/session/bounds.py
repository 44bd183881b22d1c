"""Limits for the strings of a stream that a session keeps in memory.

A string longer than any that real agents write is cut, so that a few large lines cannot fill the memory. The
recording has all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

_MOST_CHARACTERS = 4096
"""The length of the longest path on Linux. A target is shown with at most 200 columns."""
MOST_COMMAND = 1 << 16
"""The length of the longest command, which rules judge as a whole. One of this length was cut."""
MOST_ID_CHARACTERS = 512
_MOST_MEMBERS = 256


def bounded(text: str | None, most: int = _MOST_CHARACTERS) -> str | None:
    """Return a text of at most `most` characters; a longer one is cut and ends in `…`."""
    if text is None or len(text) <= most:
        return text
    return f"{text[: most - 1]}…"


def bounded_id(text: str) -> str:
    """Return an id of at most 512 characters.

    The end of a longer one is replaced by a digest of all of it: two ids that differ only in their ends stay
    different.
    """
    if len(text) <= MOST_ID_CHARACTERS:
        return text
    from hashlib import blake2b  # takes 2 ms to import

    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
    return f"{text[: MOST_ID_CHARACTERS - len(digest) - 1]}…{digest}"


def bounded_members(fields: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Return at most 256 members of an object without inner objects, with keys and texts cut."""
    if fields is None:
        return None
    return {
        bounded(key) or "": bounded(value) if isinstance(value, str) else value
        for key, value in islice(fields.items(), _MOST_MEMBERS)
    }
