"""A session of another machine on a real terminal: at a moment, live, and with its address."""

from __future__ import annotations

import pytest

from tests.conftest import RECORDINGS
from tests.harness.engine.server import Server
from tests.harness.on_a_pty import in_terminal
from tests.harness.program import watch
from tests.harness.terminal_oracle import copied
from tests.remote.conftest import SESSION, Publisher

pytestmark = pytest.mark.system

PLAIN = RECORDINGS / "plain.ndjson"


def test_a_session_opens_at_a_moment_and_goes_on_live(server: Server, publisher: Publisher) -> None:
    """The screen opens at a call while the session runs, and shows what is published later."""
    lines = PLAIN.read_bytes().splitlines(keepends=True)
    publisher.send(*lines[:-2])
    publisher.card()
    with in_terminal(f"{server.address}/{SESSION}#1") as terminal:
        terminal.wait_for("as of")
        terminal.wait_for("build-7")
        terminal.press("L", "running")
        publisher.send(*lines[-2:])
        publisher.end()
        terminal.wait_for("succeeded in 8.7 s")
        terminal.leave()


def test_y_copies_the_address_on_the_engine(server: Server, publisher: Publisher) -> None:
    """`y` on a call copies the address of the session elsewhere, which every command takes."""
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True))
    publisher.end()
    with in_terminal(f"{server.address}/{SESSION}") as terminal:
        terminal.wait_for("#2 Edited file")
        terminal.send("2gy")
        terminal.wait_until(lambda: len(copied(terminal.raw)) == 1, 20, "the copy")
        (text,) = copied(terminal.raw)
        terminal.leave()
    address, _, action = text.partition(" ")
    assert address == f"{server.address}/{SESSION}#1"
    assert watch("show", address).stdout.decode().splitlines()[0] == f"#1 {action}"


def test_a_moment_that_does_not_exist_is_a_fault(server: Server, publisher: Publisher) -> None:
    """Before the screen is drawn, a call that the session does not have is a fault that names the address."""
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True))
    publisher.end()
    with in_terminal(f"{server.address}/{SESSION}#999") as terminal:
        terminal.wait_for(f"{SESSION}: no call #999")
        assert terminal.wait_exit() == 2
