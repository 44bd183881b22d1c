"""pyte's screen and stream, extended to read what Textual writes."""

import copy
import re
import unicodedata
from typing import Any, ClassVar

import pyte
from wcwidth import wcwidth

MISREAD = re.compile(
    rb"\x1b\[[<=>][0-?]*[ -/]*[@-~]"  # pyte draws the end of `CSI < u` and reads `CSI > 4 m` as SGR.
    rb"|\x1b\]\d{2,}[^\x07\x1b]*(?:\x07|\x1b\\)"  # It reads OSC 22, a pointer shape, as a title.
    rb"|\x1b[PX^_][^\x1b]*\x1b\\"  # It draws the content of a DCS or an APC.
)
NARROW = re.compile("[ -~·–…✓✗⊘◌◐○▸▾─-▟]+")  # one column each
UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[PX^_\]][^\x07\x1b]*\x1b?)?\Z")


class Screen(pyte.Screen):
    """A pyte screen with an alternate screen, which pyte lacks."""

    _main: tuple[dict[int, Any], pyte.screens.Cursor] | None = None
    _chars: ClassVar[dict[pyte.screens.Char, dict[str, pyte.screens.Char]]] = {}
    """The cells that were drawn so far, by their attributes and their character."""

    def set_mode(self, *modes: int, **kwargs: bool) -> None:
        """Save the main screen when the alternate one is entered."""
        super().set_mode(*modes, **kwargs)
        if 1049 in modes and kwargs.get("private") and self._main is None:
            self._main = dict(self.buffer), copy.copy(self.cursor)
            self.buffer.clear()

    def reset_mode(self, *modes: int, **kwargs: bool) -> None:
        """Restore the main screen when the alternate one is left."""
        super().reset_mode(*modes, **kwargs)
        if 1049 in modes and kwargs.get("private") and self._main:
            self.buffer.clear()
            rows, self.cursor = self._main
            self.buffer.update(rows)
            self.ensure_hbounds()
            self.ensure_vbounds()
            self._main = None

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Resize the screen; rows below the cursor are dropped first."""
        # pyte drops rows at the top even where dropping the rows below the cursor is enough.
        gone = max(0, self.cursor.y + 1 - (lines or self.lines))
        rows, y = {n - gone: row for n, row in self.buffer.items()}, self.cursor.y - gone
        super().resize(lines, columns)
        self.buffer.clear()
        self.buffer.update(rows)
        self.cursor.y = y

    def draw(self, data: str) -> None:
        """Draw text without its zero-width characters."""
        if self._draws_plainly(data):
            known = self._chars.setdefault(self.cursor.attrs, {})
            row = self.buffer[self.cursor.y]
            for x, char in enumerate(data, self.cursor.x):
                if (cell := known.get(char)) is None:
                    cell = known[char] = self.cursor.attrs._replace(data=char)
                row[x] = cell
            self.cursor.x += len(data)
            self.dirty.add(self.cursor.y)
            return
        # pyte drops the rest of a text after a zero-width character, such as U+FE0F.
        super().draw("".join(x for x in data if wcwidth(x) > 0 or unicodedata.combining(x)))

    def _draws_plainly(self, data: str) -> bool:
        """Return whether text replaces as many cells of the row as it has characters.

        pyte asks for each character's width, which is a third of the time of a test on a pty.
        """
        return (
            self.cursor.x + len(data) <= self.columns
            and NARROW.fullmatch(data) is not None
            and pyte.modes.IRM not in self.mode
            and not self.charset
            and self.g0_charset is pyte.charsets.LAT1_MAP
        )


class Stream(pyte.ByteStream):
    """A pyte stream that ignores sequences that pyte misreads, as a terminal does."""

    _held = b""

    def take(self, data: bytes) -> None:
        """Feed bytes, which may be cut anywhere."""
        data = self._held + data
        unfinished = UNFINISHED.search(data)
        end = unfinished.start() if unfinished else len(data)
        self._held = data[end:]
        self.feed(MISREAD.sub(b"", data[:end]))

    def _send_to_parser(self, data: str) -> bool | None:
        try:
            return super()._send_to_parser(data)
        except (TypeError, ValueError, LookupError, NameError):
            return True  # The screen's method does not accept these arguments; the parser is reset.
