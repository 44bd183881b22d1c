"""Saved sessions on a real terminal: the demo, replays, colours."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, case
from tests.harness.on_a_pty import DEMO, FIRST_CALLS, IN_THE_HELP, in_terminal, in_two_parts

FAILURES = RECORDINGS / "failures.ndjson"
COLOUR = re.compile(rb"\x1b\[[0-9;:]*?(?<![0-9])(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?=[;:m])[0-9;:]*m")

pytestmark = pytest.mark.system


def test_the_demo_plays_to_its_end() -> None:
    """The demo plays to its success and fills all three panes; the detail shows its failed call.

    A bookmark in it is not written into the folder of the program.
    """
    with in_terminal("demo", "--speed", "64", size=(120, 50)) as terminal:
        terminal.wait_for("✓ succeeded in 1:10")
        for pattern in (
            r"\A ✓ succeeded 1:10 │ cursor · Sonnet 5 200K High │ tidepool",
            r"\A.*\n(?!.*replay).*\n.*to-do list: 5 of 5 done",
            r"To keep it from coming back:",
            r"✓ shell +pytest -q +✓ 17 passed +7\.0 s",
            r"─ 3 Detail · failed call #6 · esc follows ─",
            r"\$ pytest -q",
        ):
            terminal.wait_for(re.compile(pattern))
        terminal.press("m", "nothing is written beside")
        assert not RECORDINGS.joinpath("demo.bookmarks.json").exists()
        terminal.leave()


def test_replay_keys(home: Path) -> None:
    """In a replay, space pauses, `.` applies the next event, and `+` and `-` change the speed."""
    with in_terminal("replay", str(DEMO), "--speed", "0.05") as terminal:
        terminal.wait_for("×0.05 ▶")
        terminal.press(" ", "‖")
        terminal.send("t")  # thinking that has ended stays visible
        while "one test fails." not in (before := terminal.screen_text()):
            assert "Let me see" not in before
            terminal.send(".")
            terminal.wait_until(lambda old=before: terminal.screen_text() != old, what="the next event")  # type: ignore[misc]
        for key, speed in (("+", "0.25"), ("+", "0.5"), ("-", "0.25"), ("=", "0.5")):
            terminal.press(key, f"‖ ×{speed}")
        for speed in (" ", " ×2", " ×4", " ×8", " ×16", " ×32", " ×64"):
            terminal.press("+", f"‖{speed}")
        terminal.press(" ", "✓ succeeded in 1:10", 20)
        terminal.leave()
    assert not home.exists()


def test_without_colour() -> None:
    """With --no-color or NO_COLOR no colour code is sent, and all words and signs are shown."""
    for options, env, has_colours in (
        ([], {}, True),
        (["--no-color"], {}, False),
        ([], {"NO_COLOR": "1"}, False),
    ):
        with case((options, env)), in_terminal(str(FAILURES), *options, env=env) as terminal:
            terminal.wait_for("✗ shell")
            terminal.press("2E3r?", IN_THE_HELP)
            terminal.leave("qq")
            assert bool(COLOUR.findall(terminal.raw)) is has_colours


def test_a_terminal_of_sixteen_colours(tmp_path: Path) -> None:
    """Without a theme in the settings, it gets that of its own colours: failures red, the focus cyan."""
    settings = tmp_path / "config.toml"
    for theme in ("", "textual-dark"):
        settings.write_text(f'[screen]\ntheme = "{theme}"\n' if theme else "")
        env = {"TERM": "xterm", "COLORTERM": "", "AGENTWATCH_CONFIG": str(settings)}
        with case(theme), in_terminal(str(FAILURES), env=env) as terminal:
            terminal.wait_for("✗ shell")
            colours = b"".join(COLOUR.findall(terminal.raw))
            assert (re.search(rb"\b36;49m", colours) is None) is bool(theme)
            assert (re.search(rb"\b31;49m", colours) is None) is bool(theme)
            assert not re.search(rb"[34]8;[25];", terminal.raw)


def test_a_continued_screen_is_drawn_and_can_be_left() -> None:
    """After `kill -CONT`, and after `kill -STOP` and `kill -CONT`, keys work, and `q` ends the program."""
    with in_terminal(str(DEMO)) as terminal:
        terminal.wait_for("✓ succeeded in 1:10")
        for is_stopped in (False, True):
            if is_stopped:
                terminal.signal(signal.SIGSTOP)
                terminal.wait_until(lambda: terminal.job.is_stopped(terminal.pid), what="stop")
            count = terminal.raw.count(b"\x1b[?1049h") + 1
            terminal.signal(signal.SIGCONT)
            terminal.wait_until(lambda n=count: terminal.raw.count(b"\x1b[?1049h") >= n, what="a new start")  # type: ignore[misc]
            terminal.wait_until(lambda: all(terminal.screen_text().split("\n")), what="a screen without gaps")
        terminal.leave()


def test_suspended_after_the_screen_was_left(tmp_path: Path) -> None:
    """After `q` on a pipe, ctrl+z and `fg` stop and continue the printing, and the program goes on."""
    with in_terminal(producer=in_two_parts(tmp_path / "go", then="sleep 300")) as terminal:
        terminal.wait_for(FIRST_CALLS)
        terminal.press("q", "recording continues")
        terminal.send("\x1a")
        terminal.wait_until(lambda: terminal.job.is_stopped(terminal.pid), what="stop")
        (tmp_path / "go").touch()
        os.killpg(terminal.pids[0], signal.SIGCONT)
        terminal.wait_for("python -c")
        assert "internal error" not in terminal.screen_text()
        terminal.leave("\x03", 130)
