"""Brings the index of all sessions up to date, for `sessions --index` and `stats`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agentwatch import __version__
from agentwatch.base.faults import CANNOT_CREATE, INCOMPLETE_RECORDING, Fault, cannot_create
from agentwatch.catalog.places import Places, notes_of
from agentwatch.cli.messages import ShownProgress, say
from agentwatch.cli.stdout import print_lines
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import safe_line

if TYPE_CHECKING:
    from agentwatch.catalog.index import SessionIndex, Updated

_Result = TypeVar("_Result")


def update_index() -> int:
    """Read all new and changed sessions into the index, and print its path. What was done is reported on
    stderr, so that the output can be given to another program."""
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


def with_index(asked: str, use: Callable[[SessionIndex, Updated], _Result]) -> _Result:
    """Bring the index up to date, and return what a function makes of it.

    The progress is shown on a terminal at stderr if it takes long. A damaged index is built again once, which
    is reported. `asked` is what the user has typed: `--index`, `stats`. `use` gets the open index and what
    the update has done. It may be called again if it raises `sqlite3.Error`.
    """
    if find_spec("_sqlite3") is None:
        raise Fault(f"{asked} needs the module sqlite3, which this Python was built without", CANNOT_CREATE)
    import sqlite3

    from agentwatch.catalog.index import index_path, remove_index

    path = index_path()
    try:
        try:
            return _used(path, use)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # a subclass is not damage: a full disk, a lock
                raise
            _say_damaged(path)
            remove_index(path)
            return _used(path, use)
    except OSError as error:
        raise cannot_create(path, error) from None
    except sqlite3.Error as error:
        raise Fault(f"cannot write {path}: {error} (it can be deleted)", INCOMPLETE_RECORDING) from None


def _used(path: Path, use: Callable[[SessionIndex, Updated], _Result]) -> _Result:
    from agentwatch.catalog.index import SessionIndex, update

    progress = ShownProgress().step("reading sessions")
    with closing(SessionIndex(path, __version__)) as index:
        if index.was_damaged:
            _say_damaged(path)
        places = Places(os.environ, Path.home(), os.geteuid())
        every = {each.key: each for batch in places.first() for each in batch}
        for note in notes_of(places.problems.values()):
            say(note)
        try:
            done = update(index, every.values(), progress)
        finally:
            progress.clear()
        return use(index, done)


def _say_damaged(path: Path) -> None:
    say(f"{path} was damaged: all sessions are read again")
