"""The driver survives a terminal that goes away."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

from agentwatch.screen.terminal.driver import TolerantWriter


def test_a_closed_terminal_blocks_no_thread() -> None:
    """Writes to a closed terminal are dropped: neither `write` nor `stop` blocks."""
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
