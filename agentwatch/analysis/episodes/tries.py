"""Counts the tries of the same thing, from the first failure to the success."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentwatch.events import Outcome
from agentwatch.session import Call

_MOST_OPEN = 1000


@dataclass(slots=True, eq=False)
class Failing:
    """A call that failed, and the tries that followed."""

    tried: int
    """The hash of what was tried."""
    first: int
    """The number of the first call that failed."""
    last: int
    """The number of the last try."""
    target: int
    """The hash of the target of the last try."""
    ended: int
    """The offset of the line that ended the last try. A call that started before it is no retry of it."""
    group: str | None
    """The model step of the last try. Calls of one step run in parallel."""
    tries: int = 1
    is_fixed: bool = False


class Tries:
    """The failures that are still open; at most the newest 1,000."""

    def __init__(self) -> None:
        self._open: dict[int, Failing] = {}
        """By the hash of the command or target, of up to 4,096 characters. Two of 1,000 hashes of 64 bits are
        equal by chance in one of 10^13 sessions."""

    def __bool__(self) -> bool:
        return bool(self._open)

    def __iter__(self) -> Iterator[Failing]:
        return iter(self._open.values())

    def add(self, call: Call, tried: int, has_failed: bool | None) -> tuple[int, Failing | None]:
        """Add a call; return the number of the try, and the failure that the call has fixed.

        Args:
            call: A call that has ended.
            tried: The hash of the command or target.
            has_failed: Whether the call failed; None if that is unknown. Then the failure stays as it is,
                unless the last failed try had exactly the same target: an exit code that has changed
                from 1 to 0 is a success even after a pipe.
        """
        failing = self._open.get(tried)
        ended = 0 if call.ended is None else call.ended.offset
        if failing is None:
            if has_failed:
                self._open[tried] = Failing(
                    tried, call.number, call.number, hash(call.target), ended, call.group
                )
                if len(self._open) > _MOST_OPEN:
                    del self._open[next(iter(self._open))]
            return 1, None
        if _is_parallel(call, failing):
            return failing.tries, None
        is_success = has_failed is False
        if has_failed is None:
            is_success = call.outcome is Outcome.SUCCEEDED and failing.target == hash(call.target)
            if not is_success:
                return failing.tries + 1, None
        failing.tries += 1
        failing.last, failing.target = call.number, hash(call.target)
        failing.ended, failing.group = ended, call.group
        if is_success:
            failing.is_fixed = True
            del self._open[tried]
            return failing.tries, failing
        return failing.tries, None


def _is_parallel(call: Call, failing: Failing) -> bool:
    began = call.started or call.ended
    is_earlier = began is not None and began.offset < failing.ended
    return is_earlier or (call.group is not None and call.group == failing.group)
