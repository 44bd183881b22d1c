"""Reads the digest of a session that an agent keeps in a store: a database, a document, a compressed file."""

from __future__ import annotations

import time

from agentwatch.machine.digest.decoding import apply_lines, decoder_for, digest_of, format_of
from agentwatch.machine.digest.digest import Digest
from agentwatch.wire import Decoder
from agentwatch.wire.found import Found
from agentwatch.wire.stores import MOST_FILE_BYTES, MOST_STORE_BYTES, store_for

_LARGEST_SHARE = 0.02
"""The largest part of the time that is spent on reading one store again."""


class StoredLines:
    """Reads the lines of a stored session again when the store has changed."""

    def __init__(self) -> None:
        self._read: tuple[int, int, int | None] | None = None
        """The size and the times of the session when it was read last."""
        self.problem: OSError | None = None
        """Why it could not be read when that was tried last."""
        self._due = 0.0
        """When it may be read again, in seconds of the monotonic clock."""

    def read(self, found: Found) -> tuple[Digest, Decoder | None] | None:
        """Return the digest of a session; None if it has not changed, or cannot be read now.

        With it comes the decoder of what may follow; None if not all lines were read.
        """
        present = found.size, found.changed_ns, found.metadata.changed_ms
        if present == self._read or found.size > MOST_FILE_BYTES or time.monotonic() < self._due:
            return None
        began = time.monotonic()
        read = self.problem = None
        try:
            read = _read(found)
        except OSError as error:
            self.problem = error
        self._read = present
        took = time.monotonic() - began
        self._due = began + took / _LARGEST_SHARE
        return read


def _read(found: Found) -> tuple[Digest, Decoder | None] | None:
    """Return the digest of a session and its decoder; None if no store has it.

    Raises:
        OSError: The store cannot be read.
    """
    store = store_for(found.path)
    if store is None:
        return None
    digest = digest_of(found, format_of(found))
    digest.is_whole = True
    decoder = decoder_for(digest)
    size = 0
    try:
        while lines := store.new_lines():
            apply_lines(digest, decoder, lines)
            size += sum(map(len, lines))
            if size > MOST_STORE_BYTES:  # only the beginning is decoded, and the counts are left out
                digest.skip()
                return digest, None
    finally:
        store.close()
    return digest, decoder
