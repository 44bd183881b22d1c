"""The rows of cards: what a publisher claims is bounded, and a silent machine is lost."""

import orjson
import pytest

from agentwatch.agents.state_report import State
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import Ground, Group
from agentwatch.remote.card_rows import CardRows
from agentwatch.screen.screens.sessions.words import activity
from agentwatch.session.limits import Reported
from tests.conftest import case
from tests.remote.fleet.made import ADDRESS, NOW_MS, card, key, named

MINUTE_MS = 60_000
HOSTILE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"v": 2}',
    b'{"v": 1, "host": ' + b"[" * 3000,
    b'{"v": 1}' + b" " * 5000,
    b"\xff" * 100,
]


def row_of(data: bytes, heard_ms: int = NOW_MS) -> Row:
    rows = CardRows(ADDRESS)
    rows.take(named(1), data, heard_ms)
    return rows.rows()[key(1)]


def test_a_card_is_a_row() -> None:
    """What a card says is in its row, whose address opens the session."""
    row = row_of(
        card(
            model="Opus",
            cwd="/srv/api",
            branch="main",
            title="Fix it",
            prompt="Please fix it",
            state="asks",
            since_ms=NOW_MS - 5,
            calls=7,
            running=1,
            failed=2,
            context_used=10,
            context_size=100,
            bytes=123,
            started_ms=NOW_MS - 100,
            seen_ms=NOW_MS - 50,
            last="rm -rf build",
        )
    )
    assert row.key == (ADDRESS, str(named(1)))
    assert row.address == row.id == f"{ADDRESS}/{named(1)}"
    assert (row.host, row.agent, row.model, row.repo, row.branch) == (
        "build1",
        "claude",
        "Opus",
        "api",
        "main",
    )
    assert (row.title, row.prompts, row.cwd) == ("Fix it", "Please fix it", "/srv/api")
    assert row.status == (State.ASKS, Ground.SAID, NOW_MS - 5, "rm -rf build", None, True, None, ())
    assert (row.calls, row.open_calls, row.failed, row.size) == (7, 1, 2, 123)
    assert (row.context_used, row.context_size, row.began_ms, row.seen_ms) == (
        10,
        100,
        NOW_MS - 100,
        NOW_MS - 50,
    )
    assert row.group is Group.NEEDS_YOU
    # The row says until when, and has the windows; a report from the future is as old as its card. A state of
    # a later version is inferred from the outcome, so that it never rings. A state whose ground is missing or
    # not known is inferred, and does not ring.
    windows = (Reported("5h", 100, NOW_MS + 60_000, NOW_MS - 5), Reported("7d", 80, None, NOW_MS + 99))
    row = row_of(
        card(state="limited", until_ms=NOW_MS + 60_000, last="waits for the limit", limits=windows),
    )
    assert (row.status.state, row.group) == (State.LIMITED, Group.QUIET)
    assert activity(row).startswith("waits for the limit until ")
    assert row.limits == (windows[0], windows[1]._replace(said_ms=NOW_MS))
    assert row_of(card()).limits == ()
    for outcome, state in (
        ("running", State.WORKING),
        ("succeeded", State.SUCCEEDED),
        ("failed", State.FAILED),
        ("cancelled", State.CANCELLED),
        ("unfinished", State.UNFINISHED),
        ("exploded", State.UNKNOWN),
    ):
        with case(outcome):
            status = row_of(card(state="pondering", outcome=outcome)).status
            assert status.state is state
            assert status.ground is not Ground.SAID
    for ground in ("", "sworn", "inferred"):
        with case(ground):
            assert row_of(card(state="asks", ground=ground)).status.ground is Ground.INFERRED


VALUES: list[object] = [None, True, -1, 1.5, 2**53, "x" * 3000, [], {}, [[1]], {"a": {}}]


def test_values_of_any_type_make_a_row() -> None:
    """A field of another type or out of its range is unknown, and every text has a length."""
    for value in VALUES:
        with case(f"{value!r:.60}"):
            names = (
                *orjson.loads(card(calls=1, failed=1, since_ms=1, title="t", last="l", cwd="c")),
                "running",
                "bytes",
            )
            given = dict.fromkeys(names, value) | {"v": 1}
            data = orjson.dumps(given)
            if len(data) > 4096:
                data = orjson.dumps({"v": 1, "title": value})
            row = row_of(data)
            assert row.calls is None
            assert row.size == 0
            assert row.status.since_ms is None
            assert max(len(row.title), len(row.status.now), len(row.host)) <= 403
    # A claimed time that cannot be is none.
    for at_ms in (0, 1, 1_000_000_000, 1_500_000_000_000):
        with case(at_ms):
            row = row_of(card(since_ms=at_ms, started_ms=at_ms, seen_ms=at_ms))
            assert (row.status.since_ms, row.began_ms, row.seen_ms) == (None, None, None)
    # Nothing that a card says began after it was written; a later card does not move it on.
    late = {"since_ms": NOW_MS + 10**9, "started_ms": (1 << 53) - 1, "seen_ms": NOW_MS + 1}
    rows = CardRows(ADDRESS)
    rows.take(named(1), card(**late, calls=1), NOW_MS)
    row = rows.rows()[key(1)]
    assert (row.status.since_ms, row.began_ms, row.seen_ms) == (NOW_MS, NOW_MS, NOW_MS)
    rows.take(named(1), card(**late, calls=2), NOW_MS + MINUTE_MS)
    assert rows.rows()[key(1)].status.since_ms == NOW_MS
    rows.take(named(1), card(**late, state="asks"), NOW_MS + 2 * MINUTE_MS)
    assert rows.rows()[key(1)].status.since_ms == NOW_MS + 2 * MINUTE_MS
    # A card that names another session changes nothing of that one. What is no card makes no row, and leaves
    # that of the card before.
    rows = CardRows(ADDRESS)
    rows.take(named(1), card(title="Mine"), NOW_MS)
    forged = orjson.loads(card(title="Forged")) | {
        "id": str(named(1)),
        "session": str(named(1)),
        "address": f"{ADDRESS}/{named(1)}",
        "key": [ADDRESS, str(named(1))],
        "publisher": "ci",
        "path": "/etc/passwd",
        "pid": 1,
        "is_own": True,
    }
    rows.take(named(2, "evil"), orjson.dumps(forged), NOW_MS)
    found = rows.rows()
    assert found[key(1)].title == "Mine"
    row = found[key(2, "evil")]
    assert row.address == f"{ADDRESS}/{named(2, 'evil')}"
    assert (row.pid, row.is_own, str(row.path)) == (None, False, ".")
    for data in HOSTILE[1:]:
        with case(f"{data[:60]!r}"):
            rows = CardRows(ADDRESS)
            rows.take(named(1), data, NOW_MS)
            assert rows.rows() == {}
            rows.take(named(1), card(title="Before"), NOW_MS)
            rows.take(named(1), data, NOW_MS)
            assert rows.rows()[key(1)].title == "Before"


def test_a_session_that_runs_is_lost_after_90_seconds() -> None:
    """A card that is 90 s old by our clock is lost since it was written, and back with the next one. A
    session is lost whatever it did, if its process ran.
    """
    rows = CardRows(ADDRESS)
    rows.take(named(1), card(last="pytest"), NOW_MS - 20_000)
    rows.lose(NOW_MS + 69_999)
    assert rows.rows()[key(1)].lost_ms is None
    rows.lose(NOW_MS + 70_000)
    row = rows.rows()[key(1)]
    assert (row.lost_ms, row.group) == (NOW_MS - 20_000, Group.QUIET)
    assert row.status == (State.UNKNOWN, Ground.UNKNOWN, NOW_MS - 20_000, "pytest", None, False, None, ())
    rows.take(named(1), card(last="pytest"), NOW_MS + 80_000)
    row = rows.rows()[key(1)]
    assert (row.lost_ms, row.status.state) == (None, State.WORKING)
    for state in ("working", "asks", "quiet", "your turn", "shell", "turn failed"):
        with case(state):
            rows = CardRows(ADDRESS)
            rows.take(named(1), card(state=state), NOW_MS)
            rows.lose(NOW_MS + 90_000)
            assert rows.rows()[key(1)].lost_ms == NOW_MS
    # Its card is the last one, however old it is. The same card again keeps its session from being lost, and
    # changes no row. A session whose card was removed has no row, and may come back.
    for state in ("succeeded", "failed", "unfinished", "unknown"):
        with case(state):
            rows = CardRows(ADDRESS)
            rows.take(named(1), card(state=state, outcome="done"), NOW_MS - 10**9)
            rows.lose(NOW_MS)
            assert rows.rows()[key(1)].lost_ms is None
    rows = CardRows(ADDRESS)
    rows.take(named(1), card(), NOW_MS)
    rows.rows()
    rows.take(named(1), card(), NOW_MS + MINUTE_MS)
    rows.lose(NOW_MS + 2 * MINUTE_MS)
    assert not rows.is_changed
    assert rows.rows()[key(1)].lost_ms is None
    rows = CardRows(ADDRESS)
    rows.take(named(1), card(), NOW_MS)
    rows.take(named(1), b"", NOW_MS)
    assert rows.is_changed
    assert rows.rows() == {}
    rows.take(named(1), card(), NOW_MS)
    assert key(1) in rows.rows()


@pytest.mark.system
@pytest.mark.slow
def test_of_too_many_cards_the_newest_are_kept() -> None:
    """20,001 cards are 20,000 rows and a count; the one that was heard first is left out."""
    rows = CardRows(ADDRESS)
    data = card()
    for number in range(20_001):
        rows.take(named(number), data, NOW_MS + number)
    found = rows.rows()
    assert len(found) == 20_000
    assert key(0) not in found
    assert rows.left_out == 1


def test_each_publisher_has_a_share() -> None:
    """Those with few sessions keep all of them; those with many keep the same number, the newest ones."""
    rows = CardRows(ADDRESS, 100)
    sizes = {"anna": 5, "flood": 700, "ci": 30, "bot": 200}
    at_ms = NOW_MS
    for publisher, size in sizes.items():
        for number in range(size):
            at_ms += 1
            rows.take(named(number, publisher), card(), at_ms)
    found = [each.partition(".")[0] for _, each in rows.rows()]
    assert (found.count("anna"), found.count("ci"), len(found)) == (5, 30, 100)
    assert {found.count("flood"), found.count("bot")} == {32, 33}
    assert {key(number, "flood") for number in range(668, 700)} <= {*rows.rows()}
    assert rows.left_out == 935 - 100
    assert rows.crowds() == [("flood", 700), ("bot", 200)]
    # A publisher claims a machine; its own name is what the server has checked. Equal names are one. A
    # session beyond the limit takes the place of the oldest; one that was removed is not counted.
    for publisher, host, place in (
        ("ci", "build1", "ci@build1"),
        ("anna", "build1", "anna@build1"),
        ("build1", "build1", "build1"),
        ("build1-example-org", "Build1.example.org", "Build1.example.org"),
        ("anna-build1", "anna@build1", "anna-build1@anna@build1"),
        ("ci", "", "ci"),
    ):
        with case(f"{publisher} on {host}"):
            rows = CardRows(ADDRESS)
            rows.take(named(1, publisher), card(host=host), NOW_MS)
            assert rows.rows()[key(1, publisher)].place == place
    rows = CardRows(ADDRESS, 3)
    for number in range(4):
        rows.take(named(number), card(), NOW_MS + number)
    assert {*rows.rows()} == {key(1), key(2), key(3)}
    rows.take(named(0), card(), NOW_MS + 10)
    assert {*rows.rows()} == {key(0), key(2), key(3)}
    assert rows.left_out == 1
    rows.take(named(1), b"", NOW_MS + 11)
    assert rows.left_out == 0
    # However many sessions a publisher invents, memory is bounded. A session always has the name of a
    # machine. Why an engine does not have the rest stands behind what goes on.
    rows = CardRows(ADDRESS, 20)
    for number in range(500):
        rows.take(named(number), card(), NOW_MS + number)
        assert len(rows._rows) <= 22
        assert len(rows._heard) == len(rows._cards) == len(rows._rows) >= len(rows._live)
    assert len(rows.rows()) == 20
    assert rows.left_out == 480
    assert row_of(card(host="")).host == "ci"
    assert (
        row_of(card(last="pytest", problem="the stream is full")).status.now == "pytest · the stream is full"
    )
