"""What is wrong with a rule."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_COMPARED = 40
"""Longer words have no nearest word."""
_MOST_QUOTED = 40
"""Characters of a word that an error repeats."""


class RuleError(ValueError):
    """A rule that cannot be read. The text says in one line what is wrong and what to write instead."""

    def __init__(self, reason: str, at: int = 0) -> None:
        """Create an error.

        Args:
            reason: What is wrong, in one line. Words of the rule in it may contain any character.
            at: The offset in the rule at which it is wrong, in characters.
        """
        super().__init__(reason)
        self.reason = reason
        self.at = at


def quoted(word: str) -> str:
    """Return a word of a rule in quotes, cut after 40 characters."""
    return f'"{word}"' if len(word) <= _MOST_QUOTED else f'"{word[:_MOST_QUOTED]}…"'


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like a misspelt one; None if none is like it.

    Example:
        >>> nearest("durtion", ["duration", "target"])
        'duration'
    """
    if len(word) > _MOST_COMPARED:
        return None
    from difflib import get_close_matches  # 1 ms, which a rule without a mistake does not need

    found = get_close_matches(word.lower(), list(known), 1)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean duration?)` for a misspelt word; empty if no known word is like it."""
    found = nearest(word, known)
    return f" (did you mean {found}?)" if found else ""
