"""A row of a host arrives as it was sent."""

from __future__ import annotations

import json
from dataclasses import replace

from agentwatch.agents.reported import State
from agentwatch.catalog.digest import LastTests
from agentwatch.remote.ssh.row_json import decode, encode
from agentwatch.remote.ssh.shared_connection import SshAddress
from agentwatch.session.limits import Reported
from tests.builders.home.home_app import row
from tests.conftest import case


def test_the_tests_arrive() -> None:
    """The newest verdict of tests is that of the host."""
    for tests in (None, LastTests(False, 17, 0), LastTests(True, 3, 2, is_stale=True)):
        with case(tests):
            sent = json.loads(encode(replace(row("abcdef"), tests=tests)))
            assert ("tests" in sent) is (tests is not None)
            found = decode(sent, SshAddress("host"))
            assert found is not None
            assert found.tests == tests


WRONG: list[object] = [5, [], [True], [True, 1, 2], [True, -1, 2, False], [True, 1, "2", False]]


def test_what_is_no_verdict_is_unknown() -> None:
    """A verdict of another form is not taken."""
    for wrong in WRONG:
        with case(wrong):
            found = decode({"id": "abcdef", "agent": "claude", "tests": wrong}, SshAddress("host"))
            assert found is not None
            assert found.tests is None


def test_any_row_is_sent() -> None:
    """A row whose names have half a surrogate pair, and whose numbers are too large, is sent without them."""
    strange = replace(row("\ud800bcdef"), key=("\udfff", "k"), parent=("claude", "\ud800"), calls=1 << 99)
    found = decode(json.loads(encode(strange)), SshAddress("host"))
    assert found is not None
    assert (found.id, found.calls, found.parent) == ("?bcdef", None, ("ssh://host", "claude/?"))


def test_the_limits_arrive() -> None:
    """The reset is the time of a server; the time of the report is moved to our clock."""
    windows = (Reported("5h", 62.7, 9_000, 5_000), Reported("7d", None, None, None))
    waits = row("abcdef", State.LIMITED, now="waits for the limit", until_ms=9_000)
    assert "limits" not in json.loads(encode(waits))
    found = decode(json.loads(encode(replace(waits, limits=windows))), SshAddress("host"), ahead_ms=1_000)
    assert found is not None
    assert found.limits == (Reported("5h", 62, 9_000, 4_000), Reported("7d", None, None, None))
    assert (found.standing.state, found.standing.until_ms) == (State.LIMITED, 9_000)
    asks = decode(json.loads(encode(row("abcdef", State.ASKS, until_ms=9_000))), SshAddress("host"), 1_000)
    assert asks is not None
    assert asks.standing.until_ms == 8_000, "a question ends by the clock of the host"
    for wrong in (5, ["x", {"name": 5}, {"used_percent": 5}], {"name": "5h"}):
        with case(wrong):
            found = decode({"id": "abcdef", "agent": "claude", "limits": wrong}, SshAddress("host"))
            assert found is not None
            assert found.limits == ()
    many = decode({"id": "abcdef", "limits": [{"name": f"{n}h"} for n in range(99)]}, SshAddress("host"))
    assert many is not None
    assert len(many.limits) == 8
