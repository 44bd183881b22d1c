"""pyte's screen and stream, extended to read what Textual writes."""

import copy
import re
import unicodedata
from typing import Any

import pyte
from wcwidth import wcwidth

MISREAD = re.compile(
    rb"\x1b\[[<=>][0-?]*[ -/]*[@-~]"  # pyte draws the end of `CSI < u` and reads `CSI > 4 m` as SGR.
    rb"|\x1b\]\d{2,}[^\x07\x1b]*(?:\x07|\x1b\\)"  # It reads OSC 22, a pointer shape, as a title.
    rb"|\x1b[PX^_][^\x1b]*\x1b\\"  # It draws the content of a DCS or an APC.
)
UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[PX^_\]][^\x07\x1b]*\x1b?)?\Z")


class Screen(pyte.Screen):
    """A pyte screen with an alternate screen, which pyte lacks."""

    _main: tuple[dict[int, Any], pyte.screens.Cursor] | None = None

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
        # pyte drops the rest of a text after a zero-width character, such as U+FE0F.
        super().draw("".join(x for x in data if wcwidth(x) > 0 or unicodedata.combining(x)))


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
