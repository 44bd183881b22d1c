"""The text format: one line per completed call, in completion order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agentwatch.session import Call, Session
from agentwatch.text.safe import SafeText


class ActionLines:
    """The lines of the calls that ended since the last `new`.

    At the end of the stream, the calls that never ended follow.
    """

    def __init__(self, session: Session, line: Callable[[Call], SafeText]) -> None:
        """Format the calls that end from now on with `line`."""
        self._session = session
        self._line = line
        self._printed = len(session.ended_calls)

    def new(self) -> Iterator[SafeText]:
        """Yield the new lines."""
        ended = self._session.ended_calls
        while self._printed < len(ended):
            call = ended[self._printed]
            self._printed += 1
            yield self._line(call)
