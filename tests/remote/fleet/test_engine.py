"""The list of an engine: rows come from a thread, and an engine that is away is named, never waited for."""

import threading
import time
from datetime import datetime

import pytest

from agentwatch.base.clock import now_ms
from agentwatch.base.faults import USAGE, Fault
from agentwatch.remote import lists
from agentwatch.remote.engine import RemoteError, StoredCard, Trouble
from agentwatch.remote.lists import EngineFleet
from tests.conftest import case, present
from tests.harness.processes import until
from tests.remote.fleet.made import (
    LOGIN,
    NOW_MS,
    MadeArchive,
    card,
    fleet_of,
    key,
    named,
    step_until,
    threads_of_cards,
)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again soon."""
    monkeypatch.setattr(lists, "_LEAST_PAUSE", 0.01)
    monkeypatch.setattr(lists, "_REFUSED_PAUSE", 0.01)


def test_cards_become_rows() -> None:
    """A card is a row, a newer one replaces it, a removed one takes it away. Signs of life do not make the
    screen draw. A card that is two minutes old when it arrives is lost since then, by our clock.
    """
    archive = MadeArchive()
    fleet = fleet_of(archive)
    archive.put(StoredCard(named(1), card(title="One"), 0.0), StoredCard(named(2), card(), 0.0))
    step_until(fleet, lambda: fleet.is_found and len(fleet.rows) == 2)
    assert fleet.notes == ()
    archive.put(StoredCard(named(1), card(title="Other"), 0.0), StoredCard(named(2), b"", 0.0))
    step_until(fleet, lambda: {key: row.title for key, row in fleet.rows.items()} == {key(1): "Other"})
    fleet.close()
    until(lambda: threads_of_cards() == [])
    assert archive.is_closed
    archive = MadeArchive()
    fleet = fleet_of(archive)
    archive.put(StoredCard(named(1), card(), 0.0))
    step_until(fleet, lambda: fleet.rows)
    before, calls = fleet.rows, archive.calls
    archive.put(StoredCard(named(1), card(), 0.0))
    step_until(fleet, lambda: not archive.batches and archive.calls > calls + 3)
    assert fleet.rows is before
    fleet.close()
    archive = MadeArchive()
    fleet = fleet_of(archive)
    archive.put(StoredCard(named(1), card(), 120.0), StoredCard(named(2), card(), -1e18))
    step_until(fleet, lambda: len(fleet.rows) == 2)
    lost_ms = fleet.rows[key(1)].lost_ms
    assert lost_ms is not None
    assert abs(now_ms() - 120_000 - lost_ms) < 30_000
    assert fleet.rows[key(2)].lost_ms is None
    fleet.close()
    # A long list does not have to be complete to be seen, and the newest come first.
    archive = MadeArchive()
    archive.is_complete = False
    fleet = fleet_of(archive)
    archive.put(*(StoredCard(named(number), card(), 1000.0 - number) for number in range(5_000)))
    step_until(fleet, lambda: fleet.rows)
    assert key(4_999) in fleet.rows
    assert not fleet.is_found
    fleet.close()


def test_an_engine_that_is_away_or_refuses_is_named() -> None:
    """Its rows stay, the list says since when there is no answer, and the note goes with the next answer.
    Without the engine nothing is heard, so that what ran is not known to run. A refused login is a line of
    its own, and the search for sessions is over.
    """
    with present(NOW_MS):
        archive = MadeArchive()
        fleet = fleet_of(archive)
        archive.put(StoredCard(named(1), card(), 0.0))
        step_until(fleet, lambda: fleet.rows)
        archive.error = RemoteError("nats://team: connection refused")
        step_until(fleet, lambda: fleet.notes)
        minute = f"{datetime.fromtimestamp(NOW_MS / 1000):%H:%M}"
        assert fleet.notes == (f"team: no answer since {minute}: connection refused",)
        assert key(1) in fleet.rows
        archive.error = None
        step_until(fleet, lambda: not fleet.notes)
        fleet.close()
    archive = MadeArchive()
    fleet = fleet_of(archive)
    archive.put(StoredCard(named(1), card(), 0.0))
    step_until(fleet, lambda: fleet.rows)
    archive.error = RemoteError("away")
    fleet.step(now_ms() + 91_000)
    assert fleet.rows[key(1)].lost_ms is not None
    fleet.close()
    archive = MadeArchive()
    archive.error = RemoteError("the engine refuses the login", Trouble.REFUSED)
    fleet = fleet_of(archive)
    step_until(fleet, lambda: fleet.is_found)
    assert fleet.notes == ("team: refused: the engine refuses the login",)
    fleet.close()
    # Control characters in a name, an error or a warning do not reach the terminal. A list shows the warning
    # of an engine while it is open; a later one shows only another warning.
    archive = MadeArchive()
    archive.warning = "old\x1b]0;x\x07 server"
    fleet = fleet_of(archive, "te\x1b[31mam")
    step_until(fleet, lambda: fleet.notes)
    archive.error = RemoteError("bad\x1b[2J")
    step_until(fleet, lambda: len(fleet.notes) == 2)
    assert all(note.isprintable() for note in fleet.notes)
    assert "server" in fleet.notes[1]
    fleet.close()
    archive = MadeArchive()
    for archive.warning, notes in (("old", ("team: old",)), ("old", ()), ("older", ("team: older",))):
        with case(archive.warning):
            fleet = fleet_of(archive)
            step_until(fleet, lambda: fleet._warned == archive.warning)  # noqa: B023 - called in this round
            assert fleet.notes == notes
            fleet.close()

    # A file that cannot be read any more is not an end of the list.
    def connect(_login: object) -> MadeArchive:
        raise Fault("cannot open /x: no such file", USAGE)

    fleet = EngineFleet("team", LOGIN, connect)
    step_until(fleet, lambda: fleet.is_found)
    assert fleet.notes == ("team: cannot open /x: no such file",)
    fleet.close()

    # An exception that is not an error of an engine is raised by the next step.
    def fail(_login: object) -> MadeArchive:
        raise ZeroDivisionError

    fleet = EngineFleet("team", LOGIN, fail)
    with pytest.raises(ZeroDivisionError):
        step_until(fleet, lambda: False)


def test_an_engine_that_hangs_is_named_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any answer, each step returns at once, the list says so, and closing is short."""
    monkeypatch.setattr(lists, "_SILENT_SECONDS", 0.05)
    monkeypatch.setattr(lists, "_CLOSE_SECONDS", 0.05)
    archive = MadeArchive()
    archive.hangs = True
    fleet = fleet_of(archive)
    step_until(fleet, lambda: fleet.notes)
    assert fleet.notes == ("team: no answer yet",)
    assert not fleet.is_found
    fleet.close()
    archive.hangs = False
    archive.put(StoredCard(named(1), card(), 0.0))
    step_until(fleet, lambda: threads_of_cards() == [])


def test_sessions_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list says how many sessions it leaves out."""
    archive = MadeArchive()
    fleet = fleet_of(archive)
    monkeypatch.setattr(fleet._cards, "_most", 10)
    archive.put(*(StoredCard(named(number), card(), 0.0) for number in range(1_200)))
    step_until(fleet, lambda: fleet.is_found and len(fleet.rows) == 10)
    assert fleet.notes == ("team: 1,190 older sessions are not listed: ci has 1,200",)
    fleet.close()
    # Of a first list too, those of other publishers stay, however old; the one that floods is named.
    monkeypatch.setattr(lists, "CARDS", 100)
    archive = MadeArchive()
    archive.is_complete = False
    fleet = fleet_of(archive)
    monkeypatch.setattr(fleet._cards, "_most", 100)
    others = [named(number, "anna") for number in range(5)]
    archive.put(*(StoredCard(each, card(), 9000.0) for each in others))
    archive.put(*(StoredCard(named(number, "flood"), card(), 10.0) for number in range(2000)))
    fleet.step(now_ms())
    until(lambda: not archive.batches)
    archive.is_complete = True
    step_until(fleet, lambda: fleet.is_found)
    assert len(fleet.rows) == 100
    assert {key(number, "anna") for number in range(5)} <= {*fleet.rows}
    assert fleet.notes == ("team: 1,905 older sessions are not listed: flood has 2,000",)
    archive.put(*(StoredCard(named(number, "flood"), card(), 0.0) for number in range(2000, 4000)))
    step_until(fleet, lambda: fleet.notes[0].endswith("flood has 4,000"))
    assert {key(number, "anna") for number in range(5)} <= {*fleet.rows}
    fleet.close()
    # The oldest of too many cards are counted without reading them; a later card of one brings it back.
    archive = MadeArchive()
    archive.is_complete = False
    fleet = fleet_of(archive)
    monkeypatch.setattr(fleet._cards, "_most", 100)
    archive.put(*(StoredCard(named(number), card(), 1000.0 - number) for number in range(500)))
    fleet.step(now_ms())
    until(lambda: not archive.batches)
    archive.is_complete = True
    step_until(fleet, lambda: fleet.is_found)
    assert {*fleet.rows} == {key(number) for number in range(400, 500)}
    assert fleet.notes == ("team: 400 older sessions are not listed: ci has 500",)
    archive.put(StoredCard(named(7), card(), 0.0))
    step_until(fleet, lambda: key(7) in fleet.rows)
    assert fleet.notes == ("team: 400 older sessions are not listed: ci has 500",)
    fleet.close()


def test_a_burst_makes_few_mappings(monkeypatch: pytest.MonkeyPatch) -> None:
    """While more cards wait than a step can take, the rows are replaced after half a second, not before."""
    archive = MadeArchive()
    fleet = fleet_of(archive)
    archive.put(StoredCard(named(0), card(), 0.0))
    step_until(fleet, lambda: fleet.rows)
    archive.put(*(StoredCard(named(each), card(title="Later"), 0.0) for each in range(3000)))
    until(lambda: len(fleet._waiting) >= 3000)
    before, published, clock = fleet.rows, fleet._published, [fleet._published]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(lists, "_STEP_SECONDS", 0.0)  # a step takes one card
    for after, is_new in ((0.0, False), (0.49, False), (0.51, True), (0.9, False), (1.02, True)):
        clock[0] = published + after
        assert fleet.step(now_ms())
        assert (fleet.rows is not before) == is_new, after
        before = fleet.rows
    monkeypatch.undo()
    fleet.close()


class Pauses(threading.Event):
    """Counts how often its thread waits for it."""

    count = 0

    def wait(self, timeout: float | None = None) -> bool:
        """Count, and wait."""
        self.count += 1
        return super().wait(timeout)


@pytest.mark.system
def test_cards_wait_in_the_engine_while_the_list_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not more cards are read than the list has room for: a fleet cannot fill the memory."""
    monkeypatch.setattr(lists, "_MOST_WAITING", 100)
    archive = MadeArchive()
    fleet = fleet_of(archive)
    fleet._closed = pauses = Pauses()
    for batch in range(5):
        archive.put(*(StoredCard(named(batch * 60 + each), card(), 0.0) for each in range(60)))
    fleet.step(now_ms())
    until(lambda: pauses.count > 20)  # the thread waits for room
    assert 100 < len(fleet._waiting) <= 160
    step_until(fleet, lambda: len(fleet.rows) == 300)
    fleet.close()
