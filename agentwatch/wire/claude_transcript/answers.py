"""The last texts of the answer, which a later line may replace.

An answer that was broken off is written again: the new line names the lines that it supersedes. If the model
refuses and another one continues, a system line names the lines of the first.
"""

from __future__ import annotations

from collections import deque

from agentwatch.events import TextRetracted
from agentwatch.wire.fields import Fields, items

_MOST_LINES = 256
_MOST_ID = 100
"""In characters."""
_NAMES = ("supersedesUuids", "retractedMessageUuids")


class Answers:
    """The lengths of the last texts of the main agent's answer, by the ids of their lines."""

    def __init__(self) -> None:
        self._written: deque[tuple[str, int]] = deque(maxlen=_MOST_LINES)

    def wrote(self, line: object, characters: int) -> None:
        """Note the text of a line."""
        if characters and isinstance(line, str) and len(line) <= _MOST_ID:
            self._written.append((line, characters))

    def begin_turn(self) -> None:
        """Forget the texts of the turns before."""
        self._written.clear()

    def retracted(self, fields: Fields) -> TextRetracted | None:
        """Return which of the last texts a line takes back; None if it takes back no text."""
        if _NAMES[0] not in fields and _NAMES[1] not in fields:
            return None
        names = [name for key in _NAMES for name in items(fields.get(key)) if isinstance(name, str)]
        characters, retracted = 0, frozenset(names)
        while retracted and self._written and self._written[-1][0] in retracted:
            characters += self._written.pop()[1]
        return TextRetracted(characters) if characters else None
