"""Globs: `*` stands for any characters, `?` for one, `[ab]` for one of these. Upper and lower case are equal.

A glob takes time in proportion to the text: each part between two `*` is searched from the left, and is never
searched again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

WILDCARDS = frozenset("*?[")
_MOST_TEXT = 4096
"""Characters of a value that are compared. The session keeps no longer ones either."""
_MOST_REMEMBERED, _MOST_REMEMBERED_TEXT = 2048, 300
"""Paths whose result a glob keeps, and their longest length: 1 MB at most."""

Matcher = Callable[[str], bool]


def has_wildcard(glob: str) -> bool:
    """Return whether a value is a glob, and not just a word."""
    return not WILDCARDS.isdisjoint(glob)


def name_matcher(glob: str) -> Matcher:
    """Return whether a glob matches a whole name.

    Example:
        >>> matches = name_matcher("python*")
        >>> matches("Python3.12"), matches("ipython")
        (True, False)
    """
    lowered = glob.lower()
    if not has_wildcard(glob):
        return lambda name: name.lower() == lowered
    pattern = re.compile(_translated(lowered), re.DOTALL)
    return lambda name: pattern.fullmatch(name[:_MOST_TEXT].lower()) is not None


def text_matcher(glob: str) -> Matcher:
    """Return whether a text contains a word, or matches a glob as a whole.

    Example:
        >>> text_matcher("push")("git push origin"), text_matcher("*push")("git push origin")
        (True, False)
    """
    if has_wildcard(glob):
        return name_matcher(glob)
    lowered = glob.lower()
    return lambda text: lowered in text.lower()


def path_matcher(glob: str) -> Matcher:
    """Return whether a glob matches a path.

    `*` does not match `/`. `**` as a whole part matches any number of folders, also none. A glob without `/`
    matches the last part of a path.

    Example:
        >>> path_matcher("**/.env*")("deploy/.env.local"), path_matcher("src/*")("src/web/app.py")
        (True, False)
        >>> path_matcher("*.py")("src/web/app.py")
        True
    """
    lowered = glob.lower().replace("\\", "/")
    if "/" not in lowered:
        matches = name_matcher(lowered)
        return _remembering(lambda path: matches(_parts(path)[-1]))
    groups: list[list[Matcher]] = [[]]
    for part in lowered.split("/"):
        if part == "**":
            groups.append([])
        else:
            groups[-1].append(name_matcher(part))
    return _remembering(lambda path: _matches_parts(_parts(path), groups))


def _remembering(matches: Matcher) -> Matcher:
    """Return a matcher that compares a path once: agents read and edit the same files many times."""
    found: dict[str, bool] = {}

    def remembered(path: str) -> bool:
        result = found.get(path)
        if result is None:
            result = matches(path)
            if len(path) <= _MOST_REMEMBERED_TEXT:
                if len(found) >= _MOST_REMEMBERED:
                    found.clear()
                found[path] = result
        return result

    return remembered


def _parts(path: str) -> list[str]:
    return path[:_MOST_TEXT].lower().replace("\\", "/").split("/")


def _matches_parts(parts: Sequence[str], groups: Sequence[Sequence[Matcher]]) -> bool:
    """Return whether groups of parts, with any number of other parts between two groups, are a whole path."""
    first, last = groups[0], groups[-1]
    if len(groups) == 1:
        return len(parts) == len(first) and _begins(parts, 0, first)
    end = len(parts) - len(last)
    if end < len(first) or not _begins(parts, 0, first) or not _begins(parts, end, last):
        return False
    if not last and not end:
        return False
    at = len(first)
    for group in groups[1:-1]:
        found = next(
            (start for start in range(at, end - len(group) + 1) if _begins(parts, start, group)), None
        )
        if found is None:
            return False
        at = found + len(group)
    return True


def _begins(parts: Sequence[str], start: int, group: Sequence[Matcher]) -> bool:
    return all(matches(parts[start + nth]) for nth, matches in enumerate(group))


def _translated(glob: str) -> str:
    """Return a glob as a regular expression without backtracking: each `*` takes as little as possible."""
    pieces: list[str] = [""]
    at = 0
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif char == "?":
            pieces[-1] += "."
        elif char == "[" and (end := glob.find("]", at + 1)) > 0:
            pieces[-1] += _one_of(glob[at:end])
            at = end + 1
        else:
            pieces[-1] += re.escape(char)
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>.*?{piece})" for piece in middle if piece) + (f".*{last}" if last else ".*")


def _one_of(chars: str) -> str:
    """Return the class of the characters between `[` and `]`; `!` as the first excludes them."""
    is_other = chars[0] == "!" and len(chars) > 1
    escaped = [re.escape(char) for char in chars[is_other:]]
    begin = "[^" if is_other else "["
    ranges = begin + "".join(escaped).replace(r"\-", "-") + "]"
    try:
        re.compile(ranges)
    except re.error:  # `z-a`: the characters themselves
        return f"{begin}{''.join(escaped)}]"
    return ranges
