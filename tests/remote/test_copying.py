"""A session on a real server gets into a local copy, whatever breaks."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from agentwatch.base.faults import Fault
from agentwatch.remote.address import parse_engine
from agentwatch.remote.card import Card
from agentwatch.remote.copying import source_of
from agentwatch.remote.engine import Login, new_session
from agentwatch.remote.nats.administration import make_streams
from agentwatch.remote.nats.connection import Connection
from tests.conftest import RECORDINGS
from tests.harness.engine.proxy import Proxy
from tests.harness.engine.server import Server
from tests.harness.processes import until
from tests.remote.conftest import LINES, SESSION, Publisher, Watcher
from tests.remote.ssh.conftest import host  # noqa: F401 - a fixture
from tests.remote.ssh.sessions import STEM, record
from tests.remote.ssh.sshd import Sshd

SECONDS = 10.0
Another = Callable[[], Publisher]


@pytest.fixture
def another(server: Server) -> Iterator[Another]:
    """Yield a function that returns the publisher of another session."""
    with ExitStack() as stack:

        def begin() -> Publisher:
            publisher = Publisher(server.address, new_session("ci"))
            stack.callback(publisher.sink.close)
            return publisher

        yield begin


def has(path: Path, content: bytes) -> bool:
    """Return whether a copy has a content."""
    return path.read_bytes() == content


@pytest.mark.system
def test_lines_arrive_while_a_session_runs(
    server: Server, publisher: Publisher, watcher: Watcher, another: Another
) -> None:
    """Lines that are published later get into the copy; a reader that follows it ends with the session."""
    publisher.send(LINES[0])
    publisher.card()
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        assert copying.wait_until_read(SECONDS)
        source = source_of(copying)
        with closing(source):
            assert not source.reader.growth.has_ended()
            for line in LINES[1:5]:
                publisher.send(line)
            until(lambda: has(copying.path, publisher.content))
            until(lambda: copying.host == "build-7")
            assert not source.reader.growth.has_ended()
            publisher.end()
            until(source.reader.growth.has_ended)
            assert source.reader.growth.size() == len(publisher.content)
    # Two watchers share one copy; when the one that fills it leaves, the other one goes on.
    publisher = another()
    publisher.send(LINES[0])
    words = f"{server.address}/{publisher.session}"
    first = watcher.open(words)
    assert first.wait_until_read(SECONDS)
    with closing(watcher.open(words)) as second:
        assert second.path == first.path
        assert second.wait_until_read(SECONDS)
        with closing(source_of(second)) as source:
            publisher.send(LINES[1])
            until(lambda: source.reader.growth.size() == len(publisher.content))
            first.close()
            publisher.send(LINES[2])
            until(lambda: source.reader.growth.size() == len(publisher.content))
            publisher.end()
            until(source.reader.growth.has_ended)
            assert second.is_complete


@pytest.mark.system
def test_a_complete_copy_is_opened_without_the_engine(
    server: Server, publisher: Publisher, watcher: Watcher
) -> None:
    """History is read once: a complete copy needs no engine, and an abbreviated name finds it."""
    # The card names the machine, also if it arrives after the copy was created and the session has ended.
    publisher.send(LINES[0])
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        assert copying.wait_until_read(SECONDS)
        assert copying.host == ""
    publisher.end()
    publisher.card(Card(host="build-7", outcome="succeeded", exit=0))
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        until(lambda: not copying.is_filling())
        assert (copying.is_complete, copying.host) == (True, "build-7")
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        until(lambda: copying.is_complete)
    server.kill()
    for words in (str(SESSION), SESSION.id[:8], "ci.012345"):
        with closing(watcher.open(f"{server.address}/{words}")) as again:
            assert again.wait_until_read(0)
            assert again.path == copying.path
    server.restart()


@pytest.mark.system
def test_without_a_copy_an_absent_engine_is_a_fault(server: Server, watcher: Watcher) -> None:
    """Without a copy, an engine that is away is reported at once, and no empty copy is left."""
    server.kill()
    with pytest.raises(Fault, match=server.address):
        watcher.open(f"{server.address}/{SESSION}")
    assert not list(Path(watcher.environ["AGENTWATCH_HOME"]).glob("copies/*"))
    server.restart()


@pytest.mark.system
def test_an_ended_session_is_copied_whole(
    server: Server, publisher: Publisher, watcher: Watcher, another: Another
) -> None:
    """The copy has all bytes and times of an ended session, and is complete."""
    # A session that the engine does not have is reported, with the nearest name for an abbreviated one.
    publisher.card()
    with pytest.raises(Fault, match="has no session"):
        watcher.open(f"{server.address}/ci.{'f' * 32}")
    with pytest.raises(Fault, match=f"no session begins with 0123ff; the nearest of 1 session: {SESSION}"):
        watcher.open(f"{server.address}/0123ff")
    with pytest.raises(Fault, match="at least the first 6"):
        watcher.open(f"{server.address}/0123")
    for line in LINES:
        publisher.send(line)
    publisher.end()
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        until(lambda: not copying.is_filling())
        assert (copying.is_complete, copying.problem, copying.beginning) == (True, "", 0)
        assert has(copying.path, publisher.content)
        times = copying.path.with_suffix(".times").read_text().splitlines()
        assert (len(times), times[0]) == (len(LINES), "0 1000")
    # A watcher that comes back reads the last piece that it has, and what is new.
    publisher = another()
    for line in LINES[:100]:
        publisher.send(line * 50)
    with Proxy(server.port) as proxy:
        with closing(watcher.open(f"{proxy.address}/{publisher.session}")) as copying:
            assert copying.wait_until_read(SECONDS)
        first = proxy.passed
        publisher.send(LINES[100])
        publisher.end()
        with closing(watcher.open(f"{proxy.address}/{publisher.session}")) as again:
            until(lambda: again.is_complete)
            assert again.path == copying.path
            assert has(again.path, publisher.content)
        assert first > 500_000
        assert proxy.passed - first < 30_000
    # After each cut, reading goes on behind the last piece, and the copy is the recording.
    publisher = another()
    with Proxy(server.port) as proxy:
        publisher.send(LINES[0])
        with closing(watcher.open(f"{proxy.address}/{publisher.session}")) as copying:
            for start in range(1, 161, 20):
                publisher.send(*LINES[start : start + 10])
                proxy.cut()
                publisher.send(*LINES[start + 10 : start + 20])
                until(lambda: has(copying.path, publisher.content))
            publisher.end()
            until(lambda: copying.is_complete)
            assert proxy.cuts == 8


@pytest.mark.system
def test_a_killed_server_costs_no_byte(server: Server, publisher: Publisher, watcher: Watcher) -> None:
    """While the server is gone the copy reports it; after its return the rest arrives."""
    publisher.send(*LINES[:50])
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        assert copying.wait_until_read(SECONDS)
        server.kill()
        until(lambda: copying.problem.startswith("lost touch since "))
        server.restart()
        publisher.sink.close()
        again = Publisher(server.address)
        again.content = publisher.content
        tail = again.sink.tail(SESSION)
        assert tail is not None
        again._sequence = tail.sequence
        again.send(*LINES[50:])
        again.end()
        until(lambda: copying.is_complete)
        assert (copying.problem, has(copying.path, again.content)) == ("", True)
        again.sink.close()


@pytest.mark.system
def test_an_engine_that_was_set_back_is_read_again(
    server: Server, publisher: Publisher, watcher: Watcher
) -> None:
    """If the engine has lost what the copy took last, the copy goes on with what is stored again."""
    for line in LINES[:10]:
        publisher.send(line)
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        assert copying.wait_until_read(SECONDS)
    set_back(server)
    again = Publisher(server.address)
    for line in LINES[:3]:
        again.send(line)
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        assert copying.wait_until_read(SECONDS)
        for line in LINES[3:20]:
            again.send(line)
        again.end()
        until(lambda: copying.is_complete)
        assert has(copying.path, again.content)
    again.sink.close()


@pytest.mark.system
def test_what_a_copy_does_not_have_is_named(
    server: Server, publisher: Publisher, watcher: Watcher, another: Another
) -> None:
    """Bytes that are missing, no longer kept or others than the recording's are named."""
    # If the engine does not have bytes that the copy needs next, their number is reported.
    publisher.send(LINES[0])
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        assert copying.wait_until_read(SECONDS)
        publisher.content += b"x" * 12_345
        publisher.send(LINES[1])
        until(lambda: copying.problem == "12,345 bytes missing")
        assert has(copying.path, LINES[0])
    # If retention has passed, the copy begins with a line, and knows how many bytes it does not have.
    publisher = another()
    publisher.content = b"x" * 5000
    publisher.send(LINES[0])
    publisher.end()
    with closing(watcher.open(f"{server.address}/{publisher.session}")) as copying:
        until(lambda: copying.is_complete)
        assert copying.beginning == 5000
        assert has(copying.path, LINES[0])
        assert copying.path.with_suffix(".times").read_text() == "gap 0 5000\n0 6000\n"
    # A copy with another digest than the recording is reported, and read again at the next opening.
    publisher = another()
    publisher.send(LINES[0])
    content, publisher.content = publisher.content, b"y" * len(publisher.content)
    publisher.end()
    with closing(watcher.open(f"{server.address}/{publisher.session}")) as copying:
        until(lambda: copying.problem == "the copy differs from the recording")
        assert not copying.is_complete
    with closing(watcher.open(f"{server.address}/{publisher.session}")) as again:
        until(lambda: again.problem)
        assert again.path != copying.path
        assert has(again.path, content)
    # While nobody holds the copy, as between two watchers, its reader goes on.
    publisher = another()
    # The problem that a publisher names on its card is reported.
    publisher.send(LINES[0])
    publisher.card(Card(host="build-7", problem="the disk is full"))
    with closing(watcher.open(f"{server.address}/{publisher.session}")) as copying:
        until(lambda: copying.problem == "the disk is full")
        assert copying.is_filling()
    publisher.send(LINES[0])
    with closing(watcher.open(f"{server.address}/{publisher.session}")) as copying:
        assert copying.wait_until_read(SECONDS)
        with closing(source_of(copying)) as source:
            copying._copy.release()
            began = time.monotonic()
            until(lambda: time.monotonic() - began > 0.6 or source.reader.growth.has_ended())
            assert not source.reader.growth.has_ended()


def set_back(server: Server) -> None:
    """Empty the store of a server, and make its streams again."""
    connection = Connection(Login(parse_engine(server.address)[0]), "_INBOX.admin")
    server.kill()
    connection.close()
    shutil.rmtree(server.store)
    server.restart()
    connection = Connection(Login(parse_engine(server.address)[0]), "_INBOX.admin")
    make_streams(connection)
    connection.close()


SSH_SECONDS = 20.0


@pytest.mark.system
@pytest.mark.slow
def test_a_recording_of_a_host_is_copied_with_its_times(host: Sshd, watcher: Watcher) -> None:  # noqa: F811
    """With agentwatch there, the copy is complete, and has the arrival times."""
    host.install()
    data = record(host)
    with closing(watcher.open(f"{host.address}/{STEM}")) as copying:
        until(lambda: not copying.is_filling())
        assert (copying.is_complete, copying.problem, copying.host) == (True, "", "testhost")
        assert copying.path.read_bytes() == data


@pytest.mark.system
def test_a_growing_file_of_a_host_is_resumed(host: Sshd, watcher: Watcher) -> None:  # noqa: F811
    """With `tail` alone, a copy that is opened again goes on at its size."""
    data = record(host)
    words = f"{host.address}/{STEM}"
    with closing(watcher.open(words)) as copying:
        assert copying.wait_until_read(SSH_SECONDS)
        assert copying.path.read_bytes() == data
    with (host.home / "aw" / "sessions" / f"{STEM}.ndjson").open("ab") as file:
        file.write(b"{}\n")
    with closing(watcher.open(words)) as again:
        until(lambda: again.path.read_bytes() == data + b"{}\n")
        assert again.path == copying.path


@pytest.mark.system
def test_a_replaced_file_of_a_host_is_read_again(host: Sshd, watcher: Watcher) -> None:  # noqa: F811
    """If the file there is another one, the next opening makes a new copy of it."""
    record(host)
    words = f"{host.address}/{STEM}"
    with closing(watcher.open(words)) as copying:
        assert copying.wait_until_read(SSH_SECONDS)
    host.install()
    other = (RECORDINGS / "failed-run.ndjson").read_bytes()
    (host.home / "aw" / "sessions" / f"{STEM}.ndjson").write_bytes(other)
    with closing(watcher.open(words)) as again:
        until(lambda: again.is_complete)
        assert again.path != copying.path
        assert (again.path.read_bytes(), again.problem) == (other, "")


@pytest.mark.system
def test_an_unknown_session_of_a_host_is_a_fault(host: Sshd, watcher: Watcher) -> None:  # noqa: F811
    """A session that the host does not have is reported."""
    host.install()
    with pytest.raises(Fault, match=r"ssh://testhost"):
        watcher.open(f"{host.address}/20200101-000000-000abcdef")
