"""A recording that grows while time passes, and a shipper of it; no clock and no network is real."""

import os
from collections.abc import Callable
from pathlib import Path

from agentwatch.recording.store import SessionFiles, create_file
from agentwatch.recording.write_lock import hold, release
from agentwatch.remote.engine import SessionName
from agentwatch.remote.publish.recorded import Recorded
from agentwatch.remote.publish.shipper import Shipper
from agentwatch.remote.publish.sidecar import Shipped
from tests.remote.publish.memory import Engine, Sink

SESSION = SessionName("ci", "0" * 32)
TO = "nats://team.example.com"


class World:
    """Time passes when the shipper waits; then the next writes happen."""

    def __init__(self, folder: Path, engine: Engine, name: str = "one") -> None:
        self.files = SessionFiles(folder / f"{name}.ndjson")
        self.engine = engine
        self.now = 1000.0
        self.slept = 0.0
        self.states: list[Shipped] = []
        self.writes: list[Callable[[], object]] = []
        """What happens, one after the other, each time the shipper waits."""
        self.at: list[tuple[float, Callable[[], object]]] = []
        """What happens at which times, the last first."""
        self.is_asked_to_end: Callable[[], bool] = lambda: False
        self.fd = create_file(self.files.recording)
        self.times_fd = create_file(self.files.times)
        hold(self.fd)

    @property
    def content(self) -> bytes:
        return self.files.recording.read_bytes()

    def write(self, data: bytes) -> None:
        """Write what an agent has written, and when."""
        os.write(self.times_fd, b"%d %d\n" % (os.fstat(self.fd).st_size, int(self.now * 1000)))
        os.write(self.fd, data)

    def end(self) -> None:
        release(self.fd)

    def ship(self, before: Shipped | None = None) -> Shipped:
        """Ship the recording until it is over, and return the last state."""
        recorded = Recorded(self.files.recording, lambda: self.now)
        try:
            return Shipper(
                recorded,
                before or Shipped(TO, SESSION),
                self._open,
                self._wait,
                self.states.append,
                lambda: self.now,
            ).run()
        finally:
            recorded.close()

    def close(self) -> None:
        os.close(self.fd)
        os.close(self.times_fd)

    def _open(self) -> Sink:
        sink = self.engine.open()
        sink.on_wait = self._pass
        return sink

    def _wait(self, seconds: float) -> bool:
        if seconds:
            self.slept += seconds
            self._pass(seconds)
        return self.is_asked_to_end()

    def _pass(self, seconds: float) -> None:
        self.now += seconds
        assert self.now < 100_000, "the shipper does not end"
        while self.at and self.at[-1][0] <= self.now:
            self.at.pop()[1]()
        if self.writes:
            self.writes.pop(0)()
