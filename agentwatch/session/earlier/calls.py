"""The calls of a session at an earlier line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agentwatch.session.call import Call
from agentwatch.session.call_store import Calls


class EarlierCalls(Calls):
    """The first calls of a session, those that later lines changed in their earlier state.

    The newest session has every call, most of them in the same state. Only the others are kept here.
    """

    def __init__(self, newest: Calls) -> None:
        """Create the view; `newest` are the calls of the newest session."""
        self._newest = newest
        self._count = 0
        self._unpacked: dict[int, Call] = {}
        """By number: the calls whose state differs, or may differ, from that in the newest session."""

    def restore(self, count: int, changed: Iterable[Call], offset: int) -> None:
        """Show the calls of a checkpoint.

        Args:
            count: The number of calls.
            changed: The calls that may still change.
            offset: The offset of the checkpoint. Calls that a later line started after their end are shown
                as they were.
        """
        self._count = count
        late = reversed([replace(each.call) for each in self._newest.late if each.offset >= offset])
        self._unpacked = {call.number: call for call in (*late, *changed) if call.number <= count}

    @property
    def differing(self) -> Iterable[int]:
        """The numbers of the calls whose state differs from that in the newest session, or may differ."""
        return self._unpacked.keys()

    def __len__(self) -> int:
        return self._count

    def find(self, run: int, session_id: str | None, call_id: str) -> Call | None:
        """Return the call of a run with this id; None if the run has no such call yet."""
        for number in self._newest.ids.numbers(run, session_id, call_id):
            call = self._at(number - 1) if number <= self._count else None
            if call is not None and call.call_id == call_id and call.run == run:
                return call
        return None

    def add(self, call: Call, _session_id: str | None = None) -> None:
        """Append a call, which the newest session has too."""
        self._count += 1
        self._unpacked[call.number] = call

    def settle(self, call: Call) -> None:
        """Drop the view's own state of a call if that in the newest session is the same."""
        if self._newest[call.number - 1] == call:
            self._unpacked.pop(call.number, None)
        else:
            self._unpacked[call.number] = call

    def starts_late(self, call: Call, _offset: int) -> None:
        """Do nothing: the newest session keeps the earlier state."""

    def changed(self, call: Call) -> None:
        """Store the new state of a call that was changed."""
        self._unpacked[call.number] = call

    def _at(self, index: int) -> Call:
        return self._unpacked.get(index + 1) or self._newest[index]
