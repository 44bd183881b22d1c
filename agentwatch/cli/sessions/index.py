"""Brings the index of all sessions up to date, and prints where it is."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from agentwatch.cli.messages import say
from agentwatch.cli.sessions.up_to_date import with_index
from agentwatch.cli.stdout import print_lines
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import safe_line

if TYPE_CHECKING:
    from agentwatch.session_index.index import SessionIndex
    from agentwatch.session_index.updating import Updated


def update_index() -> int:
    """Read all new and changed sessions into the index, and print its path.

    What was done is reported on stderr, so that the output can be given to another program.

    Returns:
        The exit code.

    Raises:
        Fault: The index cannot be created or written.
    """
    began = time.monotonic()

    def report(index: SessionIndex, done: Updated) -> str:
        sessions, calls = index.counts()
        words = [f"{plural(sessions, 'session')}, {plural(calls, 'call')}"]
        took = duration_words(1000 * (time.monotonic() - began))
        words.append(f"{done.read:,} read ({byte_size(done.size)}) in {took}")
        if done.removed:
            words.append(f"{done.removed:,} removed")
        if done.unreadable:
            words.append(f"{done.unreadable:,} cannot be read")
        say(" · ".join(words))
        return os.fspath(index.path)

    return print_lines([safe_line(with_index("--index", report))])
