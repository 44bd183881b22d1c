"""The terminal is restored, however the program ends."""

import signal
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, case
from tests.harness.on_a_pty import DEMO, IN_THE_HELP, in_terminal

pytestmark = pytest.mark.system


def test_after_a_signal() -> None:
    """After a signal the exit code is 128 + the signal's number, and the terminal is restored.

    When the terminal is closed, the program ends.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        with case(number.name), in_terminal(str(DEMO)) as terminal:
            terminal.wait_for("✓ succeeded in 1:10")
            terminal.signal(number)
            assert terminal.wait_exit() == 128 + number
            assert terminal.restored(), terminal.leftovers()
            assert "Traceback" not in terminal.screen_text()
    with in_terminal(str(DEMO)) as terminal:
        terminal.wait_for("✓ succeeded in 1:10")
        terminal.hang_up()
        assert terminal.wait_exit() != 0


def test_suspended_resumed_and_left_by_q(home: Path) -> None:
    """ctrl+z restores the terminal and stops the program; resumed, it redraws everything and accepts keys.
    After `q` the terminal is in its former state, and shows its former content and one closing line.
    """
    with in_terminal(str(DEMO)) as terminal:
        terminal.wait_for("✓ succeeded in 1:10")
        assert terminal.alt_screen_active
        terminal.send("\x1a")
        terminal.wait_until(lambda: terminal.job.is_stopped(terminal.pid), what="stop")
        terminal.wait_until(terminal.restored, what="way out")
        assert "1 Transcript" not in terminal.screen_text()
        terminal.signal(signal.SIGCONT)
        terminal.wait_until(lambda: all(terminal.screen_text().split("\n")), what="a screen without gaps")
        terminal.wait_for("✓ succeeded in 1:10")
        terminal.press("?", IN_THE_HELP)
        terminal.wait_gone(IN_THE_HELP, "q")
        terminal.leave()
        closing = "agentwatch: ✓ succeeded · 1:10 · 14 calls, 1 failed, 1 rejected"
        assert terminal.screen_text().strip() == closing
    assert not home.exists()


def test_a_mistake_at_the_start_is_one_line(tmp_path: Path) -> None:
    """A mistake found at the start is reported as one line on the terminal, and no screen is drawn."""
    plain_file = tmp_path / "agent"
    plain_file.write_text("not a program")
    for arguments, words, status in (
        (["missing.ndjson"], "missing.ndjson: no such file", 2),
        ([str(RECORDINGS)], "folder", 2),
        (["replay", "missing.ndjson"], "missing.ndjson: no such file", 2),
        ([str(DEMO), "--log", "/dev/null/log"], "/dev/null/log", 73),
        (["--speed", "2"], "--speed", 2),
        (["run", "--", "no-such-agent"], "no-such-agent", 127),
        (["run", "--", str(plain_file)], "agent", 126),
    ):
        with case(arguments), in_terminal(*arguments) as terminal:
            assert terminal.wait_exit() == status
            assert b"\x1b" not in terminal.raw
            lines = terminal.raw.decode().strip().split("\r\n")
            assert len(lines) == 1
            assert lines[0].startswith("agentwatch: ")
            assert words in lines[0]
