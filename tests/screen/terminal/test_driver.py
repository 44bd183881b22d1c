"""The driver survives a terminal that goes away, and its thread for the keys sleeps while nobody types."""

import errno
import io
import os
import select
import signal
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from types import SimpleNamespace

import pytest
from textual import constants, events
from textual.app import App
from textual.message import Message

from agentwatch.screen.terminal import driver as driver_module
from agentwatch.screen.terminal.driver import TolerantDriver, TolerantWriter
from tests.conftest import case
from tests.harness.processes import until

ENDED = 3
"""A read without bytes; after it, the thread tries again."""


class Keyboard(TolerantDriver):
    """A driver on a pipe that a test types into, which keeps the keys and the pasted text."""

    def __init__(self) -> None:
        super().__init__(App())
        self.fileno, self._typed_fd = os.pipe()
        self.said: list[str] = []
        """The keys and the pasted text that were read."""

    def process_message(self, message: Message) -> None:
        """Keep what was typed."""
        if isinstance(message, events.Key):
            self.said.append(message.key)
        elif isinstance(message, events.Paste):
            self.said.append(message.text)

    def write(self, data: str) -> None:
        """Draw nothing."""

    def start(self) -> None:
        """Start the thread that reads keys."""
        self._key_thread = threading.Thread(target=self.run_input_thread, daemon=True)
        self._key_thread.start()

    @property
    def is_reading(self) -> bool:
        """Whether the thread that reads keys is running."""
        return self._is_running()

    def type(self, keys: bytes) -> None:
        os.write(self._typed_fd, keys)

    def hang_up(self) -> None:
        """Let the terminal go away."""
        os.close(self._typed_fd)
        self._typed_fd = -1

    def close(self) -> None:
        """End the thread, and close the pipe."""
        self.disable_input()
        for fd in (self.fileno, self._typed_fd):
            with suppress(OSError):
                os.close(fd)


@pytest.fixture
async def keyboard() -> AsyncIterator[Keyboard]:
    """A driver that reads keys; the handlers of signals are given back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}
    made = Keyboard()
    yield made
    made.close()
    for number, handler in before.items():
        signal.signal(number, handler)


async def test_what_is_typed_arrives_in_order(keyboard: Keyboard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, pasted text and invalid bytes arrive in order, even if each byte is read alone."""
    usual = constants.ESCAPE_DELAY
    keyboard.start()
    for data in (b"j\x1b[A", "é".encode(), b"\x1b[200~q\nq\x1b[201~", b"\xff", b"\x1bx", b"k"):
        # A busy machine may write the next byte of a sequence late. Escape and `x` are two keys in any case.
        monkeypatch.setattr(constants, "ESCAPE_DELAY", usual if data == b"\x1bx" else 60.0)
        before = len(keyboard.said)
        for byte in data:
            keyboard.type(bytes([byte]))
        until(lambda before=before: len(keyboard.said) > before)  # type: ignore[misc]
    until(lambda: keyboard.said[-1:] == ["k"])
    assert keyboard.said[:2] == ["j", "up"]
    assert keyboard.said[2:4] == ["é", "q\nq"]
    assert keyboard.said[-3:] == ["escape", "x", "k"]


async def test_an_escape_that_nothing_follows_is_a_key(keyboard: Keyboard) -> None:
    """Escape alone becomes a key without another byte."""
    keyboard.start()
    keyboard.type(b"\x1b")
    until(lambda: keyboard.said == ["escape"])


async def test_an_escape_and_a_key_at_once_are_two_keys(keyboard: Keyboard) -> None:
    """Escape and a digit are not a trade mark sign; a user who binds a key with Alt gets keys with Alt."""
    cases = {b"\x1b2": "escape 2", b"\x1b/": "escape slash", b"\x1b\x1bj": "escape escape j"}
    keyboard.start()
    for typed, keys in cases.items():
        said = [*keyboard.said, *keys.split()]
        keyboard.type(typed)
        with case(typed):
            until(lambda said=said: keyboard.said == said)  # type: ignore[misc]
    keyboard._app.set_keymap({"find": "alt+j"})
    keyboard.type(b"\x1bj")
    until(lambda: keyboard.said == [*said, "alt+j"])


async def test_the_thread_sleeps_while_nobody_types(
    keyboard: Keyboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a key, the thread waits once for the end of an escape sequence, and then without a limit."""
    waits: list[float | None] = []

    def waited(*fds: Sequence[int], _select: object = select.select) -> object:
        waits.append(fds[3])  # type: ignore[arg-type]
        return _select(*fds)  # type: ignore[operator]

    monkeypatch.setattr(driver_module, "select", SimpleNamespace(select=waited))
    keyboard.start()
    until(lambda: waits == [None])
    keyboard.type(b"j")
    until(lambda: waits[1:] and waits[-1] is None)
    assert [wait is None for wait in waits] == [True, False, True]
    assert keyboard.said == ["j"]


async def test_the_thread_ends_without_a_key_and_starts_again(keyboard: Keyboard) -> None:
    """`disable_input` ends the thread although nobody types, as often as it is started."""
    for key in "jk":
        keyboard.start()
        keyboard.type(key.encode())
        until(lambda key=key: keyboard.said[-1:] == [key])  # type: ignore[misc]
        keyboard.disable_input()
        assert not keyboard.is_reading
    assert keyboard.said == ["j", "k"]


async def test_a_terminal_that_is_gone_is_not_read_in_a_loop(
    keyboard: Keyboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a read without bytes the thread pauses, tries again, and still ends when it is asked to."""
    monkeypatch.setattr(driver_module, "_GONE_SECONDS", 0.01)
    reads: list[int] = []

    def read(fd: int, count: int) -> bytes:
        reads.append(fd)
        return os.read(fd, count)

    monkeypatch.setattr(driver_module, "os", SimpleNamespace(read=read))
    began = time.monotonic()
    keyboard.start()
    keyboard.hang_up()
    until(lambda: len(reads) >= ENDED)
    assert time.monotonic() - began >= (ENDED - 1) * 0.01
    keyboard.disable_input()
    assert not keyboard.is_reading


def test_a_closed_terminal_blocks_no_thread() -> None:
    """Writes to a closed terminal are dropped: neither `write` nor `stop` blocks, not even at the end."""
    # Writes to a closed terminal are dropped: neither `write` nor `stop` blocks.
    master, slave = os.openpty()
    with open(slave, "w", closefd=False) as terminal:
        os.close(master)
        writer = TolerantWriter(terminal)
        writer.start()

        def draw_and_end() -> None:
            for _ in range(100):
                writer.write("a frame")
            writer.stop()

        ending = threading.Thread(target=draw_and_end, daemon=True)
        ending.start()
        ending.join(20)
        assert not ending.is_alive()
        assert not writer.is_alive()
        with suppress(OSError):  # the bytes still buffered in the file cannot be written either
            terminal.close()
    os.close(slave)
    # When only the flush after the last frame fails, `stop` returns: it does not wait for a second end.
    closed = ClosedTerminal()
    writer = TolerantWriter(closed)
    writer.start()
    writer.write("the last frame")
    closed.draws.wait()
    ending = threading.Thread(target=writer.stop, daemon=True)
    ending.start()
    until(writer._queue.qsize, what="the end in the queue")
    closed.may_draw.set()
    ending.join(20)
    assert not ending.is_alive()


class ClosedTerminal(io.StringIO):
    """A terminal that is closed once everything has been drawn: the last flush fails."""

    def __init__(self) -> None:
        super().__init__()
        self.draws, self.may_draw = threading.Event(), threading.Event()

    def write(self, text: str) -> int:
        """Draw, once the end is in the queue."""
        self.draws.set()
        self.may_draw.wait()
        return super().write(text)

    def flush(self) -> None:
        """Fail as a closed terminal does."""
        raise OSError(errno.EIO, "closed")
