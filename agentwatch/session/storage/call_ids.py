"""Finds the number of a call by its ids, in 16 bytes per call, where a dict of strings takes 130."""

from __future__ import annotations

from array import array

_LEAST_SLOTS = 64
_NUMBER_BITS = 32
_NUMBER = (1 << _NUMBER_BITS) - 1


class CallIds:
    """A hash table of call numbers: each slot has 32 bits of the hash of the ids, and the number.

    The ids themselves are not kept. Calls whose hashes are equal are distinguished by the caller. The key of
    Python's hash is another one in each process, so that a stream cannot choose equal hashes.
    """

    def __init__(self) -> None:
        self._slots = _empty(_LEAST_SLOTS)
        self._count = 0

    def add(self, run: int, session_id: str | None, call_id: str, number: int) -> None:
        """Add a call; its number is at least 1."""
        self._count += 1
        if 3 * self._count > 2 * len(self._slots):
            old, self._slots = self._slots, _empty(2 * len(self._slots))
            for entry in filter(None, old):
                self._insert(entry)
        self._insert((hash((run, session_id, call_id)) & _NUMBER) << _NUMBER_BITS | number)

    def numbers(self, run: int, session_id: str | None, call_id: str) -> list[int]:
        """Return the numbers of the calls that may have these ids: rarely more than one."""
        slots = self._slots
        wanted, last = hash((run, session_id, call_id)) & _NUMBER, len(slots) - 1
        slot = wanted & last
        found: list[int] = []
        while entry := slots[slot]:
            if entry >> _NUMBER_BITS == wanted:
                found.append(entry & _NUMBER)
            slot = (slot + 1) & last
        return found

    def _insert(self, entry: int) -> None:
        slots = self._slots
        last = len(slots) - 1
        slot = (entry >> _NUMBER_BITS) & last
        while slots[slot]:
            slot = (slot + 1) & last
        slots[slot] = entry


def _empty(slots: int) -> array[int]:
    return array("Q", bytes(8 * slots))
