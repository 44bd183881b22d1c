"""The stream-json format: every byte of the recording, unchanged, as it arrives."""

from __future__ import annotations

import os
import threading
import time

from agentwatch.feed import POLL_SECONDS
from agentwatch.recording import Growth

_COPY_BYTES = 1 << 18


class ByteCopy:
    """Copies a growing recording to a descriptor."""

    def __init__(self, recording_fd: int, growth: Growth, sink_fd: int, start: int = 0) -> None:
        """Copy the bytes from `start` on."""
        self._recording_fd = recording_fd
        self._growth = growth
        self._sink_fd = sink_fd
        self._copied = start

    def copy(self) -> int:
        """Copy the new bytes, and return their number.

        Raises:
            OSError: The sink cannot be written to; `BrokenPipeError` if nobody reads it any more.
        """
        until = self._growth.size()
        before = self._copied
        while self._copied < until:
            wanted = min(until - self._copied, _COPY_BYTES)
            data = os.pread(self._recording_fd, wanted, self._copied)
            if not data:
                break
            self._copied += os.write(self._sink_fd, data)
        return self._copied - before


class Tee:
    """Copies a recording to the next program of the pipeline, in a thread of its own.

    A program that reads slowly or exits early blocks neither the agent nor the screen.
    """

    def __init__(self, recording_fd: int, growth: Growth, sink_fd: int) -> None:
        self.fault: OSError | None = None
        """Why copying ended early; None if the next program merely stopped reading."""
        self._growth = growth
        self._copy = ByteCopy(recording_fd, growth, sink_fd)
        self._sink_fd = sink_fd
        self._thread = threading.Thread(target=self._run, name="tee", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until the whole recording, which must have ended, is copied."""
        self._thread.join()

    def _run(self) -> None:
        try:
            has_ended = False
            while self._copy.copy() or not has_ended:
                has_ended = self._growth.has_ended()
                time.sleep(0 if has_ended else POLL_SECONDS)
        except BrokenPipeError:
            pass  # the next program has read enough, as `head` does
        except OSError as error:
            self.fault = error
        finally:
            os.close(self._sink_fd)
