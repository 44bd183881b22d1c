"""A connection whose pieces a test sets."""

from __future__ import annotations

import time
from collections.abc import Iterable

from agentwatch.remote.chunk import Piece
from agentwatch.remote.engine import StoredPiece
from agentwatch.remote.filling import SeenCard


class MadeChannel:
    """A connection that brings what a test puts into it. It satisfies Channel and Pieces."""

    sequence = 0

    def __init__(self, pieces: Iterable[Piece], seen: SeenCard | None = None) -> None:
        self.all = list(pieces)
        """The pieces. A restart brings those that a test has added."""
        self.seen = seen
        """What is known about the session."""
        self.restarts = 0
        self._rest = list(self.all)

    @property
    def pieces(self) -> MadeChannel:
        """The channel itself."""
        return self

    @property
    def has_none(self) -> bool:
        """Whether nothing was put into it."""
        return not self.all

    def next(self, seconds: float) -> StoredPiece | None:
        """Return the next piece; None at the end."""
        assert seconds > 0
        if self._rest:
            return StoredPiece(self._rest.pop(0), not self._rest)
        time.sleep(min(seconds, 0.005))
        return None

    def restart(self) -> None:
        """Begin again."""
        self.restarts += 1
        self._rest = list(self.all)

    def connect(self, _copy: object) -> MadeChannel:
        """Return the channel, which begins with the first piece again."""
        self._rest = list(self.all)
        return self

    def card(self) -> SeenCard | None:
        return self.seen

    def close(self) -> None:
        """Do nothing."""
