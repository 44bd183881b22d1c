"""Reads a recording, and has all its texts searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentwatch.recording import LineReader, Lines
from agentwatch.redaction.secrets import OPEN_KINDS
from agentwatch.redaction.secrets.key_files import KeyFiles, of_content
from agentwatch.redaction.texts.blocks import Blocks
from agentwatch.redaction.texts.cutting import PIECE_BYTES, safe_end
from agentwatch.redaction.texts.levels import Find, Hit
from agentwatch.redaction.texts.search import Search, Take
from agentwatch.redaction.texts.shapes import Varying, has_text, shapes, texts_in
from agentwatch.redaction.texts.unit import Unit

_LONG_LINE = 1 << 17
"""Longer lines are no deltas. They are searched in pieces."""
_MOST_SHAPES = 100_000
_PLAIN = "plain"
_SHORT = 12
"""The characters of a delta, at most, on average."""


class Walk:
    """One reading of a recording, whose texts are searched.

    Args:
        find: Finds in one text.
        take: Is called for each text, with what was found in it.
        key_files: Knows the lines that show the content of a file of secrets; None in a reading for known
            values, which need no guess at what a text is.
    """

    def __init__(self, find: Find, take: Take, key_files: KeyFiles | None = None) -> None:
        self._take = take
        self._key_files = key_files
        self._search = Search(find, self._took)
        self._blocks = Blocks(self._search, alone=key_files is not None)
        self._varying = Varying()
        self._shapes: Counter[int] = Counter()
        """How many lines have a shape."""
        self._guessed: dict[int, int] = {}
        """The shape of the line of each piece whose format is unknown, by its offset."""
        self._is_clean: dict[int, bool] = {}
        """For the shape of each searched line, whether nothing was found in it outside its texts.

        Lines of one shape need not be searched again: a delta repeats 150 bytes around one word.
        """
        self._line = 0

    def read(self, lines: Lines, reader: LineReader) -> None:
        """Search the lines of a batch, now or later."""
        if lines.oversize:
            self._long_line(reader, lines.offset, lines.oversize)
            self._line += 1
        elif max(map(len, lines.data)) > _LONG_LINE:
            offset = lines.offset
            for line in lines.data:
                if len(line) > _LONG_LINE:
                    self._long_line(reader, offset, len(line))
                    self._line += 1
                else:
                    self._lines(offset, [line])
                offset += len(line)
        else:
            self._lines(lines.offset, lines.data)

    def finish(self) -> None:
        """Search what was not searched yet."""
        self._blocks.finish()
        self._search.finish()

    def _lines(self, offset: int, lines: Sequence[bytes]) -> None:
        for line, shape in zip(lines, shapes(lines), strict=False):
            if has_text(shape) or line.lstrip().startswith(b"{"):
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
        if has_text(shape):
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
            data = reader.line_at(offset, min(PIECE_BYTES, end - offset))
            if not data:
                break
            if offset + len(data) < end:
                data = data[: safe_end(data)]
            self._blocks.add("long", self._line, offset, data, is_escaped=is_escaped)
            offset += len(data)
        self._blocks.end("long")

    def _took(self, unit: Unit, hits: Sequence[Hit]) -> None:
        if unit.shape is not None:
            if len(self._is_clean) >= _MOST_SHAPES:
                self._is_clean.clear()
            self._is_clean[unit.shape] = not hits and self._is_clean.get(unit.shape, True)
        if unit.is_guessed:
            hits = [hit for hit in hits if self._is_one(unit, hit)]
        self._take(unit, hits)

    def _is_one(self, unit: Unit, hit: Hit) -> bool:
        """Return whether lines of an unknown format, over which a hit goes, are deltas of one text.

        Lines of one shape are joined without this. A value without a length of its own needs short deltas.
        """
        pieces = unit.pieces_of(hit.start, hit.end)
        if len(pieces) < 2 or any(self._shapes[self._guessed.get(unit.offsets[at], 0)] != 1 for at in pieces):
            return False
        is_short = unit.size <= _SHORT * len(unit.texts)
        return is_short or hit.kind not in OPEN_KINDS
