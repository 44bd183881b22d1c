"""The keys of the moment on a real terminal: in a replay, from an address, and while an agent writes."""

import re
from pathlib import Path

import pytest

from tests.builders.lines import completed, delta, init, result, started
from tests.builders.moment.timed import timed_evenly
from tests.conftest import RECORDINGS
from tests.harness.on_a_pty import actions_of, in_terminal, saved
from tests.harness.program import watch
from tests.harness.terminal import Terminal

PLAIN = RECORDINGS / "plain.ndjson"
pytestmark = pytest.mark.system
SLOW_AGENT = """
import sys, time
lines = open(sys.argv[1], "rb").read().splitlines(keepends=True)
for number, line in enumerate(lines):
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    time.sleep(0.02)
"""


def recorded(path: Path, calls: int = 40) -> Path:
    """Write a recording whose lines came every two seconds; call 3 failed."""
    lines = [init(), delta("Begin. ")]
    for number in range(1, calls + 1):
        lines.append(started("shell", f"c{number}", command=f"echo {number}"))
        outcome = {"success": {"exitCode": 1 if number == 3 else 0}}
        lines.append(completed("shell", f"c{number}", outcome, command=f"echo {number}"))
    path.write_bytes(b"".join([*lines, result("Done.")]))
    return timed_evenly(path)


def leave(terminal: Terminal) -> None:
    """Quit, and check that the terminal is as it was."""
    terminal.leave()


def test_each_key_moves_a_recording(tmp_path: Path) -> None:
    """Back and on by an event and a call, held down; by the palette 5 seconds, a minute, and backwards."""
    with in_terminal(str(recorded(tmp_path / "r.ndjson"))) as terminal:
        terminal.wait_for("succeeded")
        for keys, words in (
            ("<", "as of 09:02:42 · 1 event before the end"),
            (",", "as of 09:02:40 · 2 events, 1 call before the end"),
            (".", "as of 09:02:42 · 1 event before the end"),
            ("<" * 30, "as of 09:00:42 · 61 events, 30 calls before the end"),
            (">" * 10, "as of 09:01:22 · 41 events, 20 calls before the end"),
            ("\x10seconds back\r", "as of 09:01:17 · "),
            (":start\r", "as of 09:00:00 · 83 events"),
            ("\x10minute forward\r", "as of 09:01:00 · "),
            ("+++", "‖ ×8"),
            ("\x10backwards\r", "◀ ×8"),
            (" ", "‖"),
            ("-", "×4"),
            ("L", "succeeded in"),
        ):
            terminal.press(keys, words)
        leave(terminal)


def test_a_part_is_replayed(tmp_path: Path) -> None:
    """A replay from a moment pauses at a failure with a word, goes on, ends, and starts over with space."""
    path = recorded(tmp_path / "r.ndjson")
    options = ("--from", "#2", "--until", "#5", "--pause-on", "failure", "--speed", "64")
    with in_terminal("replay", str(path), *options) as terminal:
        terminal.wait_for("paused: #3 Ran terminal command echo 3 (failed: exit 1)")
        terminal.wait_for("‖")
        terminal.press(" ", "echo 5")
        terminal.wait_for("as of 09:00:22")
        terminal.wait_for("‖")
        assert "echo 6" not in terminal.screen_text()
        terminal.wait_gone("echo 5", " ")
        leave(terminal)


def test_a_recording_opens_at_a_call(tmp_path: Path) -> None:
    """`FILE#3` shows the end of call 3, with its detail; without such a call nothing is drawn."""
    path = recorded(tmp_path / "r.ndjson")
    with in_terminal(f"{path}#3") as terminal:
        terminal.wait_for("as of 09:00:14 · ")
        terminal.wait_for("$ echo 3")
        assert "echo 4" not in terminal.screen_text()
        leave(terminal)
    with in_terminal(f"{path}#99", size=(240, 40)) as terminal:
        terminal.wait_for(f"agentwatch: {path}: no call #99: the session has 40 calls")
        assert terminal.wait_exit() == 2
        assert b"\x1b[?1049h" not in terminal.raw


def test_recording_and_log_go_on_at_an_earlier_moment(home: Path, tmp_path: Path) -> None:
    """While keys move the moment, the recording and the log get every byte that the agent writes."""
    path = recorded(tmp_path / "r.ndjson")
    agent = tmp_path / "agent.py"
    agent.write_text(SLOW_AGENT)
    with in_terminal("run", "--", "python3", str(agent), str(path), size=(120, 40)) as terminal:
        terminal.wait_for(re.compile(r"echo (?:[5-9]|\d\d)"))  # a loaded machine may not draw each
        for keys in ("<", ",", "<<<", ".", "+", " ", ","):
            terminal.press(keys, "as of ")
        terminal.wait_until(lambda: saved(home).stat().st_size == path.stat().st_size, 30, "the recording")
        assert "as of " in terminal.screen_text()
        terminal.press("L", "succeeded")
        terminal.leave()
    recording = saved(home)
    assert recording.read_bytes() == path.read_bytes()
    assert saved(home, "log").read_bytes() == watch("-p", "--times", recording).stdout
    assert len(actions_of(recording)) == 40
