"""A stream on stdin is shown on the terminal, recorded byte for byte, and never delayed."""

import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import case
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import DEMO, FIRST_CALLS, actions_of, in_terminal, in_two_parts, saved
from tests.harness.program import watch

WHEEL_UP = "\x1b[<64;10;10M"
UP = "\x1b[A"
TIME = r"\d\d:\d\d:\d\d [✓✗]"
pytestmark = pytest.mark.slow


def test_broken_settings_do_not_end_the_agent(home: Path, tmp_path: Path) -> None:
    """The screen says what is wrong and has the defaults; all is recorded, and no command of a rule runs."""
    settings, go, ran = (tmp_path / name for name in ("config.toml", "go", "ran"))
    touch = f"command = ['touch', '{ran}']"
    rules = f"[[on]]\nrule = 'calls>1'\naction = 'run'\n{touch}\n[[sessions.on]]\nevent = 'ended'\n{touch}\n"
    settings.write_text(f"{rules}[attention]\nbell = 'yes'\n")
    env = {"AGENTWATCH_CONFIG": str(settings)}
    fault = "bell:"  # one word, which no line break divides
    with in_terminal(producer=in_two_parts(go), env=env) as terminal:
        terminal.wait_for(FIRST_CALLS)
        terminal.wait_for(fault)
        go.touch()
        terminal.wait_for("✓ succeeded in 1:10")
        terminal.leave()
        assert fault in terminal.screen_text()
    assert saved(home).read_bytes() == DEMO.read_bytes()
    assert not ran.exists()
    with in_terminal("run", "--", "touch", str(ran), env=env) as terminal:
        assert terminal.wait_exit() == 2
        assert fault in terminal.screen_text()
    assert not ran.exists()


@pytest.mark.system
def test_keys_work_while_the_stream_comes(home: Path) -> None:
    """While data streams in, all keys for panes, moving, following and pausing work."""
    producer = command(DEMO, "--pace", "60", "--repeat", "20")
    with in_terminal(producer=producer, size=(80, 24)) as terminal:
        terminal.wait_for("◐ running")
        terminal.wait_for(FIRST_CALLS)
        terminal.press("2", "✓ read ")
        terminal.press("\r", "esc Back")
        terminal.press("\x1b", "backspace Transcript")
        terminal.wait_for("✓ read ")
        terminal.send("1")
        terminal.wait_until(lambda: not re.search(TIME, terminal.screen_text()), what="transcript")
        terminal.press(UP, "new below ▾")
        terminal.wait_gone("new below", "G")
        terminal.press(WHEEL_UP, "new below ▾")
        terminal.wait_gone("new below", "\x1b[F")
        terminal.press(" ", "behind live")
        recorded = saved(home).stat().st_size
        terminal.wait_until(lambda: saved(home).stat().st_size > recorded + 3000, what="the bar")
        held, recorded = terminal.screen_text().split("\n")[3:-2], saved(home).stat().st_size
        terminal.wait_until(lambda: saved(home).stat().st_size > recorded + 3000, what="growth")
        assert terminal.screen_text().split("\n")[3:-2] == held
        terminal.wait_gone("behind", "L")
        terminal.wait_until(lambda: terminal.screen_text().split("\n")[3:-2] != held, what="what came")


@pytest.mark.system
def test_the_recording_is_the_stream(home: Path) -> None:
    """The recording equals the stream byte for byte, and the log beside it equals `--print --times`.

    At an earlier moment both go on.
    """
    with in_terminal(producer=command(DEMO, "--pace", "100")) as terminal:
        terminal.wait_for(FIRST_CALLS)
        terminal.press(" ", "behind live")
        ended = len(actions_of(DEMO))
        terminal.wait_until(lambda: saved(home, "log").read_bytes().count(b"\n") >= ended, what="log")
        terminal.wait_for("before the end")
        terminal.press("L", "✓ succeeded in 1:10")
        assert saved(home).read_bytes() == DEMO.read_bytes()
        terminal.leave()
        assert f"recorded in {saved(home)}"[:60] in terminal.screen_text().replace("\n", "")
    files = {ending: saved(home, ending) for ending in ("ndjson", "times", "log")}
    assert [file.stat().st_mode & 0o777 for file in files.values()] == [0o600] * 3
    assert (home / "sessions").stat().st_mode & 0o777 == 0o700
    logged = files["log"].read_bytes()
    assert logged == watch("-p", "--times", files["ndjson"]).stdout
    assert logged.count(b"\n") == 2 + ended
    offsets = [int(row.split()[0]) for row in files["times"].read_text().splitlines()]
    assert offsets == sorted(set(offsets))
    assert offsets[0] == 0
    assert offsets[-1] < DEMO.stat().st_size


def test_q_keeps_recording_the_stream(home: Path, tmp_path: Path) -> None:
    """`q` restores the terminal; recording and printing of actions continue to the end of the stream."""
    with in_terminal(producer=in_two_parts(tmp_path / "go")) as terminal:
        terminal.wait_for(FIRST_CALLS)
        terminal.send("q")
        terminal.wait_until(lambda: not terminal.alt_screen_active, what="way out")
        terminal.wait_for("recording continues; press ctrl+c to end it")
        assert terminal.restored(), terminal.leftovers()
        assert terminal.exit_status() is None
        (tmp_path / "go").touch()
        assert terminal.wait_exit() == 0
        assert terminal.wait_exit(stage=0) == 0
        shown = terminal.screen_text().replace("\n", "")
        rows = terminal.screen_text().split("\n")
    assert saved(home).read_bytes() == DEMO.read_bytes()
    actions = actions_of(DEMO)
    first = next(n for n, action in enumerate(actions) if action in rows)
    assert 0 < first < len(actions) - 3
    assert "".join(actions[first:]) in shown


@pytest.mark.system
def test_ctrl_c_after_q_ends_the_recording(home: Path) -> None:
    """After `q`, ctrl+c ends the recording with 130; everything received is recorded and logged."""
    with in_terminal(producer=command(DEMO, "--pace", "500", "--hang-before-result")) as terminal:
        terminal.wait_for("✓ #13 Ran terminal command pytest -q")
        terminal.press("q", "recording continues")
        terminal.leave("\x03", 130)
        assert "Traceback" not in terminal.screen_text()
    recorded = saved(home).read_bytes()
    assert len(recorded) > 20_000
    assert DEMO.read_bytes().startswith(recorded)
    assert saved(home, "log").read_bytes() == watch("-p", "--times", saved(home)).stdout


@pytest.mark.system
def test_tee_passes_the_stream_on(home: Path, tmp_path: Path) -> None:
    """With --tee the screen is on the terminal and the next program receives every byte, also after `q`."""
    out, go = tmp_path / "out", tmp_path / "go"
    consumer = ["sh", "-c", f"cat > '{out}'"]
    for is_left_early in (False, True):
        with (
            case(f"left early: {is_left_early}"),
            in_terminal("--tee", producer=in_two_parts(go), consumer=consumer) as terminal,
        ):
            terminal.wait_for(FIRST_CALLS)
            assert "2 Calls" in terminal.screen_text()
            if is_left_early:
                terminal.press("q", "recording continues")
                go.touch()
            else:
                go.touch()
                terminal.wait_for("✓ succeeded in 1:10")
                terminal.send("q")
            assert terminal.wait_exit() == terminal.wait_exit(stage=2) == 0
            assert terminal.restored(), terminal.leftovers()
            written = "Created new file tests/test_past_lows.py (28 lines)" in terminal.screen_text()
            assert written is is_left_early
            assert out.read_bytes() == DEMO.read_bytes() == saved(home).read_bytes()
            go.unlink()
            shutil.rmtree(home)


def test_a_redirected_stdout_gets_text(home: Path, tmp_path: Path) -> None:
    """When stdout is not a terminal, it gets the text format; no screen is drawn and nothing is saved."""
    out = tmp_path / "out"
    consumer = ["sh", "-c", f"cat > '{out}'"]
    with in_terminal(producer=command(DEMO), consumer=consumer) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.wait_exit(stage=2) == 0
        assert terminal.raw == b""
    assert out.read_text().splitlines() == actions_of(DEMO)
    assert not home.exists()


@pytest.mark.system
def test_without_a_usable_terminal_text_is_printed() -> None:
    """Without any terminal, and with TERM=dumb, the text is printed without escape sequences."""
    done = watch(stdin=DEMO.read_bytes())
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout + done.stderr
    assert done.stdout.decode().splitlines() == actions_of(DEMO)
    with in_terminal(producer=command(DEMO), env={"TERM": "dumb"}) as terminal:
        assert terminal.wait_exit() == 0
        assert b"\x1b" not in terminal.raw
        assert "Found files **/*.py (7 files)" in terminal.screen_text()


@pytest.mark.system
def test_the_screen_follows_the_size() -> None:
    """While the stream comes, the screen is redrawn completely at each new size.

    When the size changes faster than the screen can be drawn, the last size is drawn.
    """
    with in_terminal(producer=command(DEMO, "--pace", "80", "--hang-before-result")) as terminal:
        terminal.wait_for("1 Transcript ─")
        for columns, rows in ((80, 24), (40, 12), (120, 40), (40, 12), (80, 24)):
            terminal.resize(columns, rows)
            wide = columns >= 100

            def is_drawn(columns: int = columns, wide: bool = wide) -> bool:
                screen = terminal.screen_text().split("\n")
                frame = any(row.startswith("╭─ 1 Transcript") and len(row) == columns for row in screen)
                tabs = any(row.startswith(" 1 Transcript 2 Calls 3 Detail") for row in screen)
                is_header = screen[0].startswith(" ◐ running") and len(screen[0]) == columns - 1
                return is_header and frame == wide and tabs != wide

            terminal.wait_until(is_drawn, what=f"screen of {columns}x{rows}")
        for columns in (100, 40, 133, 20, 80, 119, 60, 120):
            terminal.resize(columns, 40)
        terminal.wait_for(re.compile(r"^╭─ 1 Transcript ─+╮╭─ 2 Calls ─+╮$", re.MULTILINE))
        terminal.wait_for(re.compile(r"\A(?=.{119}$) ◐ running .{102,}\w$", re.MULTILINE))
        terminal.press("q", "recording continues")
        assert terminal.restored(), terminal.leftovers()


@pytest.mark.system
def test_a_stream_without_a_result_is_no_success(home: Path) -> None:
    """A stream that ends early is shown as unfinished, and the exit code is 1."""
    for cut in (0, 700):
        with case(f"cut at {cut}"), in_terminal(producer=command(DEMO, "--cut", str(cut))) as terminal:
            terminal.wait_for(" 2 Calls")
            terminal.wait_for("◌ unfinished")
            terminal.wait_for("ended without a result")
            terminal.leave("q", 1)
        assert saved(home).stat().st_size == cut
        saved(home).unlink()
