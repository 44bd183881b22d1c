"""The ids of traces and spans: parts of a digest, so that the same session always has the same ids."""

from __future__ import annotations

from hashlib import sha256

_TRACE_BYTES = 16
_SPAN_BYTES = 8


class Ids:
    """The ids of the trace of one run."""

    def __init__(self, session_id: str, run: int, began_ms: int | None) -> None:
        """Create the ids of a run.

        Args:
            session_id: The id of the session; empty if unknown.
            run: The number of the run.
            began_ms: When the run began, in milliseconds since the epoch; None if unknown. It separates two
                recordings of one session that was resumed.
        """
        self._run = (session_id, str(run), str(began_ms))
        self.trace = _id(_TRACE_BYTES, *self._run)
        self.run = self._span("run")

    def call(self, call_id: str, number: int) -> int:
        """Return the id of the span of a call."""
        return self._span("call", call_id, str(number))

    def subagent(self, call_id: str, number: int) -> int:
        """Return the id of the span of the subagent that a call has started."""
        return self._span("subagent", call_id, str(number))

    def step(self, number: int) -> int:
        """Return the id of the span of a step of the model, by the number of its first entry."""
        return self._span("step", str(number))

    def _span(self, *words: str) -> int:
        return _id(_SPAN_BYTES, *self._run, *words)


def _id(size: int, *words: str) -> int:
    """Return the first bytes of the SHA-256 of some words as a number; 0 is no valid id."""
    digest = sha256()
    for word in words:
        data = word.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return int.from_bytes(digest.digest()[:size], "big") or 1
