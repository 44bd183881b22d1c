"""The silence before each call that no running call explains."""

from __future__ import annotations

from array import array

from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind

_UNKNOWN = -1


class Silences:
    """The silences before the calls of a session, by the agent's clock; each entry is read once."""

    def __init__(self, session: Session) -> None:
        """Create the silences of a session; nothing is read yet."""
        self._session = session
        self._before = array("q")
        """The silence before each call in milliseconds; -1 if it is unknown."""
        self._entries = 0
        self._quiet_since: int | None = None
        """The end of the last activity that was read; None after an entry whose time is unknown."""
        self._open: list[int] = []
        """The numbers of the calls that had not ended when their entries were read."""

    def before(self, call: Call) -> int | None:
        """Return the silence before a call in milliseconds; None if unknown.

        Entries after the call are not read, so that the cost is spread over the calls of a list.
        """
        transcript = self._session.transcript
        while len(self._before) < call.number and self._entries < len(transcript):
            entry = transcript[self._entries]
            self._entries += 1
            if entry.call is not None:
                self._add_call(entry.call)
            elif entry.ended_ms is not None:
                self._extend_to(entry.ended_ms)
            elif entry.kind in (Kind.PROMPT, Kind.RESULT) and entry.parent is None:
                self._quiet_since = None  # the user may have been away
        if len(self._before) < call.number or self._before[call.number - 1] == _UNKNOWN:
            return None
        return self._before[call.number - 1]

    def _add_call(self, call: Call) -> None:
        self._end_calls()
        start = call.started_ms
        while len(self._before) < call.number:
            self._before.append(_UNKNOWN)
        if start is not None and self._open:
            self._before[call.number - 1] = 0
        elif start is not None and self._quiet_since is not None:
            self._before[call.number - 1] = max(start - self._quiet_since, 0)
        if start is not None:
            self._extend_to(start)
        if call.ended_ms is not None:
            self._extend_to(call.ended_ms)
        elif call.outcome is Outcome.RUNNING:
            self._open.append(call.number)

    def _end_calls(self) -> None:
        """Note the ends of calls that were running at the last entry."""
        still: list[int] = []
        for number in self._open:
            call = self._session.calls[number - 1]
            if call.outcome is Outcome.RUNNING:
                still.append(number)
            elif call.ended_ms is not None:
                self._extend_to(call.ended_ms)
        self._open = still

    def _extend_to(self, at_ms: int) -> None:
        self._quiet_since = at_ms if self._quiet_since is None else max(at_ms, self._quiet_since)
