"""Bytes that an engine does not keep any more begin a new copy; those that are only missing are awaited."""

import hashlib
from contextlib import closing
from pathlib import Path

import pytest

from agentwatch.cli.commands import watch_elsewhere
from agentwatch.cli.options import Options
from agentwatch.remote import copying as copying_module
from agentwatch.remote import filling
from agentwatch.remote.card import Card
from agentwatch.remote.chunk import Chunk, Ended
from agentwatch.remote.copies import Copies, Limits, used_copy
from agentwatch.remote.copying import Copying, source_of
from agentwatch.remote.filling import SeenCard
from tests.harness.engine.server import Server
from tests.harness.processes import until
from tests.remote.conftest import LINES, SESSION, Publisher, Watcher
from tests.remote.made import MadeChannel
from tests.remote.test_copying import has, set_back

ADDRESS, NAME = "nats://team", "ci.0"
LATER = [Chunk(10, b"{}\n"), Chunk(13, b"{}\n")]
RUNNING = SeenCard(Card(outcome="running"), 1.0)
ENDED = SeenCard(Card(outcome="succeeded", exit=0), 1.0)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry soon."""
    monkeypatch.setattr(filling, "AGAIN_SECONDS", 0.01)


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    """Return copies of which one has the first 3 bytes of a session."""
    found = Copies({"AGENTWATCH_HOME": str(tmp_path)}, Limits(free=0))
    copy = found.create(ADDRESS, NAME, "build-7")
    assert copy.hold()
    copy.begin_at(0)
    copy.append(b"{}\n", [(0, 1000)], [])
    copy.close()
    return found


def opened(copies: Copies, channel: MadeChannel) -> Copying:
    """Begin to fill the copy over a channel."""
    copy = copies.find(ADDRESS, NAME)
    assert copy is not None
    return Copying(f"{ADDRESS}/{NAME}", copy, copies, channel.connect)


def test_a_new_copy_begins_with_what_is_kept(copies: Copies) -> None:
    """If the first piece lies beyond the copy, another copy begins with it, and the old one stays."""
    old = copies.known()[0][0]
    with closing(opened(copies, MadeChannel(LATER, RUNNING))) as copying:
        assert copying.wait_until_read(20)
        assert (copying.beginning, copying.problem, copying.host) == (10, "", "build-7")
        assert has(copying.path, b"{}\n{}\n")
        assert not copying.is_cut_short
    assert has(old, b"{}\n")
    found = copies.find(ADDRESS, NAME)
    assert found is not None
    assert found.path == copying.path != old
    found.close()


def test_a_hole_in_the_middle_begins_no_copy(copies: Copies) -> None:
    """While the engine has the first piece, bytes that are missing after it are awaited."""
    channel = MadeChannel([Chunk(0, b"{}\n"), *LATER], RUNNING)
    with closing(opened(copies, channel)) as copying:
        until(lambda: channel.restarts > 5)
        assert (copying.problem, copying.is_awaited(), copying.is_filling()) == (
            "7 bytes missing",
            True,
            True,
        )
        channel.all.insert(1, Chunk(3, b'"xxxx"\n'))
        until(lambda: has(copying.path, b'{}\n"xxxx"\n{}\n{}\n'))
        until(lambda: not copying.problem)
    assert len(copies.known()) == 1


def test_missing_bytes_of_an_ended_session_are_not_expected(copies: Copies) -> None:
    """After two retries printing stops to wait for them; the copy is filled all the same when they come."""
    channel = MadeChannel([Chunk(0, b"{}\n"), *LATER], ENDED)
    with closing(opened(copies, channel)) as copying:
        until(lambda: not copying.is_awaited())
        assert channel.restarts >= 3
        assert (copying.problem, copying.is_cut_short, copying.is_filling()) == (
            "7 bytes missing",
            True,
            True,
        )
        channel.all.insert(1, Chunk(3, b'"xxxx"\n'))
        until(lambda: has(copying.path, b'{}\n"xxxx"\n{}\n{}\n'))
        assert copying.is_awaited()


def test_before_two_retries_missing_bytes_are_expected(
    copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes of an ended session may be on their way yet."""
    monkeypatch.setattr(filling, "AGAIN_SECONDS", 60.0)
    channel = MadeChannel([Chunk(0, b"{}\n"), *LATER], ENDED)
    with closing(opened(copies, channel)) as copying:
        assert copying.wait_until_read(20)
        assert (copying.problem, channel.restarts, copying.is_awaited()) == ("7 bytes missing", 1, True)


def test_an_end_without_the_bytes_before_it_is_the_end(copies: Copies) -> None:
    """If the end of the recording alone is kept, the copy has all that it can ever have."""
    channel = MadeChannel([Ended(10, 0, hashlib.sha256(b"").hexdigest())])
    with closing(opened(copies, channel)) as copying:
        until(lambda: not copying.is_filling())
        assert (copying.problem, copying.is_cut_short) == ("7 bytes are no longer kept", True)
        assert has(copying.path, b"{}\n")


def test_a_copy_that_is_read_is_not_exchanged(copies: Copies) -> None:
    """A screen that has opened the copy says why it does not go on; the next opening has the rest."""
    channel = MadeChannel([Chunk(0, b"{}\n")], RUNNING)
    with closing(opened(copies, channel)) as copying:
        assert copying.wait_until_read(20)
        with closing(source_of(copying)) as source:
            channel.all = [*LATER]
            channel.restart()
            until(source.reader.growth.has_ended)
            assert copying.problem == "7 bytes are no longer kept; open it again"
            assert copying.is_cut_short
    with closing(opened_newest(copies)) as again:
        assert again.wait_until_read(20)
        assert (again.beginning, again.problem) == (10, "")


def opened_newest(copies: Copies) -> Copying:
    """Open the session as a watcher does whose only copies are not to be used any more."""
    copy = copies.find(ADDRESS, NAME) or copies.create(ADDRESS, NAME)
    return Copying(f"{ADDRESS}/{NAME}", copy, copies, MadeChannel(LATER, RUNNING).connect)


def test_all_who_use_the_copy_go_on_in_the_same_one(copies: Copies) -> None:
    """Another watcher of the old copy uses the new one too."""
    with closing(opened(copies, MadeChannel([Chunk(0, b"{}\n")], RUNNING))) as first:
        assert first.wait_until_read(20)
        second = opened(copies, MadeChannel(LATER, RUNNING))
        third = opened(copies, MadeChannel(LATER, RUNNING))
    with closing(second), closing(third):
        until(lambda: second.beginning == third.beginning == 10)
        assert second.path == third.path != first.path
        until(lambda: has(second.path, b"{}\n{}\n"))


def test_a_process_that_fills_the_copy_without_success_is_named(
    copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits for a copy that another process fills does not wait for ever."""
    monkeypatch.setattr(copying_module, "_OTHER_SILENT_SECONDS", 0.0)
    other = used_copy(copies.known()[0][0])
    assert other is not None
    assert other.hold()
    with closing(opened(copies, MadeChannel(()))) as copying:
        assert copying.wait_until_read(20)
        assert copying.problem == "another process fills the copy, and receives nothing"
    other.close()


@pytest.mark.system
def test_what_a_server_does_not_keep_any_more_begins_a_copy(
    server: Server, publisher: Publisher, watcher: Watcher
) -> None:
    """A watcher that comes back after retention has passed has the rest, and is shown what is missing."""
    publisher.send(*LINES[:10])
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        assert copying.wait_until_read(20)
        old = copying.path
    set_back(server)
    again = Publisher(server.address)
    again.content = publisher.content + b"x" * 5000
    base = len(again.content)
    again.send(*LINES[10:20])
    again.end()
    with closing(watcher.open(f"{server.address}/{SESSION}")) as copying:
        until(lambda: copying.is_complete)
        assert (copying.beginning, copying.problem) == (base, "")
        assert has(copying.path, b"".join(LINES[10:20]))
        assert has(old, b"".join(LINES[:10]))
    again.sink.close()


@pytest.fixture
def holed(server: Server, publisher: Publisher) -> str:
    """Return the address of an ended session with bytes missing in the middle."""
    publisher.send(LINES[0])
    publisher.content += b"x" * 12_345
    publisher.send(LINES[1])
    publisher.end()
    publisher.card(Card(host="build-7", outcome="succeeded", exit=0))
    return f"{server.address}/{SESSION}"


@pytest.mark.system
def test_printing_ends_when_missing_bytes_are_not_expected(
    holed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """`-p` ends with exit code 74 and one line that names the missing bytes."""
    code = watch_elsewhere(holed, None, Options(printing=True))
    lines = [line for line in capfd.readouterr().err.splitlines() if "missing" in line]
    assert (code, lines) == (74, [f"agentwatch: {holed}: 12,345 bytes missing"])
