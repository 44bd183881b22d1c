"""A text that grows by pieces until it is complete."""

from __future__ import annotations


class GrowingText:
    """Pieces of text while it grows; complete, it is kept as UTF-8.

    A Python string takes four bytes a character where one of them is an emoji, and deltas 60 bytes each
    besides: of a gigabyte of stream, 50 MB of text would take 200 MB and more.
    """

    __slots__ = ("_complete", "_pieces")

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []
        self._complete: bytes | None = None

    def __str__(self) -> str:
        if self._complete is not None:
            return self._complete.decode("utf-8", "surrogatepass")
        if len(self._pieces) > 1:
            self._pieces[:] = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def add(self, text: str) -> None:
        """Add text to its end."""
        self._pieces.append(text)

    def complete(self) -> None:
        """Take no more."""
        if self._complete is None:
            self._complete = str(self).encode("utf-8", "surrogatepass")
            self._pieces = _NO_PIECES


_NO_PIECES: list[str] = []
