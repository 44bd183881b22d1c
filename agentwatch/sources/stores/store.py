"""The interface of a store: where an agent keeps a session, if not in one plain file of lines."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


class Store(Protocol):
    """Reads a session from a store. It never writes there, and follows no link out of the store's folder.

    One thread uses it at a time.
    """

    def new_lines(self) -> list[bytes]:
        """Return the lines that no earlier call has returned, each with its line end.

        A followed store is asked up to ten times a second; one of plain files may have a shorter time between
        two readings as its attribute `poll_seconds`. A store that has not changed must find this out without
        reading its contents, for instance from the size and the modification time of its files. A large store
        may return its lines in several batches.

        A line that replaces an earlier one repeats its id, as the decoder of the format expects it. Raise
        `OSError` if the store cannot be read now.
        """

    def close(self) -> None:
        """Close the files of the store."""


@runtime_checkable
class WithSubagents(Protocol):
    """A store that keeps the subagents of a session as sessions of their own, and reads them with it."""

    def leave_out_subagents(self) -> None:
        """Read the session alone."""
