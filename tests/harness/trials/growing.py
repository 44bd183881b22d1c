"""A recording that grows in a thread, as `run` writes it: with its arrival times, its lock and its end."""

import fcntl
import hashlib
import os
import threading
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Self

from agentwatch.recording.store import SessionFiles

LINE_BYTES = 174
"""The length of a delta of Cursor with a word or two."""
_TURNS_A_SECOND = 50


def line_of(number: int) -> bytes:
    """Return the numbered line of a stream: a delta of 174 bytes."""
    begin = (
        b'{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"word %09d '
        % number
    )
    end = b'"}]},"session_id":"5e0c7a2b"}\n'
    return begin + b"." * (LINE_BYTES - len(begin) - len(end)) + end


class GrowingRecording:
    """A recording of its own in a folder; it grows while the `with` statement lasts, or until `finish`."""

    def __init__(self, path: Path, lines_a_second: float) -> None:
        """Begin to write; lines that are due are written together, 50 times a second at most."""
        self.path = path
        self.written: deque[tuple[float, int]] = deque(maxlen=1 << 17)
        """When something was written, by `time.monotonic`, and the size after that."""
        self.size = 0
        self._rate = lines_a_second
        self._ends = threading.Event()
        self._fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._times = os.open(
            SessionFiles(path).times, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600
        )
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._ends.set()
        self._thread.join()
        for fd in (self._fd, self._times):
            if fd >= 0:
                os.close(fd)
        self._fd = self._times = -1

    def sha256(self) -> str:
        """Return the digest of what is written."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()

    def _write(self) -> None:
        began, count = time.monotonic(), 0
        while not self._ends.is_set():
            due = int((time.monotonic() - began) * self._rate) + 1
            if due > count:
                os.write(self._times, b"%d %d\n" % (self.size, time.time_ns() // 10**6))
                data = b"".join(map(line_of, range(count, due)))
                at = time.monotonic()
                os.write(self._fd, data)
                self.size += len(data)
                self.written.append((at, self.size))
                count = due
            self._ends.wait(max(began + count / self._rate - time.monotonic(), 1 / _TURNS_A_SECOND))
