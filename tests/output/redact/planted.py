"""Secrets that are planted in recordings, and how they may be written there."""

import re
from itertools import pairwise
from random import Random

from hypothesis import strategies as st

_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")


def _random_text(seed: int, size: int) -> str:
    """Return letters and digits that nobody would write by hand: text such as `0000` is not a secret."""
    random = Random(seed)
    return "".join(random.choices(_LETTERS, k=size - 3)) + "k7Q"


TOKEN = "ghp_LTW6T5bB6M4gBpFHanq5UjWhLha2mn82r7FP"
TOKENS = st.integers(0, 10**9).map(lambda seed: f"ghp_{_random_text(seed, 36)}")
"""Tokens of GitHub: they are found without a label."""
PASSWORDS = st.tuples(st.integers(0, 10**9), st.integers(14, 30)).map(lambda drawn: _random_text(*drawn))
"""Passwords: they are found with a label alone, and nobody takes them for words."""


def without_escapes(text: str) -> str:
    """Return a text without the escapes of any level."""
    for _ in range(4):
        text = _UNICODE.sub(lambda match: chr(int(match[1], 16)), text.replace("\\\\", "\\"))
        text = text.replace('\\"', '"').replace("\\n", "\n").replace("\\/", "/")
    return text


def occurs(secret: str, data: bytes) -> bool:
    """Return whether a secret occurs in some bytes, raw or escaped."""
    text = data.decode("utf-8", "replace")
    return secret in text or secret in without_escapes(text)


def pieces(text: str, places: list[int]) -> list[str]:
    """Return a text that is cut at places."""
    cuts = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(cuts)]
