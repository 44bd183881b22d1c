"""How long a watcher waits when it closes a copy."""

from __future__ import annotations

import time

import pytest

from tests.conftest import case
from tests.harness.engine.server import Server
from tests.remote.conftest import LINES, SESSION, Publisher, Watcher

pytestmark = pytest.mark.costs
SECONDS = 10.0


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
