"""Addresses on a real terminal: a session opens at one, and `y` copies that of a call."""

from __future__ import annotations

import pytest

from tests.conftest import RECORDINGS
from tests.harness.on_a_pty import in_terminal
from tests.harness.program import ran
from tests.harness.terminal_oracle import copied

pytestmark = pytest.mark.system
PLAIN = RECORDINGS / "plain.ndjson"


def test_y_copies_the_address_of_a_call() -> None:
    """`y` on a call copies its address and its action, and the address opens the call again."""
    with in_terminal(str(PLAIN)) as terminal:
        terminal.wait_for("succeeded in 8.7 s")
        terminal.wait_for("#2 Edited file")
        terminal.send("2gy")
        terminal.wait_for("copied #1 with its address")
        terminal.wait_until(lambda: len(copied(terminal.raw)) == 1, 20, "the copy")
        (text,) = copied(terminal.raw)
        terminal.send("q")
        assert terminal.wait_exit() == 0
    address, _, action = text.partition(" ")
    assert (address, action) == (f"{PLAIN}#1", "Read file lantern/settings.py (6 lines)")
    assert ran("show", address).stdout.decode().splitlines()[0] == f"#1 {action}"


def test_a_session_opens_at_an_address() -> None:
    """The screen opens for `FILE#2` and for `FILE@50%`."""
    for words in ("#2", "@50%"):
        with in_terminal(f"{PLAIN}{words}") as terminal:
            terminal.wait_for("lantern/settings.py")
            terminal.send("q")
            assert terminal.wait_exit() == 0


def test_a_stream_does_not_open_at_a_moment() -> None:
    """A device, a FIFO or stdin has no moment that was recorded before."""
    for path in ("/dev/null", "-"):
        with in_terminal("--", f"{path}@50%") as terminal:
            terminal.wait_for(f"agentwatch: {path} is a stream, whose moments are not recorded yet")
            assert terminal.wait_exit() == 2
