"""What is searched for: in the bytes of lines, as JSON escapes it, and in the strings of a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from agentwatch.wire.json_line import parse

_MOST_WORDS = 16
_MOST_WORD = 100
"""In characters; of a longer word, only this beginning is searched for."""
_LEAST_RUN = 3
"""From this length on, a run of plain characters is searched for instead of a word that has others too."""
_RUN = re.compile(rb"[^\x00- \"'&/<>\\\x7f-\xff]+")
"""Matches characters that no writer of JSON escapes."""
_SNIPPET = 120
_BEFORE = 40
"""The longest part of a snippet that stands before the words."""
_BLANKS = 500
"""The length of the text on each side from which a snippet is made: a run of blanks becomes one blank."""
_LONGEST_WORD = 1000
"""A string that is longer and has no blank is data, such as an image, and is not searched."""
_UNSAID = (b'"type":"api-request', b'"type":"attachment"', b'"type":"session_meta"')
"""What marks lines that repeat the vendor's instructions in every session: whole requests and their
attachments in transcripts of Claude Code (since 2.1.330), the first line of Codex's rollouts."""
_UNSAID_WITHIN = 1 << 10
"""In bytes from the beginning of a line. Claude Code writes the type of such a line behind its ids."""


class Needle:
    """The words of a search."""

    def __init__(self, words: str) -> None:
        """Prepare a search.

        Args:
            words: The words. All must occur in one string, in any order, in capitals or not.
        """
        self.words = [word[:_MOST_WORD] for word in words.lower().split()[:_MOST_WORDS]]
        self._forms = _forms_of(self.words)

    def lines(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that may contain the words, each with its offset in the data.

        Args:
            data: Whole lines. The data is read once for each form in which the words may be written.
        """
        lowered = data.lower()
        places = {form: lowered.find(form) for form in self._forms}
        while found := [place for place in places.values() if place >= 0]:
            first = min(found)
            begin = data.rfind(b"\n", 0, first) + 1
            end = data.find(b"\n", first)
            end = len(data) if end < 0 else end
            yield begin, data[begin:end]
            for form, place in places.items():
                if 0 <= place < end:
                    places[form] = lowered.find(form, end)

    def snippet(self, line: bytes) -> str | None:
        """Return a piece of the first string in a line that contains all words; None if none does.

        Keys are not searched. The piece is foreign text of at most 120 characters.
        """
        if any(kind in line[:_UNSAID_WITHIN] for kind in _UNSAID):
            return None
        try:
            value = parse(line)
        except ValueError:
            return None
        for text in _strings(value):
            lowered = text.lower()
            if all(word in lowered for word in self.words) and not _is_data(text):
                phrase = lowered.find(" ".join(self.words))
                return _piece(text, min(map(lowered.find, self.words)) if phrase < 0 else phrase)
        return None


def _forms_of(words: list[str]) -> tuple[bytes, ...]:
    """Return byte strings, one of which occurs in each line with the words once its ASCII letters are small.

    It is the longest run of plain characters, or else all forms in which the longest word may be written.
    """
    runs = [run for word in words for run in _RUN.findall(word.encode("utf-8", "surrogatepass"))]
    longest = max(runs, key=len, default=b"")
    if len(longest) >= _LEAST_RUN or not words:
        return (longest,) if longest else ()
    word = max(words, key=len)
    escaped = [
        json.dumps(cased, ensure_ascii=is_ascii)[1:-1]
        for cased in (word, word.upper(), word.title())
        for is_ascii in (False, True)
    ]
    escaped += [form.replace("/", "\\/") for form in escaped]
    escaped += [form.translate(_FOR_WEB_PAGES) for form in escaped]
    return tuple(dict.fromkeys(form.encode("utf-8", "surrogatepass").lower() for form in escaped))


_FOR_WEB_PAGES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&'"}
"""Characters that some writers of JSON escape."""


def _strings(value: object) -> Iterator[str]:
    """Yield the strings of a JSON value in their order, without keys."""
    stack = [value]
    while stack:
        match stack.pop():
            case str(text):
                yield text
            case dict() as members:
                stack.extend(reversed(members.values()))
            case list() as items:
                stack.extend(reversed(items))


def _is_data(text: str) -> bool:
    return len(text) > _LONGEST_WORD and " " not in text and "\n" not in text


def _piece(text: str, at: int) -> str:
    """Return the text around an index in one line."""
    before = " ".join(text[max(at - _BLANKS, 0) : at].split())
    blank = " " if before and text[at - 1 : at].isspace() else ""
    return f"{before[-_BEFORE:]}{blank}{' '.join(text[at : at + _BLANKS].split())}"[:_SNIPPET]
