"""Has all texts of a recording searched, wherever they lie: in lines, in JSON inside of strings, in deltas.

Deltas are joined per channel and block, also if other lines are between them. 512 KiB of other texts end a
block. A long block is searched in windows that overlap.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import orjson

from agentwatch.output.redact.secrets.key_files import KeyFiles, of_content
from agentwatch.output.redact.secrets.scanner import OPEN_KINDS
from agentwatch.recording.lines import LineReader, Lines

_PIECE_BYTES = 1 << 12
"""The most bytes of a piece: what two windows of a block share is a number of whole pieces."""
_LONGEST_ESCAPE = 12
_LONGEST_CHARACTER = 4
_CONTINUES = 0x80
"""The high bits of the bytes of a character after its first."""


def pieces(data: bytes) -> Iterator[bytes]:
    """Yield a text in pieces. A text of two pieces stays whole."""
    at = 0
    while len(data) - at > 2 * _PIECE_BYTES:
        end = at + _safe_end(data[at : at + _PIECE_BYTES])
        yield data[at:end]
        at = end
    yield data[at:]


def _safe_end(data: bytes) -> int:
    """Return where a piece can end that is neither in an escape nor in a character."""
    end = len(data)
    backslash = data.rfind(b"\\", end - _LONGEST_ESCAPE)
    if backslash >= 0:
        end = len(data[: backslash + 1].rstrip(b"\\"))
    else:
        while end > len(data) - _LONGEST_CHARACTER and data[end - 1] & 0xC0 == _CONTINUES:
            end -= 1
        end -= data[end - 1] >= 0xC0
    return end or len(data)


_ESCAPE = re.compile(r'\\(?:[\\"/bfnrt]|u[0-9a-fA-F]{4}(?:\\u[0-9a-fA-F]{4})*+)')
_CODE_POINTS = re.compile(r"(?:\\u[0-9a-fA-F]{4})++")
_SHORT = (
    ('\\"', '"'),
    ("\\n", "\n"),
    ("\\/", "/"),
    ("\\t", "\t"),
    ("\\r", "\r"),
    ("\\b", "\b"),
    ("\\f", "\f"),
)
_BACKSLASH = "\0"
"""Takes the place of a backslash that is not an escape, until the escapes are removed."""
_NUL = b"u0000"


def text_of(data: bytes) -> str:
    """Return the text of bytes of a JSON string, without its escapes. orjson is ten times as fast as
    `unescaped`, but rejects quotes and half a surrogate pair; a NUL would be taken for a backslash."""
    if b"\\" not in data:
        return data.decode("utf-8", "surrogateescape")
    if b'"' not in data.replace(b'\\"', b"") and _NUL not in data:
        try:
            return str(orjson.loads(b'"%s"' % data))
        except orjson.JSONDecodeError:
            pass
    return unescaped(data.decode("utf-8", "surrogateescape"))


def unescaped(text: str) -> str:
    r"""Return a text without its escapes, one level of them.

    Example:
        >>> unescaped(r"C:\\new\n\u0041")
        'C:\\new\nA'
    """
    if "\\" not in text:
        return text
    text = text.replace("\\\\", _BACKSLASH)
    for escape, character in _SHORT:
        text = text.replace(escape, character)
    if "\\u" in text:
        text = _CODE_POINTS.sub(lambda match: _characters(match[0]), text)
    return text.replace(_BACKSLASH, "\\")


def _escaped_lines(text: str) -> Iterator[tuple[int, int]]:
    end, match = 0, _ESCAPE.search(text)
    while match is not None:
        at = match.start()
        start = text.rfind("\n", end, at) + 1 or end
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield start, end
        match = _ESCAPE.search(text, end)


def _escaped_places(text: str, places: Iterable[int]) -> list[int]:
    """Return where places of the unescaped text are in the text itself. `places` are indices in
    `unescaped(text)`, in ascending order; its length is one too."""
    found: list[int] = []
    wanted = iter(places)
    place = next(wanted, None)
    read = source = 0
    for match in _ESCAPE.finditer(text):
        if place is None:
            break
        read += match.start() - source
        source = match.start()
        for width in _widths(match[0]):
            while place is not None and place <= read:
                found.append(place + source - read)
                place = next(wanted, None)
            read += 1
            source += width
    while place is not None:
        found.append(place + source - read)
        place = next(wanted, None)
    return found


def _characters(escapes: str) -> str:
    """Return the characters of consecutive escapes of code units. A NUL would be taken for a backslash."""
    units = bytes.fromhex(escapes.replace("\\u", ""))
    return units.decode("utf-16-be", "surrogatepass").replace(_BACKSLASH, "\1")


def _widths(escape: str) -> Sequence[int]:
    if escape[1] != "u":
        return (2,)
    return [12 if ord(character) > 0xFFFF else 6 for character in _characters(escape)]


# JSON in texts: `{\"command\":\"export A=1\\nexport B=2\"}`. An escape hides where a value begins or ends, so
# each line that has one is also searched without it.

_DEEPEST = 4
"""The levels of JSON in JSON that are searched. A rollout of Codex has three: line, arguments, a script."""


class Hit(NamedTuple):
    """A place in a text that is to be masked."""

    start: int
    end: int
    kind: str
    value: str
    """The whole value without escapes. The text may have only its beginning."""


Find = Callable[[str], Iterable[Hit]]
"""Returns the places in a text that are to be masked."""


def hits_in(text: str, find: Find, level: int = 1) -> list[Hit]:
    """Return the places in a text, and in the JSON that it contains, in no order. They may overlap. The text
    is in `level` levels of escapes."""
    hits = [*find(text)]
    if "\\" not in text or level == _DEEPEST:
        return hits
    spans = [*_escaped_lines(text)]
    if not spans:
        return hits
    lines = "\n".join([text[start:end] for start, end in spans])
    inner = hits_in(unescaped(lines), find, level + 1)
    if inner:
        wanted = sorted({place for hit in inner for place in (hit.start, hit.end)})
        outer = dict(zip(wanted, _outer_places(spans, _escaped_places(lines, wanted)), strict=True))
        hits += [Hit(outer[hit.start], outer[hit.end], hit.kind, hit.value) for hit in inner]
    return hits


def _outer_places(spans: list[tuple[int, int]], places: Iterable[int]) -> Iterator[int]:
    """Yield where places of some lines are in the text that has the lines. `spans` are the start and the end
    of each line in the text, `places` are in the lines with one line end between them."""
    ends = [*accumulate(end - start + 1 for start, end in spans)]
    for place in places:
        number = min(bisect_right(ends, place), len(spans) - 1)
        yield spans[number][1] - (ends[number] - 1 - place)


Read = Callable[[int, int], bytes]
"""Returns bytes of the recording, of an offset and a length."""
Span = tuple[int, int]


class Unit:
    """A text whose pieces lie in one line or in many: a line, or the consecutive deltas of a block.
    `is_escaped` says whether the pieces are in JSON strings, or are lines of JSON. `shape` is the hash of the
    shape of a line; None if the text is not that of one line."""

    __slots__ = ("is_cut", "is_escaped", "is_guessed", "lengths", "offsets", "shape", "size", "texts")

    def __init__(self, *, is_escaped: bool = True, shape: int | None = None) -> None:
        self.is_escaped = is_escaped
        self.shape = shape
        self.is_guessed = False
        """Whether its pieces are those of lines of an unknown format, which may have nothing in common."""
        self.is_cut = False
        """Whether the text may end within a value, because the next line repeats and continues it."""
        self.texts: list[str] = []
        self.offsets = array("Q")
        self.lengths = array("Q")
        self.size = 0

    def add(self, offset: int, data: bytes) -> None:
        text = text_of(data) if self.is_escaped else data.decode("utf-8", "surrogateescape")
        self.texts.append(text)
        self.offsets.append(offset)
        self.lengths.append(len(data))
        self.size += len(text)

    def part(self, first: int, last: int) -> Unit:
        """Return the pieces from one number to before another."""
        part = Unit(is_escaped=self.is_escaped)
        part.is_guessed = self.is_guessed
        part.texts = self.texts[first:last]
        part.offsets = self.offsets[first:last]
        part.lengths = self.lengths[first:last]
        part.size = sum(map(len, part.texts))
        return part

    def pieces_of(self, start: int, end: int) -> range:
        """Return the numbers of the pieces that a span of the text touches."""
        ends = self.ends()
        return range(bisect_right(ends, start), bisect_right(ends, end - 1) + 1)

    def ends(self) -> list[int]:
        return [*accumulate(map(len, self.texts))]

    def places(self, spans: Sequence[Span], read: Read) -> list[list[Span]]:
        ends = self.ends()
        wanted: dict[int, set[int]] = {}
        cut: list[list[tuple[int, int, int]]] = []
        for start, end in spans:
            parts = [*_parts(ends, start, end)]
            cut.append(parts)
            for number, *places in parts:
                wanted.setdefault(number, set()).update(places)
        found = {number: self._byte_places(number, places, read) for number, places in wanted.items()}
        return [[(found[number][start], found[number][end]) for number, start, end in parts] for parts in cut]

    def _byte_places(self, number: int, places: Iterable[int], read: Read) -> dict[int, int]:
        offset = self.offsets[number]
        data = read(offset, self.lengths[number])
        text = data.decode("utf-8", "surrogateescape")
        ordered = sorted(places)
        sources = _escaped_places(text, ordered) if self.is_escaped else ordered
        found: dict[int, int] = {}
        at = size = 0
        is_ascii = data.isascii()
        for place, source in zip(ordered, sources, strict=True):
            between = source - at if is_ascii else len(text[at:source].encode("utf-8", "surrogateescape"))
            size += between
            at = source
            found[place] = offset + size
        return found


def _parts(ends: list[int], start: int, end: int) -> Iterable[tuple[int, int, int]]:
    """Yield the pieces that a span touches: the number of each, and the start and end in it."""
    number = bisect_right(ends, start)
    while start < end and number < len(ends):
        before = ends[number - 1] if number else 0
        until = min(end, ends[number])
        if until > start:
            yield number, start - before, until - before
        start = max(start, until)
        number += 1


_ENOUGH = 1 << 16
"""The number of characters that are searched at once."""
_BETWEEN = "\n\0\n"
"""Between two texts. No secret has it, and no label belongs to a value behind it."""
_MOST_CLEAN = 50_000

Take = Callable[[Unit, Sequence[Hit]], None]
"""Takes what was found in a text, if only nothing."""


class Search:
    """Collects texts and searches them. `take` is called for each text when it was searched."""

    def __init__(self, find: Find, take: Take) -> None:
        self.find = find
        self.take = take
        self._units: list[Unit] = []
        self._size = 0
        self._clean: set[int] = set()
        """The hashes of texts without a hit: a message repeats its deltas, and a file is read again."""

    def add(self, unit: Unit) -> None:
        self._units.append(unit)
        self._size += unit.size
        if self._size >= _ENOUGH:
            self.finish()

    def finish(self) -> None:
        units, self._units, self._size = self._units, [], 0
        searched: list[tuple[Unit, str]] = []
        for unit in units:
            text = "".join(unit.texts)
            if hash(text) in self._clean:
                self.take(unit, ())
            else:
                searched.append((unit, text))
        if searched:
            self._search(searched)

    def _search(self, searched: list[tuple[Unit, str]]) -> None:
        ends = [*accumulate(len(text) + len(_BETWEEN) for _, text in searched)]
        hits: dict[int, list[Hit]] = {}
        crossing: set[int] = set()
        for hit in hits_in(_BETWEEN.join([text for _, text in searched]), self.find):
            number = bisect_right(ends, hit.start)
            before = ends[number] - len(searched[number][1]) - len(_BETWEEN)
            if hit.end > ends[number] - len(_BETWEEN):
                crossing.update(range(number, bisect_right(ends, hit.end - 1) + 1))
            else:
                start, end = hit.start - before, hit.end - before
                hits.setdefault(number, []).append(Hit(start, end, hit.kind, hit.value))
        if len(self._clean) >= _MOST_CLEAN:
            self._clean.clear()
        for number, (unit, text) in enumerate(searched):
            found = hits_in(text, self.find) if number in crossing else hits.get(number, ())
            if not found:
                self._clean.add(hash(text))
            self.take(unit, found)


_WINDOW = 1 << 16
_LONGEST = 1 << 18
"""A window grows to this number of characters while a value continues beyond its end: a private key."""
_OVERLAP = 1 << 12
_OPEN = 1 << 9
"""A value that ends so close to the end of a window may continue: it is searched again with the next one."""
_MOST_CHARACTERS = 1 << 19
_HEAD = 64
_LEAST_ALONE = 10
"""No secret that needs no text before it has fewer characters."""
_LEAST_REPEATED = 8
"""Deltas of fewer bytes may well begin as the one before."""
_MOST_PIECES = 40_000
"""The pieces that are kept take 200 bytes each."""


class Block:
    __slots__ = ("gaps", "head", "last_line", "starts", "text_bytes", "unit", "window")

    def __init__(self, *, is_escaped: bool) -> None:
        self.unit = Unit(is_escaped=is_escaped)
        self.gaps: list[int] = []
        """The numbers of the pieces before which other lines are: a new block may begin there."""
        self.starts: list[int] = []
        """The numbers of the pieces with which a text begins."""
        self.last_line = -1
        self.head = b""
        """The first bytes of the last text."""
        self.text_bytes = 0
        self.window = _WINDOW


class Blocks:
    """The blocks of a recording. `alone` searches each text alone too."""

    def __init__(self, search: Search, *, alone: bool) -> None:
        self._search = search
        self._alone = alone
        self._blocks: dict[object, Block] = {}
        """The blocks by shape; the one that has grown last is the last one."""
        self._characters = 0
        self._pieces = 0

    def add(self, key: object, line: int, offset: int, data: bytes, *, is_escaped: bool = True) -> None:
        """Append a piece at an offset of the recording to a block. The piece may be inside a JSON string."""
        block = self._blocks.pop(key, None)
        if block is None:
            block = Block(is_escaped=is_escaped)
        elif block.last_line < line - 1:
            block.gaps.append(len(block.unit.texts))
        self._blocks[key] = block
        block.last_line = line
        before = block.unit.size
        block.unit.add(offset, data)
        self._characters += block.unit.size - before
        self._pieces += 1
        if block.unit.size >= block.window:
            self._search_window(block)
        elif self._characters > _MOST_CHARACTERS or self._pieces > _MOST_PIECES:
            self._end_oldest(len(self._blocks) // 2 + 1)

    def add_text(self, key: object, line: int, offset: int, data: bytes, *, is_guessed: bool = False) -> None:
        """Append the text of a line to a block, unless it repeats and continues the text before. `key` is the
        shape of the line, and which of its texts it is. `data` are the bytes of the text in a JSON string."""
        before = self._blocks.get(key)
        repeats = before is not None and _repeats(before, data)
        if before is not None and repeats:
            before.unit.is_cut = True
            self.end(key)
        is_first = True
        for piece in pieces(data):
            self.add(key, line, offset, piece)
            offset += len(piece)
            block = self._blocks.get(key)
            if is_first and block is not None:
                block.starts.append(len(block.unit.texts) - 1)
            is_first = False
        block = self._blocks.get(key)
        if block is not None:
            block.head, block.text_bytes = data[:_HEAD], len(data)
            block.unit.is_guessed = is_guessed
            block.unit.is_cut = repeats

    def end(self, key: object) -> None:
        block = self._blocks.pop(key, None)
        if block is not None:
            self._end(block)

    def finish(self) -> None:
        self._end_oldest(len(self._blocks))

    def _end_oldest(self, number: int) -> None:
        for key in [*self._blocks][:number]:
            self._end(self._blocks.pop(key))

    def _end(self, block: Block) -> None:
        self._characters -= block.unit.size
        self._pieces -= len(block.unit.texts)
        self._search.add(block.unit)
        self._search_parts(block, len(block.unit.texts))
        self._search_texts(block, len(block.unit.texts))

    def _search_window(self, block: Block) -> None:
        """Search a long block, and keep the end of it for the next window."""
        unit = block.unit
        hits = hits_in("".join(unit.texts), self._search.find)
        going_on = [hit.start for hit in hits if hit.end > unit.size - _OPEN]
        kept_from = min([unit.size - _OVERLAP, *going_on])
        if kept_from <= 0 and unit.size < _LONGEST:
            block.window = min(2 * unit.size, _LONGEST)
            return
        if kept_from <= 0:
            going_on, kept_from = [], unit.size - _OVERLAP
        done: Sequence[Hit] = hits if not going_on else [h for h in hits if h.end <= unit.size - _OPEN]
        self._search.take(unit, done)
        first = next(number for number, end in enumerate(unit.ends()) if end > kept_from)
        self._search_parts(block, first)
        self._search_texts(block, first)
        block.unit, block.window = unit.part(first, len(unit.texts)), _WINDOW
        block.window = max(_WINDOW, 2 * block.unit.size)
        block.gaps = [gap - first for gap in block.gaps if gap > first]
        block.starts = [max(0, start - first) for start in block.starts if start >= first]
        self._characters -= unit.size - block.unit.size
        self._pieces -= first

    def _search_parts(self, block: Block, last: int) -> None:
        """Search the parts of a block between other lines alone, from the ones before a piece. What follows
        may be another block: the letters beside a value would hide it."""
        gaps = [gap for gap in block.gaps if gap < last]
        if gaps:
            for first, end in pairwise([0, *gaps, len(block.unit.texts)]):
                self._search.add(block.unit.part(first, end))

    def _search_texts(self, block: Block, last: int) -> None:
        """Search each text of a block alone that touches the text of another line, to before a piece. A text
        that resembles a delta may be a text of its own, and the letters around it would hide a value."""
        texts = block.unit.texts
        if len(block.starts) < 2 or not self._alone:
            return
        for first, end in pairwise([*block.starts, len(texts)]):
            if first >= last:
                break
            begins, ends = texts[first], texts[end - 1]
            if len(begins) < _LEAST_ALONE and first == end - 1:
                continue
            touches = (first > 0 and _touch(texts[first - 1], begins)) or (
                end < len(texts) and _touch(ends, texts[end])
            )
            if touches:
                self._search.add(block.unit.part(first, end))


def _touch(before: str, after: str) -> bool:
    """Return whether the letters and signs of a token are on both sides of the place between two texts."""
    return bool(before and after) and all(
        character.isalnum() or character in "_-+/=" for character in (before[-1], after[0])
    )


def _repeats(block: Block, data: bytes) -> bool:
    """Return whether a text begins with the last one of a block: a message that grows, and no delta."""
    head = block.head
    return len(head) >= _LEAST_REPEATED and len(data) >= block.text_bytes and data.startswith(head)


# Shapes of deltas. Two lines have the same shape if they differ only in their texts, numbers, times and the
# ids of the events: they are deltas of one channel and block. Other ids, and the number of a block
# (`"index":2`), belong to the shape.

_TEXT = re.compile(
    rb'"(?:t(?:ext|hinking)|d(?:elta(?:Content)?+|ata)|c(?:ontent|hunk)|p(?:artial_json|artialOutput)'
    rb"|reasoning(?:_content)?+|output|a(?:rguments|ggregated_output)|input|std(?:out|err)|message)"
    rb'": ?"([^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+)"'
)
"""A string that deltas may split, after its key. Inside a string, the quotes of a key are escaped."""
_VARYING = re.compile(
    rb'"(?=[:uip12])(?:(?<!ndex")(?<!\\"): ?-?[0-9][0-9.eE+-]{0,40}'
    rb'|(?:uuid|id|parentId|parentUuid)": ?"[0-9a-f-]{36}"'
    rb'|[12][0-9]{3}-[01][0-9]-[0-3][0-9]T[0-9:.+-]{5,24}Z?")'
)
"""A look behind the quote instead of before it: this takes a sixth of the time."""
_HOLE = b"\0"
_STRING = re.compile(rb'"([^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+)"?( ?:)?')
_NUMBER = re.compile(rb"[0-9.]+")
_MOST_DELTA_BYTES = 1 << 11
"""Longer lines are not deltas of an unknown format."""
_MOST_STRINGS = 40


def shapes(lines: Sequence[bytes]) -> list[bytes]:
    """Return the shape of each line, with its line end; one with a hole is that of a line with a text."""
    return _VARYING.sub(b"", _TEXT.sub(_HOLE, b"".join(lines))).split(b"\n")


class _Varying:
    """The strings of consecutive lines that differ in strings and numbers alone: unknown deltas."""

    def __init__(self) -> None:
        self._keys = -1
        """The number of keys of the last line."""
        self._last: tuple[int, bytes, int] = (0, b"", 0)
        self._name = 0
        """The hash of the line without its strings; 0 if that is not known."""
        self._strings: list[_String] = []

    def texts_in(self, offset: int, line: bytes, shape: int) -> list[tuple[object, int, int, bytes]]:
        """Return the strings that vary, also of the line before if they had not varied. Each comes with a
        name of its place in the line, the shape of the line, its offset in the recording, and its bytes."""
        keys = line.count(b'":') if len(line) <= _MOST_DELTA_BYTES else -1
        is_alike, last = keys == self._keys != -1, self._last
        self._keys, self._last = keys, (offset, line, shape)
        if not is_alike:
            self._name = 0
            return []
        if not self._name:
            self._name, self._strings = _strings(*last)
        name, before = self._name, self._strings
        self._name, self._strings = name_now, now = _strings(offset, line, shape)
        texts: list[tuple[object, int, int, bytes]] = []
        if name != name_now or len(before) != len(now):
            return texts
        for number, (old, new) in enumerate(zip(before, now, strict=True)):
            if old.varies or old.data != new.data:
                now[number] = new._replace(varies=True)
                if not old.varies:
                    texts.append(((name, number), *old[:3]))
                texts.append(((name, number), *new[:3]))
        return texts


def _strings(offset: int, line: bytes, shape: int) -> tuple[int, list[_String]]:
    """Return the hash of a line without its strings and numbers, and its strings."""
    found = [match for match in _STRING.finditer(line) if match[2] is None]
    strings = [_String(shape, offset + match.start(1), match[1], False) for match in found[:_MOST_STRINGS]]
    without_values = _STRING.sub(lambda match: _HOLE if match[2] is None else match[0], line)
    return hash(_NUMBER.sub(b"", without_values)), strings


class _String(NamedTuple):
    shape: int
    offset: int
    data: bytes
    varies: bool
    """Whether it differs from that of a line before."""


def texts_in(line: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each text in a line that deltas may split."""
    for match in _TEXT.finditer(line):
        yield match.span(1)


_LONG_LINE = 1 << 17
"""Longer lines are not deltas. They are searched in pieces."""
_MOST_SHAPES = 100_000
_PLAIN = "plain"
_MOST_SHORT_DELTA = 12
"""The characters of a delta, at most, on average."""


class Walk:
    """One reading of a recording, whose texts are searched. `take` is called for each text, with what was
    found in it. `key_files` knows the lines that show the content of a file of secrets; None in a reading for
    known values, which need no guess at what a text is."""

    def __init__(self, find: Find, take: Take, key_files: KeyFiles | None = None) -> None:
        self._take = take
        self._key_files = key_files
        self._search = Search(find, self._took)
        self._blocks = Blocks(self._search, alone=key_files is not None)
        self._varying = _Varying()
        self._shapes: Counter[int] = Counter()
        self._guessed: dict[int, int] = {}
        """The shape of the line of each piece whose format is unknown, by its offset."""
        self._is_clean: dict[int, bool] = {}
        """For the shape of each searched line, whether nothing was found in it outside its texts.

        Lines of one shape need not be searched again: a delta repeats 150 bytes around one word.
        """
        self._line = 0

    def read(self, lines: Lines, reader: LineReader) -> None:
        if lines.oversize:
            self._long_line(reader, lines.offset, lines.oversize)
        elif max(map(len, lines.data)) > _LONG_LINE:
            offset = lines.offset
            for line in lines.data:
                if len(line) > _LONG_LINE:
                    self._long_line(reader, offset, len(line))
                else:
                    self._lines(offset, [line])
                offset += len(line)
        else:
            self._lines(lines.offset, lines.data)

    def finish(self) -> None:
        self._blocks.finish()
        self._search.finish()

    def _lines(self, offset: int, lines: Sequence[bytes]) -> None:
        for line, shape in zip(lines, shapes(lines), strict=False):
            if _HOLE in shape or line.lstrip().startswith(b"{"):
                self._object(offset, line, shape)
            elif not line.isspace():
                self._blocks.add(_PLAIN, self._line, offset, line, is_escaped=False)
            self._line += 1
            offset += len(line)

    def _object(self, offset: int, line: bytes, shape: bytes) -> None:
        """Search a line of JSON: its texts with those of the lines of the same shape, and the rest of it."""
        name = hash(shape)
        if len(self._shapes) < _MOST_SHAPES:
            self._shapes[name] += 1
        is_clean = self._is_clean.get(name)
        unit = None if is_clean else Unit(shape=name)
        end = 0
        if _HOLE in shape:
            for number, (start, until) in enumerate(texts_in(line)):
                self._blocks.add_text((name, number), self._line, offset + start, line[start:until])
                if unit is not None:
                    unit.add(offset + end, line[end:start])
                end = until
        if self._key_files is not None and self._key_files.may_show(line, is_new=unit is not None):
            self._content(offset, line)
        if unit is not None:
            unit.add(offset + end, line[end:])
            self._search.add(unit)
        if unit is not None and self._key_files is not None:
            if len(self._guessed) > _MOST_SHAPES:
                self._guessed.clear()
            for key, of_line, start, data in self._varying.texts_in(offset, line, name):
                self._guessed[start] = of_line
                self._blocks.add_text(key, self._line, start, data, is_guessed=True)

    def _content(self, offset: int, line: bytes) -> None:
        """Mask the texts of a line that show the content of a file of secrets."""
        for start, end in texts_in(line):
            unit = Unit()
            unit.add(offset + start, line[start:end])
            text = unit.texts[0]
            found = of_content(text)
            if found:
                self._take(unit, [Hit(*each, text[each.start : each.end]) for each in found])

    def _long_line(self, reader: LineReader, offset: int, length: int) -> None:
        """Search a long line in pieces that begin and end outside escapes and characters."""
        end = offset + length
        is_escaped = reader.line_at(offset, 1) == b"{"
        while offset < end:
            data = reader.line_at(offset, min(_PIECE_BYTES, end - offset))
            if not data:
                break
            if offset + len(data) < end:
                data = data[: _safe_end(data)]
            self._blocks.add("long", self._line, offset, data, is_escaped=is_escaped)
            offset += len(data)
        self._blocks.end("long")
        self._line += 1

    def _took(self, unit: Unit, hits: Sequence[Hit]) -> None:
        if unit.shape is not None:
            if len(self._is_clean) >= _MOST_SHAPES:
                self._is_clean.clear()
            self._is_clean[unit.shape] = not hits and self._is_clean.get(unit.shape, True)
        if unit.is_guessed:
            hits = [hit for hit in hits if self._is_one(unit, hit)]
        self._take(unit, hits)

    def _is_one(self, unit: Unit, hit: Hit) -> bool:
        """Return whether lines of an unknown format, over which a hit goes, are deltas of one text. Lines of
        one shape are joined without this. A value without a length of its own needs short deltas."""
        pieces = unit.pieces_of(hit.start, hit.end)
        if len(pieces) < 2 or any(self._shapes[self._guessed.get(unit.offsets[at], 0)] != 1 for at in pieces):
            return False
        is_short = unit.size <= _MOST_SHORT_DELTA * len(unit.texts)
        return is_short or hit.kind not in OPEN_KINDS
