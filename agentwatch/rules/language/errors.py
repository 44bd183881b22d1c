"""The errors in rules, and suggestions for misspelt words."""

from __future__ import annotations

import os
from collections.abc import Iterable

_MOST_COMPARED = 40
"""Longer words have no nearest word."""
_LEAST_SLIPPED = 4
"""Letters of the shortest word of which a slip is seen."""
_MOST_QUOTED = 40
"""Characters of a word that an error repeats."""


class RuleError(ValueError):
    """A rule that cannot be read. `reason` is one line, and may quote any character; `at` is the offset of
    the mistake in characters."""

    def __init__(self, reason: str, at: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


def quoted(word: str) -> str:
    return f'"{word}"' if len(word) <= _MOST_QUOTED else f'"{word[:_MOST_QUOTED]}…"'


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most similar to a misspelt word; None if no word is similar.

    Example:
        >>> nearest("durtion", ["duration", "target"])
        'duration'
    """
    if len(word) > _MOST_COMPARED:
        return None
    from difflib import get_close_matches  # 1 ms, which a rule without a mistake does not need

    found = get_close_matches(word.lower(), list(known), 1)
    return found[0] if found else None


def meant_by(word: str, known: Iterable[str]) -> str | None:
    """Return the known word of four or more letters that differs in one slip; None if no word does.

    A slip is one letter too many, too few or another one, or two letters swapped. Where other words than
    the known ones are possible too, the nearest word would be too far: `webfetch` is near to `fetch`.

    Example:
        >>> meant_by("edti", ["read", "edit"])
        'edit'
    """
    return next(
        (each for each in known if len(each) >= _LEAST_SLIPPED and _is_slip(word.lower(), each)), None
    )


def _is_slip(word: str, known: str) -> bool:
    if word == known:
        return False
    same = len(os.path.commonprefix((word, known)))  # noqa: RUF071 - characters are meant
    left, right = word[same:], known[same:]
    is_swapped = left[:2] == right[1::-1] and left[2:] == right[2:]
    return is_swapped or left[1:] == right[1:] or left[1:] == right or left == right[1:]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean duration?)` for a misspelt word; empty if no known word is like it."""
    found = nearest(word, known)
    return f" (did you mean {found}?)" if found else ""
