"""The interface of the two ways in which an agent's output reaches the recording."""

from __future__ import annotations

from typing import Protocol


class Output(Protocol):
    """Where the stdout and stderr of an agent go, and how much of them has been recorded."""

    stdout_fd: int
    """The descriptor that becomes the agent's stdout."""
    stderr_fd: int
    """The descriptor that becomes the agent's stderr."""
    size: int
    """The number of bytes in the recording that have an arrival time."""
    stderr_fault: OSError | None
    """Why the file of stderr is incomplete."""

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete."""

    @property
    def reserve_fault(self) -> OSError | None:
        """Why no more disk space can be reserved ahead of the recording."""

    def begin(self) -> None:
        """Note that the agent has been started, or that it could not be."""

    def advance(self) -> bool:
        """Look for growth after a wait of at most 10 ms, and return whether the recording has grown."""

    def is_complete(self) -> bool:
        """Return whether all that was written before the first such call is recorded.

        Raises:
            OSError: The recording cannot be read.
        """

    def is_open(self) -> bool:
        """Return whether a process still holds the agent's stdout, as far as that is known."""

    def note_pause(self, group: int) -> None:
        """Note which process group a rule has paused; 0 for none."""

    def release(self) -> None:
        """Release what was reserved for an agent that will not write any more."""
