"""The notices of which a transcript has only a limited number."""

from __future__ import annotations

from agentwatch.session.bounds import bounded
from agentwatch.session.transcript import Transcript

_MOST_ONCE = 1000
_MOST_MALFORMED = 10_000


class Notices:
    """Appends the notices of unknown events and of malformed lines to a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._once: dict[str, int] = {}
        """By its text: how many different notices of unknown events came before it."""
        self._count = 0
        self._malformed = 0

    def unknown(self, message: str) -> None:
        """Append a notice unless it was appended before. At most 1,000 different notices are appended."""
        message = bounded(message) or ""
        if self._once.setdefault(message, self._count) == self._count and self._count < _MOST_ONCE:
            self._count += 1
            self._transcript.note(message)

    def malformed(self, message: str) -> None:
        """Append a notice of a malformed line. After 10,000 of them, a last notice says that no more follow.

        A notice takes hundreds of bytes, and a malformed line may have only two.
        """
        if self._malformed <= _MOST_MALFORMED:
            is_last = self._malformed == _MOST_MALFORMED
            self._transcript.note("more lines that are not events are only counted" if is_last else message)
            self._malformed += 1

    def counts(self) -> tuple[int, int]:
        """Return the number of notices of unknown events, and of malformed lines."""
        return self._count, self._malformed

    def at(self, transcript: Transcript, counts: tuple[int, int]) -> Notices:
        """Return the notices at an earlier line, where these were the counts."""
        earlier = Notices(transcript)
        earlier._once = self._once
        earlier._count, earlier._malformed = counts
        return earlier
