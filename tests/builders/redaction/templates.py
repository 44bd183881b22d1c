"""Makes made-up secrets of templates, so that no secret stands whole in the source.

`<hex:32>` becomes 32 random characters of that alphabet, and what stands between `«` and `»` is the secret.
"""

import re
import string
from random import Random
from typing import NamedTuple

ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "an": string.ascii_letters + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
    "num": string.digits,
    "pw": string.ascii_letters + string.digits + "!%^*+?",
}
"""Characters by the name of their alphabet."""
_PART = re.compile(r"<([a-zA-Z0-9]+):([0-9]+)>|<uuid>|<pem>")
_DASHES = "-" * 5


class Planted(NamedTuple):
    """A text with a secret in it."""

    text: str
    start: int
    """The index of the first character of the secret."""
    end: int
    """The index after its last character."""


def filled(template: str, random: Random) -> str:
    """Return a template with random characters for its parts."""
    return _PART.sub(lambda match: _made(match, random), template)


def planted(template: str, random: Random) -> Planted:
    text = filled(template, random)
    start, end = text.index("«"), text.index("»")
    return Planted(text.replace("«", "").replace("»", ""), start, end - 1)


def _made(match: re.Match[str], random: Random) -> str:
    """Return random characters for a part of a template."""
    if match[0] == "<uuid>":
        return "-".join("".join(random.choices(ALPHABETS["hex"], k=size)) for size in (8, 4, 4, 4, 12))
    if match[0] == "<pem>":
        return key_block(random, "\n")
    alphabet, size = ALPHABETS[match[1]], int(match[2])
    made = "".join(random.choices(alphabet, k=size))
    if match[1] == "pw":  # people are made to use each of these
        return made[:-3] + random.choice("!%^*+?") + random.choice(string.digits) + random.choice("qwerty")
    return made


def key_block(random: Random, line_end: str, kind: str = "RSA ") -> str:
    """Return a made-up block of a private key."""
    lines = ["".join(random.choices(ALPHABETS["b64"], k=64)) for _ in range(12)]
    words = f"{kind}PRIVATE" + " KEY"
    return line_end.join([f"{_DASHES}BEGIN {words}{_DASHES}", *lines, f"{_DASHES}END {words}{_DASHES}"])
