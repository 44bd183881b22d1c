"""What may be written to a terminal: the sequences that the screen itself sends, and text that cannot act.

The list of sequences was taken from a benign run on a terminal that answers nothing. Every other sequence is
foreign. A mode that is set more often than the screen sets it is foreign too: a payload may send a sequence
that the screen sends as well, and only the count reveals it.
"""

import base64
import binascii
import re
import unicodedata
from collections import Counter
from functools import cache
from typing import NamedTuple

_TOKEN = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    rb"|\x1b\][^\x07\x1b\x9c]*(?:\x07|\x1b\\)"  # OSC
    rb"|\x1b[PX^_k][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC, screen's title
    rb"|\x1b[ -/]*[0-~]"  # two characters or more
    rb"|\x1b"  # a sequence that is cut off
)
_BYTE = rb"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_COLOUR = rb"2;" + rb";".join([_BYTE] * 3)
_STYLE = rb"(?:[123479]|38;" + _COLOUR + rb"|48;" + _COLOUR + rb")"
_DRAWN = re.compile(
    rb"\x1b\[0m"
    rb"|\x1b\[" + _STYLE + rb"(?:;" + _STYLE + rb")*m"
    rb"|\x1b\[\d{1,4};\d{1,4}H"
    rb"|\x1b\]22;(?:default|pointer|text)\x07"
)
"""The sequences of a picture: styles in true colours, positions, and the pointer's shape."""
_MODES = Counter(
    {
        **{b"\x1b[?%d%c" % (mode, end): 2 for mode in (1000, 1003, 1006, 1015) for end in b"hl"},
        **{b"\x1b[?%d%c" % (mode, end): 1 for mode in (7, 25, 1004, 1049, 2004) for end in b"hl"},
        **dict.fromkeys((b"\x1b[?2026$p", b"\x1b[?2048$p", b"\x1b[>25u", b"\x1b[<u"), 1),
        **dict.fromkeys((b"\x1b[22;0t", b"\x1b[23;0t"), 1),
    }
)
"""How often a screen sets or requests each mode from its start to its end."""
_TITLE = re.compile(rb"\x1b\]0;agentwatch(?: ([^\x07\x1b]{1,200}))?\x07")
_COPY = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/]*={0,2})\x07")


class Written(NamedTuple):
    """The bytes written to a terminal, split into sequences and text."""

    sequences: list[bytes]
    text: bytes
    """The text between the sequences."""


def taken_apart(raw: bytes) -> Written:
    """Split raw bytes into the sequences that begin with an escape, complete or cut off, and the text."""
    return Written(_TOKEN.findall(raw), _TOKEN.sub(b"", raw))


def copied(raw: bytes) -> list[str]:
    """Return the texts copied to the clipboard, in order."""
    return [base64.b64decode(found).decode() for found in _COPY.findall(raw)]


def foreign(raw: bytes, *, screens: int = 1, bells: int = 1) -> list[str]:
    """Return what was sent to a terminal and is not the screen's own."""
    sequences, text = taken_apart(raw)
    modes: Counter[bytes] = Counter()
    found = []
    for sequence in sequences:
        if sequence in _MODES:
            modes[sequence] += 1
        elif not _is_own(sequence):
            found.append(repr(sequence))
    for mode, count in (modes - Counter({mode: screens * count for mode, count in _MODES.items()})).items():
        found.append(f"{mode!r} {count} times too often")
    try:
        shown = text.decode()
    except UnicodeDecodeError as error:
        return [*found, f"no UTF-8: {text[error.start - 10 : error.end + 10]!r}"]
    return found + acting(shown.replace("\r\n", "\n").replace("\a", "", bells))


def acting(text: str) -> list[str]:
    """Return the characters that act on a terminal, are invisible, or change the direction of text.

    A line end is not among them.
    """
    return sorted({f"U+{ord(char):04X}" for char in set(text) if char != "\n" and _acts(char)})


def driving(text: str) -> list[str]:
    """Return the acting characters of JSON, in which unassigned and private characters are allowed."""
    harmless = {f"U+{ord(char):04X}" for char in set(text) if unicodedata.category(char) in ("Cn", "Co")}
    return [name for name in acting(text) if name not in harmless]


@cache
def _acts(char: str) -> bool:
    is_filler = char in "\u034f\u115f\u1160\u3164\uffa0" or 0xFE00 <= ord(char) <= 0xFE0F
    return is_filler or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")


def _is_own(sequence: bytes) -> bool:
    return _DRAWN.fullmatch(sequence) is not None or _is_safe_copy(sequence) or _is_safe_title(sequence)


def _is_safe_title(sequence: bytes) -> bool:
    """Return whether a sequence sets a title of agentwatch whose text is harmless."""
    found = _TITLE.fullmatch(sequence)
    try:
        return found is not None and not acting((found[1] or b"").decode())
    except UnicodeDecodeError:
        return False


def _is_safe_copy(sequence: bytes) -> bool:
    """Return whether a sequence copies text that is harmless when pasted."""
    found = _COPY.fullmatch(sequence)
    if found is None:
        return False
    try:
        text = base64.b64decode(found[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return not acting(text) and not text.endswith("\n")
