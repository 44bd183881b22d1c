"""Odd terminals: no stdin, bytes that are not keys, absurd sizes, storms of events, other encodings."""

import random
import re
import sys
import termios
import threading
from collections.abc import Callable
from functools import partial

import pytest

from tests.conftest import ROOT, case
from tests.harness.on_a_pty import DEMO, IN_THE_HELP, in_terminal
from tests.harness.program import AGENTWATCH
from tests.harness.terminal import Terminal

WHOLE = re.compile(
    r"\A ✓ succeeded 1:10 .*\n[^╭]*\n╭─ 1 Transcript ─+╮╭─ 2 Calls ─+╮\n(.*\n)*.*╭─ 3 Detail [·─]"
)
"""The demo's end at 120 columns: the header, and the top edges of the panes."""
SEQUENCES = (
    *(b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1b[H", b"\x1b[F", b"\x1b[5~", b"\x1b[6~", b"\x1b[Z"),
    *(b"\x1b[3~", b"\x1b[1;5A", b"\x1b[15~", b"\x1b[I", b"\x1b[O", b"\x1b[<64;10;10M", b"\x1b[<65;9;9M"),
)
SPURIOUS = """
import os, random, sys, time
chance = random.Random(int(sys.argv[1]))
keys = b'q?tmrie1234 +-.yGgjk\\x03\\x1a\\x1b{}[]":,\\\\'
data = bytes(chance.choice(keys) if chance.random() < 0.5 else chance.randrange(256) for _ in range(10_000))
os.write(1, data + b"\\n")
time.sleep(60)
"""
"""Writes 10,000 bytes, half of them keys of agentwatch, and holds the pipe open."""
WITH_SIZE_CHECKS = """
import signal, sys
from agentwatch.screen.terminal import base_app
seconds, takes_signals, *sys.argv[1:] = sys.argv[1:]
base_app._SIZE_SECONDS, base_app._RESIZED_SECONDS = float(seconds), 0.0
install = signal.signal
if takes_signals == "no":
    signal.signal = lambda number, handler: number == signal.SIGWINCH or install(number, handler)
from agentwatch.cli.start import main
main()
"""
"""Runs agentwatch with checks of the size some seconds apart, with or without SIGWINCH."""
few = partial(pytest.param, marks=pytest.mark.system)
many = partial(pytest.param, marks=pytest.mark.long)
pytestmark = pytest.mark.slow


def typed(terminal: Terminal, data: bytes, timeout: float = 10) -> None:
    """Type more than the terminal buffers; a program that stops reading keys fails the test."""
    typing = threading.Thread(target=terminal.send, args=(data,), daemon=True)
    typing.start()
    terminal.wait_until(lambda: not typing.is_alive(), timeout, "taking of keys")


def check_drawn(terminal: Terminal, timeout: float = 10) -> None:
    """Check that the program lives, redraws at other sizes, and accepts keys."""
    for columns, rows in ((80, 24), (120, 40)):
        terminal.resize(columns, rows)
        wanted = WHOLE if columns == 120 else re.compile(r"\A ✓ succeeded 1:10 [^╭]*\n 1 Transcript 2 Calls")
        terminal.wait_for(wanted, timeout)
    terminal.press("?", IN_THE_HELP, timeout)
    terminal.wait_gone(IN_THE_HELP, "\x1b")


def check_alive(terminal: Terminal, timeout: float = 10) -> None:
    """Check that the program lives, redraws at other sizes, accepts keys, and quits."""
    check_drawn(terminal, timeout)
    terminal.leave(timeout=timeout)
    assert "Traceback" not in terminal.screen_text()


def through_shell(words: str, *arguments: str) -> Terminal:
    """Run agentwatch with stdin redirected by the shell as in `words`."""
    shell = ["sh", "-c", f'exec "$@" {words}', "sh", *AGENTWATCH, *arguments]
    return Terminal(shell, size=(120, 40), cwd=ROOT)


@pytest.mark.system
def test_closed_or_empty_stdin() -> None:
    """With stdin closed or empty a recording is still shown, and keys come from the terminal.

    An empty stream ended without a result: keys work, and the exit code is 1.
    """
    for words in ("</dev/null", "<&-"):
        with case(words), through_shell(words, str(DEMO)) as terminal:
            terminal.wait_for(WHOLE)
            check_alive(terminal)
    with through_shell("</dev/null") as terminal:
        terminal.wait_for(re.compile(r"\A ◌ unfinished .* 0 calls\n ended without a result\s"))
        terminal.press("?", IN_THE_HELP)
        terminal.leave("qq", 1)


def test_a_closed_stdin_is_wrong_use() -> None:
    """With stdin closed and no file there is nothing to watch, which is reported in one line."""
    with through_shell("<&-") as terminal:
        assert terminal.wait_exit() == 2
        assert b"\x1b" not in terminal.raw
        assert terminal.raw.startswith(b"agentwatch: nothing to watch")


@pytest.mark.system
@pytest.mark.parametrize("seed", range(3))
def test_a_stream_presses_no_keys(seed: int) -> None:
    """None of 10,000 bytes on the pipe, half of them keys of agentwatch, acts as a key."""
    with in_terminal(producer=[sys.executable, "-c", SPURIOUS, str(seed)]) as terminal:
        terminal.wait_for(re.compile(r"\n .*only text so far.* [1-9]\d* malformed\n"))
        terminal.wait_for(re.compile(r"\A ◐ running .*\n.*\n╭─ 1 Transcript ─+╮╭─ 2 Calls"))
        assert "behind" not in terminal.screen_text()
        assert terminal.exit_status() is None
        terminal.press("?", IN_THE_HELP)
        terminal.wait_gone(IN_THE_HELP, "\x1b")
        terminal.wait_gone("╭─ 2 Calls", "z")


def text_keys(size: int) -> bytes:
    """Return at least `size` bytes of valid non-ASCII text, with sequences of keys and answers in it."""
    chance, made = random.Random(size), bytearray()
    while len(made) < size:
        made += chr(chance.choice((0xA0, 0x4E00, 0x1F300)) + chance.randrange(0x2FF)).encode()
        if chance.random() < 0.05:
            made += chance.choice(SEQUENCES)
    return bytes(made)


def byte_keys(size: int) -> bytes:
    r"""Return at least `size` bytes from \x80 to \xff, mostly invalid UTF-8, with sequences in it."""
    chance, made = random.Random(size), bytearray(b"\xff")
    while len(made) < size:
        made += bytes(chance.randrange(0x80, 0x100) for _ in range(chance.randrange(1, 160)))
        made += chance.choice(SEQUENCES)
    return bytes(made) + b"\xff"


def paste(size: int) -> bytes:
    """Return about `size` bytes of pasted text, all of it keys of agentwatch."""
    return b"\x1b[200~" + b"q?m2 " * (size // 5) + b"\x1b[201~"


def mouse_events(count: int) -> bytes:
    """Return moves, clicks, drags and turns of the wheel, all over the panes."""
    chance = random.Random(count)
    events = (
        (
            chance.choice((0, 1, 2, 32, 35, 35, 35, 64, 65, 68)),
            chance.randrange(1, 121),
            chance.randrange(1, 38),  # the footer below has keys, one of which quits
            chance.choice(b"Mm"),
        )
        for _ in range(count)
    )
    return b"".join(b"\x1b[<%d;%d;%d%c" % event for event in events)


@pytest.mark.parametrize(
    ("made", "size"),
    [
        *(few(text_keys, 5_000), many(text_keys, 1_000_000)),
        *(few(byte_keys, 1), few(byte_keys, 20_000), many(byte_keys, 1_000_000)),
        *(few(paste, 2 << 20), few(mouse_events, 200), many(mouse_events, 15_000)),
    ],
)
def test_anything_may_be_typed(made: Callable[[int], bytes], size: int) -> None:
    """Text without key bindings, invalid UTF-8 of 8-bit meta keys, a paste and a storm of the mouse act on
    nothing: the program lives and is drawn.
    """
    with in_terminal(str(DEMO)) as terminal:
        terminal.wait_for(WHOLE)
        typed(terminal, made(size), 300)
        check_alive(terminal, 600)


@pytest.mark.parametrize("count", [few(400), many(10_000)])
def test_absurd_sizes(count: int) -> None:
    """The program survives absurd sizes, none at all and storms of them, and draws the last one whole."""
    chance = random.Random(count)
    with in_terminal(str(DEMO)) as terminal:
        terminal.wait_for(WHOLE)
        for size in ((0, 0), (1, 1), (2, 500), (1000, 1), (7, 3)):
            with case(size):
                written = len(terminal.raw)
                termios.tcsetwinsize(terminal._master, size[::-1])
                if size != (0, 0):
                    terminal.wait_until(lambda n=written: len(terminal.raw) > n, what="drawing")  # type: ignore[misc]
                check_drawn(terminal)
        for _ in range(count):
            termios.tcsetwinsize(terminal._master, (chance.randrange(0, 60), chance.randrange(0, 200)))
        check_alive(terminal, 20)


@pytest.mark.system
def test_a_resize_is_noticed_with_and_without_its_signal() -> None:
    """SIGWINCH alone makes the screen follow a resize; without it, the checks of the size do."""
    for seconds, takes_signals in (("3600", "yes"), ("0.1", "no")):
        argv = [sys.executable, "-c", WITH_SIZE_CHECKS, seconds, takes_signals, str(DEMO)]
        with case(takes_signals), Terminal(argv, size=(80, 24), cwd=ROOT) as terminal:
            terminal.wait_for("✓ succeeded 1:10")
            terminal.resize(120, 40)
            terminal.wait_for(WHOLE)


@pytest.mark.system
def test_a_start_without_a_size() -> None:
    """A terminal that has no size at the start is drawn when it has one."""
    with Terminal([*AGENTWATCH, str(DEMO)], size=(120, 40), cwd=ROOT) as terminal:
        termios.tcsetwinsize(terminal._master, (0, 0))
        terminal.wait_until(lambda: terminal.alt_screen_active, what="screen")
        check_alive(terminal)


@pytest.mark.long
def test_a_huge_terminal() -> None:
    """A terminal of 1000 columns and 500 rows is drawn to its last corner."""
    with in_terminal(str(DEMO), size=(1000, 500)) as terminal:
        terminal.wait_for(re.compile(r"^╭─ 1 Transcript ─.+╮$", re.MULTILINE), 120)
        assert len(terminal.line(2)) == 1000
        check_alive(terminal, 20)


@pytest.mark.system
def test_other_encodings() -> None:
    """In an encoding without agentwatch's signs the program works, its words are readable, and it quits.

    Without box characters the frames are drawn in ASCII and stay straight.
    """
    for env in (
        {"LANG": "C", "LC_ALL": "C"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LANG": "en_US.ISO-8859-1"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "ascii"},
    ):
        with case(env), in_terminal(str(DEMO), env=env) as terminal:
            for words in ("succeeded", "1 Transcript", "2 Calls", "3 Detail", "Quit"):
                terminal.wait_for(words)
            if "PYTHONIOENCODING" in env:
                assert not re.search(r"\\u2|\\x", terminal.screen_text())
            terminal.press("?", IN_THE_HELP)
            terminal.leave("qq")
