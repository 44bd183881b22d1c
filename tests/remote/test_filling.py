"""What a connection brings gets into a copy, and what it does not bring is named."""

import threading
import time
from pathlib import Path

import pytest

from agentwatch.base.faults import Fault
from agentwatch.remote import copying, filling
from agentwatch.remote.card import Card
from agentwatch.remote.chunk import Chunk
from agentwatch.remote.copies import Copies, Limits
from agentwatch.remote.copying import find_session
from agentwatch.remote.engine import StoredCard
from agentwatch.remote.filling import LOST_SECONDS, Filling, SeenCard, Status
from tests.conftest import case
from tests.harness.engine.server import Server
from tests.remote.conftest import LINES, SESSION, Publisher, Watcher
from tests.remote.fleet.made import MadeArchive, card, named
from tests.remote.made import MadeChannel


def fill(tmp_path: Path, channel: MadeChannel, limits: Limits) -> tuple[Status, bool, bytes]:
    """Fill a new copy, and return the status, whether no other connection is needed, and the content."""
    copies = Copies({"AGENTWATCH_HOME": str(tmp_path)}, limits)
    copy = copies.create("nats://team", "ci.0")
    assert copy.hold()
    status = Status()
    is_over = Filling(copy, copies, channel, status).run()
    content = copy.path.read_bytes()
    copy.close()
    return status, is_over, content


ROOMY = Limits(free=0)


def test_a_copy_that_gets_no_more_says_why(tmp_path: Path) -> None:
    """What was not heard of for long, has stopped, or is too large is over here."""
    # A running session that was not heard of for an hour is over here; since when is named.
    seen = SeenCard(Card(host="build-7", outcome="running"), LOST_SECONDS + 1)
    status, is_over, content = fill(tmp_path, MadeChannel([Chunk(0, b"{}\n")], seen), ROOMY)
    assert (is_over, content) == (True, b"{}\n")
    assert status.problem.startswith("lost touch since ")
    # If the agent has ended, and nothing was heard since, the rest does not come; the card says why.
    seen = SeenCard(Card(outcome="succeeded", exit=0, problem="larger than 256 MiB"), 91)
    status, is_over, _ = fill(tmp_path, MadeChannel([Chunk(0, b"{}\n")], seen), ROOMY)
    assert (is_over, status.problem) == (True, "larger than 256 MiB")
    # A copy stops at the largest size of a session, and says so.
    channel = MadeChannel([Chunk(0, b"x" * 1000), Chunk(1000, b"y" * 1000)])
    status, is_over, content = fill(tmp_path, channel, Limits(session=1500, free=0))
    assert (is_over, content, status.has_read.is_set()) == (True, b"x" * 1000, True)
    assert status.problem == "a copy ends at 1.5 kB"


def test_without_room_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that is nearly full, the copy waits and says so."""
    monkeypatch.setattr(filling, "AGAIN_SECONDS", 0.01)
    copies = Copies({"AGENTWATCH_HOME": str(tmp_path)}, Limits(free=1 << 60))
    copy = copies.create("nats://team", "ci.0")
    assert copy.hold()
    status = Status()
    thread = threading.Thread(target=Filling(copy, copies, MadeChannel([Chunk(0, b"{}\n")]), status).run)
    thread.start()
    assert status.has_read.wait(20)
    assert (status.problem, copy.size) == ("too little room on the disk for a copy", 0)
    status.closing.set()
    thread.join(20)
    assert not thread.is_alive()
    copy.close()
    # A gap is read again at once, in case the engine was set back; then it is named, and tried again.
    monkeypatch.setattr(filling, "AGAIN_SECONDS", 0.0)
    channel = MadeChannel([Chunk(0, b"{}\n"), Chunk(10, b"{}\n")])
    copies = Copies({"AGENTWATCH_HOME": str(tmp_path)}, ROOMY)
    copy = copies.create("nats://team", "ci.0")
    assert copy.hold()
    status = Status()
    thread = threading.Thread(target=Filling(copy, copies, channel, status).run)
    thread.start()
    assert status.has_read.wait(20)
    assert channel.restarts >= 1
    assert (status.problem, copy.size) == ("7 bytes missing", 3)
    status.closing.set()
    thread.join(20)
    copy.close()


SECONDS = 10.0


@pytest.mark.costs
def test_closing_takes_less_than_a_second(server: Server, publisher: Publisher, watcher: Watcher) -> None:
    """A copy of a session that is silent is closed at once, and so is one whose engine is away."""
    publisher.send(LINES[0])
    for is_away in (False, True):
        with case(f"is away: {is_away}"):
            copying = watcher.open(f"{server.address}/{SESSION}")
            assert copying.wait_until_read(SECONDS)
            if is_away:
                server.suspend()
            began = time.monotonic()
            copying.close()
            assert time.monotonic() - began < 1
    server.resume()


class Listed(MadeArchive):
    """An archive that has returned every card with its last batch."""

    def next(self, seconds: float) -> list[StoredCard]:
        found = super().next(seconds)
        self.is_complete = not self.batches
        return found


def test_a_session_is_found_among_any_number_of_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A publisher with more cards than a list holds does not hide the sessions of others."""
    monkeypatch.setattr(copying, "CARDS", 10)
    archive = Listed()
    flood = [StoredCard(named(number, "flood"), card(), 0.0) for number in range(100)]
    wanted = named(0xABCDEF << 104, "anna")
    archive.put(*flood[:50])
    archive.put(*flood[50:], StoredCard(wanted, card(), 0.0))
    assert find_session(archive, "abcdef") == wanted
    archive.put(*flood)
    with pytest.raises(Fault, match="no session begins with fedcba; the nearest of 10 sessions"):
        find_session(archive, "fedcba")
