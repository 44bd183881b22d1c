"""The channel of a session on a host that is reached by ssh."""

from __future__ import annotations

from agentwatch.remote.channel import SeenCard
from agentwatch.remote.copies import LocalCopy
from agentwatch.remote.engine import StoredPiece
from agentwatch.remote.ssh.pieces import SshPieces


class SshChannel:
    """The pieces of one session of a host."""

    sequence = 0

    def __init__(self, address: str, have: int = 0, digest: str = "") -> None:
        """Take the address; nothing is connected before the first piece is wanted.

        Args:
            address: The address of the session.
            have: The number of bytes that are here already.
            digest: The SHA-256 of these bytes in hexadecimal digits; empty if it is not known.

        Raises:
            Fault: The words are no such address.
        """
        self._pieces = SshPieces(address, have, digest)
        self._first: StoredPiece | None = None

    @property
    def pieces(self) -> SshChannel:
        """The pieces of the session."""
        return self

    @property
    def has_none(self) -> bool:
        """Whether the host has answered that it has no such session."""
        return self._pieces.has_none

    def exists(self, seconds: float) -> bool:
        """Return whether the host has the session.

        Args:
            seconds: The longest wait for its first piece.

        Raises:
            EngineError: The host cannot be reached.
        """
        self._first = self._pieces.next(seconds)
        return not self._pieces.has_none

    def next(self, seconds: float) -> StoredPiece | None:
        """Return the next piece; None if none arrives within the time."""
        if self._first is not None:
            stored, self._first = self._first, None
            return stored
        return self._pieces.next(seconds)

    def restart(self) -> None:
        """Read again from the first byte."""
        self._first = None
        self._pieces.restart()

    def card(self) -> SeenCard | None:
        """Return None: a host has no cards."""
        return None

    def close(self) -> None:
        """End the command on the host."""
        self._pieces.close()


def connected(address: str, copy: LocalCopy) -> SshChannel:
    """Read the bytes of a session that a copy does not have.

    Raises:
        Fault: The words are no address of a session.
        OSError: The copy cannot be read.
    """
    return SshChannel(address, copy.have, copy.digest().hexdigest() if copy.origin.base == 0 else "")
