"""The shipper and a real server while either of them is killed, cut off or refuses.

The same with a watcher, and a hundred times, is in `tests/remote/engine/long`.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from agentwatch.base.credentials import Credentials
from agentwatch.recording.store import SessionFiles, create_file
from agentwatch.recording.write_lock import hold, release
from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login, new_session
from agentwatch.remote.login import open_sink
from agentwatch.remote.nats.administration import DEFAULT, Permissions, of_publisher, user_block
from agentwatch.remote.publish.publication import Target, is_running, start_shipping
from agentwatch.remote.publish.recorded import Recorded
from agentwatch.remote.publish.shipper import Shipper
from agentwatch.remote.publish.sidecar import Shipped, ShipState, read_shipped
from tests.harness.engine.proxy import Proxy
from tests.harness.engine.server import Server, nats_server
from tests.harness.processes import until
from tests.remote.publish.conftest import cards, make, stored

pytestmark = pytest.mark.system

Start = Callable[..., int]
LINE = b'{"type":"text","text":"%s"}\n' % (b"x" * 150)


class Growing:
    """A recording to which a thread writes 200 lines a second, until it is ended."""

    def __init__(self, folder: Path) -> None:
        self.files = SessionFiles(folder / "growing.ndjson")
        self.fd = create_file(self.files.recording)
        self._times = create_file(self.files.times)
        hold(self.fd)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    @property
    def content(self) -> bytes:
        return self.files.recording.read_bytes()

    @property
    def shipped(self) -> Shipped:
        """What is noted of the shipping."""
        shipped = read_shipped(self.files.shipped)
        return shipped or Shipped("", new_session("none"))

    def await_progress(self) -> None:
        """Wait until the server has more."""
        before = self.shipped.shipped
        until(lambda: self.shipped.shipped > before)

    def end(self) -> None:
        if not self._stop.is_set():
            self._stop.set()
            self._thread.join()
            release(self.fd)

    def close(self) -> None:
        self.end()
        os.close(self.fd)
        os.close(self._times)

    def _write(self) -> None:
        size = 0
        while not self._stop.wait(0.005):
            os.write(self._times, b"%d %d\n" % (size, time.time_ns() // 10**6))
            size += os.write(self.fd, LINE)


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Growing]:
    growing = Growing(tmp_path)
    yield growing
    growing.close()


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a shipper of a recording; it is killed after the test."""
    started: list[int] = []

    def begin(recording: Path, address: str, **login: str) -> int:
        target = Target(Login(parse_engine(address)[0], Credentials()), "ci", {**os.environ, **login})
        started.append(start_shipping(recording, target))
        return started[-1]

    yield begin
    for shipper in started:
        if is_running(shipper):
            kill(shipper)


def kill(shipper: int) -> None:
    """Kill a shipper, and wait until it is gone."""
    os.kill(shipper, signal.SIGKILL)
    until(lambda: not is_running(shipper))


def check_whole(growing: Growing, server: Server, seconds: float = 30) -> None:
    """End the recording, and check that a watcher has every byte of it, and its end."""
    growing.end()
    until(lambda: growing.shipped.state is ShipState.DONE, seconds)
    found = stored(server, growing.shipped.session)
    assert found.content == growing.content
    assert found.end is not None
    assert found.end.size == len(growing.content)


def test_a_killed_publisher_or_server_loses_nothing(growing: Growing, server: Server, start: Start) -> None:
    """After each SIGKILL another process continues the same session; the bytes are identical."""
    session = None
    for _ in range(3):
        shipper = start(growing.files.recording, server.address)
        growing.await_progress()
        kill(shipper)
        session = session or growing.shipped.session
        assert growing.shipped.session == session
    start(growing.files.recording, server.address)
    # After each SIGKILL and restart of the server the shipper goes on; the bytes are identical.
    for _ in range(3):
        growing.await_progress()
        server.restart()
    check_whole(growing, server)


def test_cut_connections_lose_nothing(growing: Growing, server: Server, start: Start) -> None:
    """After each reset connection the shipper goes on; the bytes are identical."""
    with Proxy(server.port) as proxy:
        start(growing.files.recording, proxy.address)
        for _ in range(6):
            growing.await_progress()
            proxy.cut()
        check_whole(growing, server)


def test_an_engine_that_is_away_gets_the_backlog(growing: Growing, server: Server, start: Start) -> None:
    """After a second without a server, everything arrives within 10 s of its return."""
    start(growing.files.recording, server.address)
    until(lambda: growing.shipped.shipped)
    server.kill()
    until(lambda: growing.shipped.problem)
    gone = time.monotonic()
    until(lambda: time.monotonic() - gone > 1)
    assert growing.shipped.state is ShipState.WAITING
    os.write(growing.fd, LINE * 10_000)
    server.restart()
    until(lambda: growing.shipped.shipped > 10_000 * len(LINE), 10)
    assert not growing.shipped.problem
    check_whole(growing, server)


def test_two_publishers_of_one_session(growing: Growing, server: Server) -> None:
    """Two shippers that send the same session at the same time leave the same bytes."""
    login, session = Login(parse_engine(server.address)[0]), new_session("ci")
    results: list[Shipped] = []

    def ship() -> None:
        shipped = Shipped(server.address, session)
        recorded = Recorded(growing.files.recording)
        shipper = Shipper(
            recorded,
            shipped,
            lambda: open_sink(login, "ci"),
            _wait,
            states.append,
        )
        results.append(shipper.run())
        recorded.close()

    states: list[Shipped] = []
    threads = [threading.Thread(target=ship) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: len({state.shipped for state in states}) > 6)
    growing.end()
    for thread in threads:
        thread.join(30)
    assert [each.state for each in results] == [ShipState.DONE] * 2
    assert stored(server, session).content == growing.content


def _wait(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def test_a_second_process_leaves_the_recording_to_the_first(
    growing: Growing, server: Server, start: Start
) -> None:
    """The lock on STEM.ship keeps a second shipper away; it ends."""
    first = start(growing.files.recording, server.address)
    until(lambda: growing.shipped.shipped)
    second = start(growing.files.recording, server.address)
    until(lambda: not is_running(second))
    assert is_running(first)
    check_whole(growing, server)


def test_a_full_stream_is_a_problem_of_the_card(growing: Growing, tmp_path: Path, start: Start) -> None:
    """What the stream has no room for stays in the file; the agent goes on, and the card says why."""
    with nats_server(tmp_path) as server:
        make(server, DEFAULT._replace(bytes=100_000))
        start(growing.files.recording, server.address)
        until(lambda: growing.shipped.problem)
        assert growing.shipped.state is ShipState.WAITING
        assert growing.shipped.problem == "the engine's room for sessions is used up"
        until(lambda: b"room for sessions" in cards(server)[growing.shipped.session])
        card = orjson.loads(cards(server)[growing.shipped.session])
        assert 0 < card["shipped"] < 100_000
        make(server)  # the administrator makes room
        until(lambda: not growing.shipped.problem)
        check_whole(growing, server)


def test_another_publishers_login_is_refused(growing: Growing, tmp_path: Path, start: Start) -> None:
    """A login that may not write under the publisher's token gets nothing stored, and a reason is noted."""
    everything = Permissions((">",), (">",))
    users = [user_block("other", of_publisher("other"), "x"), user_block("admin", everything, "y")]
    config = f"authorization {{ users = [ {', '.join(users)} ] }}"
    with nats_server(tmp_path, config) as server:
        make(server, user="admin", password="y")
        login = {"AGENTWATCH_NATS_USER": "other", "AGENTWATCH_NATS_PASSWORD": "x"}
        start(growing.files.recording, server.address, **login)
        until(lambda: growing.shipped.problem)
        assert "does not allow" in growing.shipped.problem
        assert growing.shipped.shipped == 0
        assert stored(server, growing.shipped.session, user="admin", password="y").content == b""
