"""A recording that grows, a process that ships it, and a local copy that follows, for tests of faults."""

import hashlib
import os
import time
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from agentwatch.base.config import Machines
from agentwatch.base.faults import Fault
from agentwatch.remote.copying import Copying, open_copy
from tests.harness.processes import until
from tests.harness.trials.growing import GrowingRecording
from tests.harness.trials.shipped import end, is_done, session_of, ship, shipped
from tests.harness.trials.stored import read_stored


class Outcome(NamedTuple):
    """What a trial has shown."""

    size: int
    """Bytes of the recording."""
    is_copied: bool
    """Whether the local copy is complete and has the bytes of the recording."""
    is_stored: bool
    """Whether the server has these bytes, and their digest at the end."""
    ahead: int
    """Messages on the server that begin behind the bytes before them."""
    passed: int
    """Messages on the server that were sent twice."""
    messages: int

    @property
    def is_identical(self) -> bool:
        """Whether nothing is lost, and nothing was out of order."""
        return self.is_copied and self.is_stored and not self.ahead

    def __str__(self) -> str:
        words = "identical" if self.is_identical else f"copied: {self.is_copied}, stored: {self.is_stored}"
        twice = f"{self.passed} of {self.messages:,} sent twice"
        return f"{words}, {self.ahead} ahead, {twice}, {self.size / 1e6:.1f} MB"


class Trial:
    """Use it in a `with` statement, which ends everything that it has started."""

    def __init__(self, folder: Path, lines_a_second: float, address: str) -> None:
        """Begin to write and to ship a recording, in a private folder."""
        self.address = address
        self.recording = GrowingRecording(folder / "20261122-120000-abcdef.ndjson", lines_a_second)
        self.shipper = ship(self.recording.path, address)
        """The process id of the shipper."""
        self.session = session_of(self.recording.path)
        self.copying: Copying | None = None
        self._environ = {**os.environ, "AGENTWATCH_HOME": str(folder / "watcher")}

    def watch(self, address: str = "") -> Copying:
        """Open the session as a watcher does, and return the local copy."""
        words = f"{address or self.address}/{self.session}"
        faults: list[Fault] = []

        def opened() -> Copying | None:
            try:
                return open_copy(words, Machines(), self._environ)
            except Fault as fault:  # the first piece is on its way
                faults.append(fault)
                return None

        if self.copying is None:
            self.copying = until(opened, what="the copy", picture=lambda: str(faults[-1:]))
        return self.copying

    def restart_shipper(self) -> None:
        """Kill the shipper, and start another one."""
        end(self.shipper)
        self.shipper = ship(self.recording.path, self.address)

    def acked(self) -> int:
        """Return how many bytes the server has acknowledged."""
        found = shipped(self.recording.path)
        return 0 if found is None else found.shipped

    def wait_acked(self, more: int, seconds: float) -> float:
        """Wait until the server has acknowledged more bytes, and return how long that took, in seconds."""
        began, goal = time.monotonic(), self.acked() + more
        until(lambda: self.acked() >= goal, seconds)
        return time.monotonic() - began

    def compare(self, port: int, seconds: float = 60) -> Outcome:
        """End the recording, wait until it is shipped and copied, and compare all three."""
        self.recording.finish()
        digest = self.recording.sha256()
        until(lambda: is_done(self.recording.path), seconds)
        copying = self.watch()
        until(lambda: not copying.is_filling(), seconds)
        stored = read_stored(port, self.session.subject)
        return Outcome(
            self.recording.size,
            copying.is_complete and hashlib.sha256(copying.path.read_bytes()).hexdigest() == digest,
            hashlib.sha256(stored.data).hexdigest() == digest and digest in stored.end,
            stored.ahead,
            stored.passed,
            stored.messages,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.copying is not None:
            self.copying.close()
        self.recording.finish()
        end(self.shipper)
