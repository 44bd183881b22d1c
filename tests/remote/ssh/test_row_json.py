"""A row of a host arrives as it was sent."""

from __future__ import annotations

import json
from dataclasses import replace

from agentwatch.catalog.digest import LastTests
from agentwatch.remote.ssh.row_json import decode, encode
from agentwatch.remote.ssh.shared_connection import SshAddress
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
