"""The index of all sessions, brought up to date for a command."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agentwatch import __version__
from agentwatch.base.faults import CANNOT_CREATE, INCOMPLETE_RECORDING, Fault, cannot_create
from agentwatch.cli.messages import ShownProgress, say
from agentwatch.cli.sessions import every_session
from agentwatch.cli.stdout import print_lines
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import safe_line

if TYPE_CHECKING:
    from agentwatch.agents.session_entry import SessionEntry
    from agentwatch.catalog.index import SessionIndex, Updated

_Result = TypeVar("_Result")


def update_index() -> int:
    """Bring the index up to date; print its path on stdout, and for a person what was done on stderr."""
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

    return print_lines([safe_line(with_index("--index", every_session(), report))])


def with_index(
    asked: str, every: Collection[SessionEntry], use: Callable[[SessionIndex, Updated], _Result]
) -> _Result:
    """Bring the index of every session up to date, and return the result of `use`, which gets the index and
    what was done. A damaged index is reported and built again once: `use` may be called again if it raises
    `sqlite3.Error`. `asked` is what the user has typed: `--index`, `stats`."""
    if find_spec("_sqlite3") is None:
        raise Fault(f"{asked} needs the module sqlite3, which this Python was built without", CANNOT_CREATE)
    import sqlite3

    from agentwatch.catalog.index import index_path, remove_index

    path = index_path()
    try:
        try:
            return _used(path, every, use)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # a subclass is not damage: a full disk, a lock
                raise
            _say_damaged(path)
            remove_index(path)
            return _used(path, every, use)
    except OSError as error:
        raise cannot_create(path, error) from None
    except sqlite3.Error as error:
        raise Fault(f"cannot write {path}: {error} (it can be deleted)", INCOMPLETE_RECORDING) from None


def _used(
    path: Path, every: Collection[SessionEntry], use: Callable[[SessionIndex, Updated], _Result]
) -> _Result:
    from agentwatch.catalog.index import SessionIndex, update

    progress = ShownProgress().step("reading sessions")
    with closing(SessionIndex(path, __version__)) as index:
        if index.was_damaged:
            _say_damaged(path)
        try:
            done = update(index, every, progress)
        finally:
            progress.clear()
        return use(index, done)


def _say_damaged(path: Path) -> None:
    say(f"{path} was damaged: all sessions are read again")
