"""The thread that reads a pty all the time, so that no program blocks on it."""

import os
import selectors
import threading
import time


class PtyReader:
    """Reads the master side of a pty until no process is left that could write to it."""

    def __init__(self, master: int) -> None:
        self.received = bytearray()
        """All bytes written to the pty."""
        self._master = master
        self._idle = 0
        self._reads, self._parked, self._closing = threading.Event(), threading.Event(), False
        self._reads.set()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether more output can come."""
        return self._thread.is_alive()

    def pause(self) -> None:
        """Stop reading, like a terminal that hangs; returns once the thread has stopped."""
        self._parked.clear()
        self._reads.clear()
        self._parked.wait()

    def resume(self) -> None:
        """Read again."""
        self._reads.set()

    def stop(self) -> None:
        """Stop reading for good."""
        self._closing = True
        self._reads.set()
        self._thread.join()

    def drain(self) -> None:
        """Wait until nothing has come for 20 ms, for 1 s at most; not while reading is paused."""
        idle, late = self._idle + 2 if self._reads.is_set() else 0, time.monotonic() + 1
        while self._idle < idle and self.is_alive and time.monotonic() < late:
            time.sleep(0.01)

    def _read(self) -> None:
        with selectors.DefaultSelector() as selector:  # poll of macOS refuses terminals
            selector.register(self._master, selectors.EVENT_READ)
            self._read_while_open(selector)
        self._parked.set()

    def _read_while_open(self, selector: selectors.BaseSelector) -> None:
        while not self._closing:
            if not self._reads.is_set():
                self._parked.set()
                self._reads.wait()
            elif selector.select(0.01):
                try:
                    data = os.read(self._master, 1 << 16)
                except OSError:  # EIO, by which Linux reports the end of a pty
                    data = b""
                if not data:
                    break
                self.received += data
            else:
                self._idle += 1
