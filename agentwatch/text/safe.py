"""Makes foreign text safe for a terminal.

Text from the agent, from a file that it read or from a command that it ran may contain sequences that attack
the user's terminal. This module converts it to text without control characters. Dangerous characters are
replaced by visible ones, not deleted:

- C0 controls and DEL become their Unicode pictures (ESC is `␛`), C1 controls become `<9B>`;
- direction marks, zero-width characters, tags, unassigned and private code points become `<U+202E>`;
- a joiner or non-joiner stays before a letter of a script whose letters join, where it changes their form, as
  in Persian and Sinhala; elsewhere it becomes `<U+200D>`;
- half a surrogate pair becomes U+FFFD;
- CR LF is a line end, a lone CR is `␍`, a tab is four spaces;
- after eight combining marks on one character, the rest becomes `…`;
- variation selectors, skin tones and the joiner between emoji are removed, and a flag becomes its two
  letters: rich and tmux disagree about the width of 10 of 39 such sequences, and a wrong width shifts a
  border.

What a person approves, and what is evidence, is shown by `exact_text`. It removes nothing: it also names the
characters of the last rule, each joiner, each blank other than a space, and the CR of a CR LF.

`SafeText` is the type of text that this module has made safe. Widgets, logs and terminals accept only
`SafeText`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import cache, lru_cache
from itertools import groupby
from typing import NewType

SafeText = NewType("SafeText", str)

_EMOJI = "\u203c-\u3299\U0001f000-\U0001faff"
_JOINING = (
    "\u0600-\u097f"  # Arabic, Syriac, Thaana, N'Ko, Samaritan, Mandaic, Devanagari
    "\u0980-\u0dff"  # Bengali to Sinhala
    "\u0f00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"  # Tibetan, Myanmar, Khmer, Mongolian, Arabic forms
)
"""The scripts in which U+200C and U+200D change the form of letters (The Unicode Standard, 23.2)."""
_EMOJI_JOINER = f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])"
_LETTERS_JOINER = f"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])(?=\\w)"
_SHOWN_BY_NUMBER = frozenset(
    (
        *"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0",  # printable but invisible
        *"\u0488\u0489\ua670\ua671\ua672\U00016fe4\U0001d165",  # ignored by collating comparisons
        *map(chr, range(0x2630, 0x2638)),  # from here on: width 2 since Unicode 16, width 1 before
        *map(chr, range(0x268A, 0x2690)),
        *map(chr, range(0x4DC0, 0x4E00)),
        *map(chr, range(0x1D300, 0x1D377)),
    )
)


def _replacement(code: int) -> str | int:
    """Its own code point, another string, or an empty string."""
    char = chr(code)
    if code < 0x20:
        return {"\n": "\n", "\t": "    "}.get(char, chr(0x2400 + code))
    if code == 0x7F:
        return "\u2421"
    if 0x80 <= code < 0xA0:
        return f"<{code:02X}>"
    if 0xD800 <= code < 0xE000:
        return "\ufffd"
    if 0xFE00 <= code < 0xFE10 or 0xE0100 <= code < 0xE01F0 or 0x1F3FB <= code <= 0x1F3FF:
        return ""
    if 0x1F1E6 <= code <= 0x1F1FF:
        return chr(code - 0x1F1E6 + ord("A"))
    if char in _SHOWN_BY_NUMBER:
        return f"<U+{code:04X}>"
    if char.isprintable() or unicodedata.category(char) == "Zs":
        return code
    return f"<U+{code:04X}>"


def _exact_replacement(code: int) -> str | int:
    """Return the replacement of a character where nothing is hidden."""
    return f"<U+{code:04X}>" if chr(code) in _hidden() else _replacement(code)


class _Replacements(dict[int, str | int]):
    """The replacements of all characters seen so far; `str.translate` adds each new one."""

    def __init__(self, replacement: Callable[[int], str | int]) -> None:
        super().__init__()
        self._replacement = replacement
        self._marks = ""
        self.too_many_marks: re.Pattern[str] | None = None
        """Matches nine or more of the combining marks seen so far; the group is the first eight."""

    def __missing__(self, code: int) -> str | int:
        self[code] = replacement = self._replacement(code)
        if replacement == code and unicodedata.category(chr(code)) in ("Mn", "Me"):
            self._marks += chr(code)
            self.too_many_marks = re.compile(f"([{self._marks}]{{8}})[{self._marks}]+")
        return replacement


PLAIN = re.compile(r"[ -~\xa1-\xac\xae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc]*")
"""A line of Latin letters, punctuation, arrows and frames, which are safe and one column wide each.

Matching it takes a tenth of the time that each character alone takes.
"""
_REPLACEMENTS = _Replacements(_replacement)
_EXACT_REPLACEMENTS = _Replacements(_exact_replacement)


def safe_text(text: str, *, joins_emoji: bool = False) -> SafeText:
    """Return foreign text as text that cannot control a terminal. It may have several lines; `\\n` ends each.
    `joins_emoji` keeps the joiner between emoji, which a browser draws as one.

    Example:
        >>> safe_text("\\x1b[31mred\\x07")
        '␛[31mred␇'
    """
    if text.isascii() and text.isprintable():
        return SafeText(text)
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    if "\u200d" in text or "\u200c" in text:
        joiner = _any_joiner() if joins_emoji else _joiner()
        text = text if joins_emoji else _emoji_joiner().sub("", text)
        pieces = joiner.split(text)  # every second one is a joiner that stays
        pieces[::2] = [piece.translate(_REPLACEMENTS) for piece in pieces[::2]]
        text = "".join(pieces)
    else:
        text = text.translate(_REPLACEMENTS)
    if _REPLACEMENTS.too_many_marks is not None and not text.isascii():
        text = _REPLACEMENTS.too_many_marks.sub(r"\1…", text)
    return SafeText(text)


def safe_line(text: str) -> SafeText:
    """Return foreign text as one line of safe text. A line end is shown as `␊`.

    Example:
        >>> safe_line("one\\ntwo")
        'one␊two'
    """
    if (text.isascii() and text.isprintable()) or PLAIN.fullmatch(text):
        return SafeText(text)
    return SafeText(safe_text(text).replace("\n", "␊"))


def page_text(text: str) -> SafeText:
    """Return the same as `safe_text`, for a browser."""
    return safe_text(text, joins_emoji=True)


def page_line(text: str) -> SafeText:
    """Return the same as `safe_line`, for a browser."""
    return SafeText(page_text(text).replace("\n", "␊"))


def title_line(text: str) -> SafeText:
    """Return the same as `safe_line`, but a line end is shown as a blank, with the blanks around it.

    Example:
        >>> title_line("Mend the mill.\\n\\n  All of it.")
        'Mend the mill. All of it.'
    """
    return safe_line(" ".join(filter(None, map(str.strip, text.splitlines()))))


_HIDDEN = {
    "variation selector": ((0x180B, 0x180D), (0x180F, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)),
    "tag": ((0xE0000, 0xE007F),),
    "skin tone": ((0x1F3FB, 0x1F3FF),),
    "regional indicator": ((0x1F1E6, 0x1F1FF),),
    "blank": (
        *((0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x202F, 0x202F), (0x205F, 0x205F)),
        *((0x2800, 0x2800), (0x3000, 0x3000)),
    ),
    "invisible character": (
        *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180E, 0x180E)),
        *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFEFF, 0xFEFF)),
        (0xFFA0, 0xFFA0),
    ),
}
"""The characters that a terminal draws as nothing, as a blank or as another character, by what they are."""
UNSEEN = "".join(
    f"{chr(first)}-{chr(last)}"
    for kind, spans in _HIDDEN.items()
    for first, last in spans
    if kind not in ("blank", "regional indicator")
)
"""The characters that are drawn as nothing, as in a class of a regular expression."""
_SIGN = re.compile(r"[\u2400-\u2421\ufffd]|<[89][0-9A-F]>|<U\+[0-9A-F]{4,6}>|<[0-9]{1,9} × [a-z ]{3,20}>")
"""What `exact_text` shows in place of characters. A text may contain it too."""
_SHORTEST_RUN = 4


def exact_text(text: str) -> SafeText:
    """Return foreign text as safe text that hides no character: for what is approved, and for evidence.

    A run of characters that cannot be seen is counted.

    Example:
        >>> exact_text("rm \\U0001f1fa\\U0001f1f8\\ufe0f\\r\\n"), exact_text("a" + "\\U000e0101" * 43)
        ('rm <U+1F1FA><U+1F1F8><U+FE0F>␍\\n', 'a<43 × variation selector>')
    """
    if text.isascii() and text.isprintable():
        return SafeText(text)
    shown = text.translate(_EXACT_REPLACEMENTS)
    if text.isascii():
        return SafeText(shown)
    if "<U+" in shown:
        shown = _hidden_run().sub(_counted, text).translate(_EXACT_REPLACEMENTS)
    if (marks := _EXACT_REPLACEMENTS.too_many_marks) is not None:
        shown = marks.sub(lambda pile: f"{pile[1]}<{len(pile[0]) - len(pile[1])} × combining mark>", shown)
    return SafeText(shown)


def exact_line(text: str) -> SafeText:
    """Return the same as `exact_text`, but a line end is shown as `␊`."""
    if text.isascii() and text.isprintable():
        return SafeText(text)
    return SafeText(exact_text(text).replace("\n", "␊"))


def signs_in(text: SafeText) -> list[tuple[int, int]]:
    """The beginning and the end of each sign that `exact_text` shows in place of characters."""
    return [found.span() for found in _SIGN.finditer(text)]


def _counted(run: re.Match[str]) -> str:
    """A run of characters that cannot be seen, with the number of those of one kind."""
    shown, kinds = "", _hidden()
    for kind, found in groupby(run[0], kinds.__getitem__):
        chars = "".join(found)
        shown += chars if len(chars) < _SHORTEST_RUN else f"<{len(chars)} × {kind}>"
    return shown


Piece = tuple[SafeText, str]
"""A part of a line, and the name of its style; empty for the default one."""


class Styled(str):
    """A line of safe text with the styles of its pieces. As a string it is plain text.

    Example:
        >>> line = styled((SafeText("failed: "), "failed"), (SafeText("exit 1"), ""))
        >>> line, line.pieces[0]
        ('failed: exit 1', ('failed: ', 'failed'))
    """

    __slots__ = ("pieces",)
    pieces: Sequence[Piece]


def styled(*pieces: Piece) -> SafeText:
    line = Styled("".join([text for text, _ in pieces]))
    line.pieces = pieces
    return SafeText(line)


def marked(text: SafeText, words: Collection[str], plain: str = "") -> list[Piece]:
    """Return the pieces of a line in which words in small letters are marked.

    Example:
        >>> marked(SafeText("The needle"), ["need"])
        [('The ', ''), ('need', 'accent'), ('le', '')]
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        return [(text, plain)]
    pieces: list[Piece] = []
    at = 0
    while places := [(place, word) for word in words if (place := lowered.find(word, at)) >= 0]:
        place, word = min(places)
        pieces += [(SafeText(text[at:place]), plain), (SafeText(text[place : place + len(word)]), "accent")]
        at = place + len(word)
    return [*pieces, (SafeText(text[at:]), plain)]


def columns(text: SafeText) -> int:
    """Return the number of terminal columns that a line of safe text occupies.

    Example:
        >>> columns(SafeText("日本"))
        4
    """
    if text.isascii() or PLAIN.fullmatch(text):
        return len(text)
    return sum(map(_char_columns, text))


def fitting(text: SafeText, start: int, width: int) -> int:
    """The end index of the longest piece that fits into `width` columns; at least one character, even if it
    is too wide."""
    if text.isascii():
        return min(start + max(width, 1), len(text))
    end = start
    whole = SafeText(text[start : start + max(width, 0)])
    if (needed := columns(whole)) <= width:  # unless it has wide characters: three times as fast
        end, width = start + len(whole), width - needed
    while end < len(text) and (width := width - _char_columns(text[end])) >= 0:
        end += 1
    return max(end, min(start + 1, len(text)))


def wrapped(text: SafeText, width: int) -> list[SafeText]:
    """Into lines of at most `width` columns, at spaces where possible."""
    lines, start = [], 0
    while True:
        end = fitting(text, start, width)
        if end < len(text) and text[end] != " ":
            blank = text.rfind(" ", start, end)
            end = blank if blank > start else end
        lines.append(SafeText(text[start:end].rstrip(" ")))
        while end < len(text) and text[end] == " ":
            end += 1
        if end >= len(text):
            return lines
        start = end


def cut(text: SafeText, limit: int) -> SafeText:
    """Return a line of safe text truncated to `limit` columns. `…` replaces the removed end.

    Example:
        >>> cut(SafeText("src/app.py"), 8)
        'src/app…'
    """
    if columns(text) <= limit:
        return text
    kept = SafeText(text[: fitting(text, 0, limit - 1)])
    # even one character may be wider than the limit
    return SafeText("…" if columns(kept) >= limit else f"{kept}…")


def cut_inside(text: SafeText, limit: int) -> SafeText:
    """Return a line of safe text truncated to `limit` columns after its first third: its end is the reason.

    Example:
        >>> cut_inside(SafeText("cannot open /home/ada/x.ndjson: permission denied"), 32)
        'cannot ope…on: permission denied'
    """
    if columns(text) <= limit:
        return text
    head = text[: fitting(text, 0, limit // 3)]
    return SafeText(f"{head}…{_ending(text, limit - 1 - columns(SafeText(head)))}")


def cut_middle(text: SafeText, limit: int) -> SafeText:
    """Shorten a path in the middle: `agentwatch/…/calls.py`. The file name is kept, or its end, and then
    whole folders, most of them before it."""
    if columns(text) <= limit:
        return text
    tail = _ending(text, limit - 1)
    name = text[max(text.rfind("/"), 0) :]
    if len(name) >= len(tail):
        return SafeText(f"…{tail}")
    tail = _ending(text, max((limit - 1) * 2 // 3, columns(SafeText(name))))
    tail = SafeText(tail[tail.index("/") :])
    head = text[: fitting(text, 0, max(limit - 1 - columns(tail), 1))]
    head = head[: head.rfind("/") + 1]
    if not head or columns(SafeText(head)) + 1 + columns(tail) > limit:
        tail = _ending(text, limit - 1)
        return SafeText(f"…{tail[tail.index('/') :]}")
    return SafeText(f"{head}…{tail}")


def fitted(text: SafeText, width: int, *, is_path: bool = False) -> SafeText:
    """Cut or pad to exactly `width` columns; with `is_path`, cut in the middle instead of at the end."""
    if width <= 0:
        return SafeText("")
    shown = cut_middle(text, width) if is_path else cut(text, width)
    return SafeText(shown + " " * (width - columns(shown)))


def _ending(text: SafeText, limit: int) -> SafeText:
    kept = text[-max(limit, 1) :]
    while kept and columns(SafeText(kept)) > limit:
        kept = kept[1:]
    return SafeText(kept)


@cache
def _hidden() -> dict[str, str]:
    """What each character is that cannot be seen."""
    found = ((kind, *span) for kind, spans in _HIDDEN.items() for span in spans)
    return {chr(code): kind for kind, first, last in found for code in range(first, last + 1)}


@cache
def _hidden_run() -> re.Pattern[str]:
    spans = [f"{chr(first)}-{chr(last)}" for spans in _HIDDEN.values() for first, last in spans]
    return re.compile(f"[{''.join(spans)}]{{{_SHORTEST_RUN},}}")


@cache
def _emoji_joiner() -> re.Pattern[str]:
    """The joiner between emoji. Compiling the pattern takes longer than loading the rest of this module."""
    return re.compile(_EMOJI_JOINER)


@cache
def _joiner() -> re.Pattern[str]:
    """A joiner or non-joiner between two letters that join; the first may have marks."""
    return re.compile(f"({_LETTERS_JOINER})")


@cache
def _any_joiner() -> re.Pattern[str]:
    return re.compile(f"({_LETTERS_JOINER}|{_EMOJI_JOINER})")


@lru_cache(1 << 14)
def _char_columns(char: str) -> int:
    """Marks, joiners and later parts of a Hangul syllable have width 0."""
    if unicodedata.category(char) in ("Mn", "Me", "Mc", "Cf") or "\u1160" <= char <= "\u11ff":
        return 0
    if "\ud7b0" <= char <= "\ud7ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
