"""The interface of a store: where an agent keeps a session, if not in one plain file of lines."""

from __future__ import annotations

from typing import Protocol


class Store(Protocol):
    """Reads a session from a store. It never writes there, and follows no link out of the store's folder."""

    def new_lines(self) -> list[bytes]:
        """Return the lines that no earlier call has returned, each with its line end.

        A line that replaces an earlier one repeats its id, as the decoder of the format expects it.

        Raises:
            OSError: The store cannot be read.
        """

    def close(self) -> None:
        """Close the files of the store."""
