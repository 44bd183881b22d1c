"""SIGCONT reaches a screen that ctrl+z did not stop, and a program that has left its screen."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.harness.on_a_pty import DEMO, FIRST_CALLS, in_terminal, in_two_parts

pytestmark = pytest.mark.system


@pytest.mark.parametrize("is_stopped", [False, True], ids=["running", "stopped by SIGSTOP"])
def test_a_continued_screen_is_drawn_and_can_be_left(is_stopped: bool) -> None:
    """After `kill -CONT`, and after `kill -STOP` and `kill -CONT`, keys work, and `q` ends the program."""
    with in_terminal(str(DEMO)) as terminal:
        terminal.wait_for("✓ succeeded in 1:10")
        if is_stopped:
            terminal.signal(signal.SIGSTOP)
            terminal.wait_until(lambda: terminal.job.is_stopped(terminal.pid), what="stop")
        drawn = terminal.raw.count(b"\x1b[?1049h")
        terminal.signal(signal.SIGCONT)
        terminal.wait_until(lambda: terminal.raw.count(b"\x1b[?1049h") > drawn, what="second start")
        terminal.wait_until(lambda: all(terminal.screen_text().split("\n")), what="a screen without gaps")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.restored(), terminal.leftovers()


def test_suspended_after_the_screen_was_left(tmp_path: Path) -> None:
    """After `q` on a pipe, ctrl+z and `fg` stop and continue the printing, and the program goes on."""
    with in_terminal(producer=in_two_parts(tmp_path / "go", then="sleep 300")) as terminal:
        terminal.wait_for(FIRST_CALLS)
        terminal.send("q")
        terminal.wait_for("recording continues")
        terminal.send("\x1a")
        terminal.wait_until(lambda: terminal.job.is_stopped(terminal.pid), what="stop")
        (tmp_path / "go").touch()
        os.killpg(terminal.pids[0], signal.SIGCONT)
        terminal.wait_for("python -c")
        assert "internal error" not in terminal.screen_text()
        terminal.send("\x03")
        assert terminal.wait_exit() == 130
