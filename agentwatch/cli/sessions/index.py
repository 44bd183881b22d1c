"""Brings the index of all sessions up to date, and prints where it is."""

from __future__ import annotations

import os
import time
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from agentwatch import __version__
from agentwatch.byte_size import byte_size
from agentwatch.cli.export.progress import ShownProgress
from agentwatch.cli.messages import say
from agentwatch.cli.printing import print_lines
from agentwatch.faults import CANNOT_CREATE, INCOMPLETE_RECORDING, Fault, cannot_create
from agentwatch.machine.places import Places
from agentwatch.plurals import plural
from agentwatch.safe_text import safe_line


def update_index() -> int:
    """Read all new and changed sessions into the index, and print its path.

    What was done is reported on stderr, so that the output can be given to another program.

    Returns:
        The exit code.

    Raises:
        Fault: The index cannot be created or written.
    """
    if find_spec("_sqlite3") is None:
        raise Fault("--index needs the module sqlite3, which this Python was built without", CANNOT_CREATE)
    import sqlite3

    from agentwatch.session_index.index import SessionIndex, index_path
    from agentwatch.session_index.updating import update

    path, began = index_path(), time.monotonic()
    progress = ShownProgress().step("reading sessions")
    try:
        with closing(SessionIndex(path, __version__)) as index:
            every = {each.key: each for batch in _places().first() for each in batch}
            done = update(index, every.values(), progress)
            sessions, calls = index.counts()
    except OSError as error:
        raise cannot_create(path, error) from None
    except sqlite3.Error as error:
        raise Fault(f"cannot write {path}: {error} (it can be deleted)", INCOMPLETE_RECORDING) from None
    finally:
        progress.clear()
    words = [f"{plural(sessions, 'session')}, {plural(calls, 'call')}"]
    words.append(f"{done.read:,} read ({byte_size(done.size)}) in {time.monotonic() - began:.1f} s")
    if done.removed:
        words.append(f"{done.removed:,} removed")
    if done.unreadable:
        words.append(f"{done.unreadable:,} cannot be read")
    say(" · ".join(words))
    return print_lines([safe_line(os.fspath(path))])


def _places() -> Places:
    return Places(os.environ, Path.home(), os.geteuid())
