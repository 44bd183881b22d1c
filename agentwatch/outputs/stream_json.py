"""The stream-json format: every byte of the recording, as it comes."""

from __future__ import annotations

import os
import threading
import time

from agentwatch.feed import POLL_SECONDS
from agentwatch.recording import Growth

_COPY_BYTES = 1 << 18


class ByteCopy:
    """Copies a recording to a descriptor while it grows."""

    def __init__(self, recording_fd: int, growth: Growth, sink_fd: int) -> None:
        self._recording_fd = recording_fd
        self._growth = growth
        self._sink_fd = sink_fd
        self._copied = 0

    def copy(self, limit: int | None = None) -> int:
        """Copy what is new, as far as the byte at `limit`; return how many bytes that were.

        Raises:
            OSError: The sink takes no more; `BrokenPipeError` when its reader has gone.
        """
        until = self._growth.size() if limit is None else limit
        before = self._copied
        while self._copied < until:
            wanted = min(until - self._copied, _COPY_BYTES)
            data = os.pread(self._recording_fd, wanted, self._copied)
            if not data:
                break
            self._copied += os.write(self._sink_fd, data)
        return self._copied - before


class Tee:
    """Passes a recording on to the next program of the pipeline, in a thread of its own.

    A program that reads slowly or goes away holds up neither the agent nor the screen.
    """

    def __init__(self, recording_fd: int, growth: Growth, sink_fd: int) -> None:
        self.fault: OSError | None = None
        """Why not all was passed on; a program that goes away is none."""
        self._growth = growth
        self._copy = ByteCopy(recording_fd, growth, sink_fd)
        self._sink_fd = sink_fd
        self._thread = threading.Thread(target=self._run, name="tee", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until all of an ended recording is passed on."""
        self._thread.join()

    def _run(self) -> None:
        try:
            has_ended = False
            while self._copy.copy() or not has_ended:
                has_ended = self._growth.has_ended()
                time.sleep(0 if has_ended else POLL_SECONDS)
        except BrokenPipeError:
            pass  # whoever needs no more of it has gone, as `head` does
        except OSError as error:
            self.fault = error
        finally:
            os.close(self._sink_fd)
