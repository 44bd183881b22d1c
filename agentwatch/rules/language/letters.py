"""The characters that one place of a regular expression matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Letters: TypeAlias = Callable[[str], bool]
"""Returns whether a character, in lower case, is one of them."""

_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


def is_word(char: str) -> bool:
    """Return whether a character is a letter, a digit or `_`."""
    return char.isalnum() or char == "_"


_CLASSES: dict[str, Letters] = {
    "d": str.isdecimal,
    "D": lambda char: not char.isdecimal(),
    "w": is_word,
    "W": lambda char: not is_word(char),
    "s": str.isspace,
    "S": lambda char: not char.isspace(),
}


def ANY(char: str) -> bool:  # noqa: N802 - a constant, like the results of `one`
    """Return whether a character is no line end: `.`."""
    return char != "\n"


def one(char: str) -> Letters:
    """Return the test for one character, in upper or lower case."""
    lowered = char.lower()
    return lambda other: other == lowered


def escaped_class(char: str) -> Letters | None:
    """Return what `\\` before a character matches; None if it is a letter or digit without such a meaning."""
    if char in _CLASSES:
        return _CLASSES[char]
    if char in _PLAIN:
        return one(_PLAIN[char])
    return one(char) if char and not char.isalnum() else None


def read_class(pattern: str, at: int) -> tuple[Letters | None, int]:
    """Read `[…]` from the character after `[`; return its letters and the offset after it.

    The letters are None if it has no end, or an escape of another kind.
    """
    is_other = pattern.startswith("^", at)
    at += is_other
    ranges: list[tuple[str, str]] = []
    classes: list[Letters] = []
    first = True
    while first or not pattern.startswith("]", at):
        first = False
        char, at = pattern[at : at + 1], at + 1
        if char == "\\":
            char, at = pattern[at : at + 1], at + 1
            if char in _CLASSES:
                classes.append(_CLASSES[char])
                continue
            if char.isalnum() and char not in _PLAIN:
                return None, at
            char = _PLAIN.get(char, char)
        if not char:
            return None, at
        end = char
        if pattern.startswith("-", at) and pattern[at + 1 : at + 2] not in ("", "]", "\\"):
            end, at = pattern[at + 1], at + 2
        ranges.append((char, end))
    return _of(ranges, classes, is_other), at + 1


def _of(ranges: list[tuple[str, str]], classes: list[Letters], is_other: bool) -> Letters:
    def among(char: str) -> bool:
        upper = char.upper() if len(char.upper()) == 1 else char
        found = any(low <= char <= high or low <= upper <= high for low, high in ranges)
        return (found or any(letters(char) for letters in classes)) != is_other

    return among
