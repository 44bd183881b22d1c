"""Searches the contents of sessions in short steps and bounded pieces, the newest sessions first."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.fields import parse
from agentwatch.agents.opening import store_for
from agentwatch.agents.session_entry import Key
from agentwatch.base.faults import reading
from agentwatch.catalog.row import Row
from agentwatch.recording.saved import open_lines
from agentwatch.recording.store import open_own

_PIECE_BYTES = 1 << 20
_MOST_LINE_BYTES = 1 << 22
"""A line that is longer is passed over. The longest ones that are known contain images."""
_MOST_STORED_BYTES = 1 << 24
"""Only this beginning of a session in a store is read, and a larger document is not opened."""
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


class Piece(NamedTuple):
    offset: int
    """In bytes from the beginning of the session."""
    lines: bytes
    """Whole lines. The last one may have no line end."""
    is_left: bool = False
    """Whether the rest of the session is not read."""


_LEFT = Piece(0, b"", is_left=True)


def pieces(path: Path) -> Generator[Piece]:
    """Yield the parts of the session at a path, in their order. Raise `OSError` if it cannot be read."""
    try:
        fd = open_lines(path)
    except NotADirectoryError:  # a session in a database: opencode.db/ses_…
        yield from _stored(path, path.parent)
        return
    try:
        if path.suffix != ".json" and os.pread(fd, len(_ZSTANDARD), 0) != _ZSTANDARD:
            yield from _in_file(fd)
            return
    finally:
        os.close(fd)
    yield from _stored(path, path)


def _in_file(fd: int) -> Generator[Piece]:
    """The file is read as long as it is now."""
    size = os.fstat(fd).st_size
    rest, at = b"", 0
    is_passed_over = False
    while at < size and (read := os.pread(fd, min(_PIECE_BYTES, size - at), at)):
        at += len(read)
        end = read.rfind(b"\n") + 1
        if is_passed_over:
            begin = read.find(b"\n") + 1
            is_passed_over = not begin
            yield Piece(at - len(read) + begin, read[begin:end])
        elif end:
            yield Piece(at - len(read) - len(rest), rest + read[:end])
        else:
            rest += read
            is_passed_over = len(rest) > _MOST_LINE_BYTES
            rest = b"" if is_passed_over else rest
            yield Piece(at, b"")
            continue
        rest = b"" if is_passed_over else read[end:]
    if rest:
        yield Piece(at - len(rest), rest)


def _stored(path: Path, file: Path) -> Generator[Piece]:
    if path == file and os.stat(file, follow_symlinks=False).st_size > _MOST_STORED_BYTES:
        yield _LEFT
        return
    os.close(open_own(file))
    store = store_for(path)
    if store is None:
        yield _LEFT
        return
    offset = 0
    with closing(store):
        while lines := store.new_lines():
            data = b"".join(lines)
            yield Piece(offset, data)
            offset += len(data)
            if offset > _MOST_STORED_BYTES:
                yield _LEFT
                return


_MOST_WORDS = 16
_MOST_WORD = 100
"""In characters; of a longer word, only this beginning is searched for."""
_LEAST_RUN = 3
"""From this length on, a run of plain characters is searched for instead of a word that has others too."""
_RUN = re.compile(rb"[^\x00- \"'&/<>\\\x7f-\xff]+")
"""Matches characters that no writer of JSON escapes."""
_SNIPPET = 120
_BEFORE = 40
"""The longest part of a snippet before the words."""
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
    def __init__(self, words: str) -> None:
        """All words must occur in one string, in any order, in capitals or not."""
        self.words = [word[:_MOST_WORD] for word in words.lower().split()[:_MOST_WORDS]]
        self._forms = _forms_of(self.words)

    def lines(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that may contain the words with their offsets. `data` are whole lines."""
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
        """A foreign text of at most 120 characters from the first string with all words; None without one."""
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
    """Byte strings, one of which is in each line with the words once its ASCII letters are small. It is the
    longest run of plain characters, or else all forms in which the longest word may be written."""
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
    before = " ".join(text[max(at - _BLANKS, 0) : at].split())
    blank = " " if before and text[at - 1 : at].isspace() else ""
    return f"{before[-_BEFORE:]}{blank}{' '.join(text[at : at + _BLANKS].split())}"[:_SNIPPET]


_MOST_HITS = 3
"""The number of hits in one session. Then the next session is searched."""


class Hit(NamedTuple):
    key: Key
    offset: int
    """The beginning of the line in the session, in bytes."""
    snippet: str
    """Foreign text of at most 120 characters, without line ends."""
    end: int = 0
    """The end of the line in the session, in bytes."""


class ContentsSearch:
    """Finds the strings that contain all of some words, in any order, in capitals or not. Each file is read
    once, in pieces of 1 MiB, as far as it reaches when it is opened. Keys of JSON objects, lines over 4 MiB,
    and lines that repeat the vendor's instructions are not searched. One thread uses it."""

    def __init__(self, words: str, rows: Sequence[Row]) -> None:
        needle = Needle(words)
        self.is_over = not needle.words
        self.total = 0 if self.is_over else len(rows)
        self.searched = 0
        """How many were searched, or skipped."""
        self.skipped = 0
        """How many cannot be read, are too large, or are on another machine."""
        self._steps = self._search(needle, sorted(rows, key=lambda row: -row.last_ms))

    def advance(self, seconds: float) -> list[Hit]:
        """Return what was found meanwhile. After `seconds`, no other piece of 1 MiB is begun."""
        until = time.monotonic() + seconds
        found: list[Hit] = []
        while not self.is_over:
            hits = next(self._steps, None)
            if hits is None:
                self.is_over = True
                break
            found += hits
            if time.monotonic() >= until:
                break
        return found

    def close(self) -> None:
        self._steps.close()
        self.is_over = True

    def _search(self, needle: Needle, rows: Sequence[Row]) -> Generator[list[Hit]]:
        for row in rows:
            if row.can_open and not row.address:
                yield from self._search_one(needle, row)
            else:
                self.skipped += 1
            self.searched += 1

    def _search_one(self, needle: Needle, row: Row) -> Generator[list[Hit]]:
        snippets: set[str] = set()
        try:
            with reading(row.path), closing(pieces(row.path)) as found:
                for piece in found:
                    self.skipped += piece.is_left
                    hits = []
                    for offset, line in needle.lines(piece.lines):
                        snippet = needle.snippet(line)
                        if snippet is None or snippet in snippets:
                            continue
                        snippets.add(snippet)
                        at = piece.offset + offset
                        hits.append(Hit(row.key, at, snippet, at + len(line) + 1))
                        if len(snippets) == _MOST_HITS:
                            yield hits
                            return
                    yield hits
        except OSError:
            self.skipped += 1
