"""A format of tokens that begin with letters of their vendor."""

from __future__ import annotations

from typing import NamedTuple

ALNUM = "[A-Za-z0-9]"
HEX = "[0-9a-f]"
WORD = "[A-Za-z0-9_-]"
BASE64 = "[A-Za-z0-9+/_-]"
UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


class Rule(NamedTuple):
    """A format of tokens.

    Example:
        >>> Rule("github", "ghp_ gho_ ghu_ ghs_ ghr_", ALNUM + "{36,255}").prefixes.split()[0]
        'ghp_'
    """

    kind: str
    """The vendor, in lower case."""
    prefixes: str
    """What tokens begin with, separated by spaces."""
    body: str
    """The regular expression of what follows, which RE2 can compile: bounded repeats, no look-around."""
    weak: bool = False
    """Whether words of other texts have the prefix too, so that the rest must not be words."""
