"""The names in commands, searches and prompts. A file with such a name may already be known to the agent."""

from __future__ import annotations

import re
from array import array

from agentwatch.session import Session

_NAME = re.compile(r"[^\s'\"`/\\(){}<>|;,=@:]{1,255}")
_MOST_CHARACTERS = 4096
_MOST_NAMES = 50_000


class Mentions:
    """The names in the targets of calls. `sed -n 1,80p src/app.py` may have shown the file `app.py`.

    Each target is split into names once, at the first search for a file.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._unread = array("I")
        """The numbers of the calls whose targets were not split yet."""
        self._names: set[str] = set()

    def add(self, number: int) -> None:
        """Add a call by its number."""
        self._unread.append(number)

    def has(self, name: str, run: int) -> bool:
        """Return whether a file of this name may be known: a call or the run's prompt has mentioned the name.

        After 50,000 names, every file counts as known.
        """
        numbers, self._unread = self._unread, array("I")
        for number in numbers:
            call = self._session.calls[number - 1]
            for text in (call.target, call.path):
                if text and len(self._names) < _MOST_NAMES:
                    self._names.update(_NAME.findall(text[:_MOST_CHARACTERS]))
        if len(self._names) >= _MOST_NAMES or name in self._names:
            return True
        return name in (self._session.runs[run - 1].prompt or "")
