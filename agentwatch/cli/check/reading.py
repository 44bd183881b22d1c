"""Opens a recording for `check`, and judges it while reading it to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.cli.address import STDIN, Address, opened
from agentwatch.cli.messages import say
from agentwatch.events import Outcome
from agentwatch.faults import USAGE, Fault
from agentwatch.feed import POLL_SECONDS, Feed
from agentwatch.recording import LineReader, SavedGrowth
from agentwatch.rules.check.judge import Judge
from agentwatch.rules.check.judgement import Checked
from agentwatch.rules.check.kinds import Rule
from agentwatch.session import Session
from agentwatch.wire import Agent

if TYPE_CHECKING:
    from agentwatch.sources.file import FileSource
    from agentwatch.sources.stores.source import StoreSource

_STEP_SECONDS = 0.2
_POLL_SECONDS = 1.0
"""The interval at which `check` tests whether a file is still being written, if nothing marks its end."""
_QUIET_SECONDS = 600
"""A file without a result that has not changed for this time is complete; commands may take minutes."""
_OPEN = (None, Outcome.RUNNING, Outcome.UNFINISHED)
"""Outcomes of a session that has no result yet; None before its first line."""


class _Opened(NamedTuple):
    """An open recording."""

    reader: LineReader
    source: FileSource | StoreSource | None = None
    """None for stdin."""
    is_live: bool = False
    """Whether the recording is still being written, and is read up to its present end."""
    is_written: Callable[[Session], bool] | None = None
    """Returns whether the file is still being written; None if something marks its end."""


def check(
    address: Address,
    rules: Sequence[Rule],
    agent: Agent | None,
    progress: Callable[[int, int], None],
    *,
    waits: bool,
) -> Checked:
    """Read a recording to its end and judge it.

    Args:
        address: The recording.
        rules: The rules.
        agent: The agent that wrote the recording; None to detect it.
        progress: Is called with the number of bytes read and the number of all bytes.
        waits: Whether a recording that is still being written is followed to its end.

    Raises:
        Fault: The recording cannot be read, or no known agent wrote it.
    """
    began = time.monotonic()
    with judged(address, rules, agent, progress, waits=waits) as (feed, judge, is_live):
        session, judgements = feed.session, judge.judgements()
    seconds = time.monotonic() - began
    return Checked(address.words, judgements, len(session.calls), session.format, seconds, is_live)


@contextmanager
def judged(
    address: Address,
    rules: Sequence[Rule],
    agent: Agent | None,
    progress: Callable[[int, int], None],
    *,
    waits: bool,
) -> Iterator[tuple[Feed, Judge, bool]]:
    """Return the feed of a recording that was read to its end, its judge, and whether it is still written.

    The recording is open until the end of the block. Arguments and faults are those of `check`.
    """
    found = _open(address, waits=waits)
    with nullcontext() if found.source is None else closing(found.source):
        feed = Feed(found.reader, agent)
        judge = Judge(feed, rules)
        _read(feed, found, progress)
        if found.source is not None and (faults := _faults(found.source)):
            raise Fault(f"{address.session}: {faults}", USAGE)
        if feed.session.outcome is None:
            from agentwatch.analysis.status.reasons import unknown_agent  # 4 ms, for this fault only

            raise Fault(f"{address.session}: {unknown_agent(feed.session)}", USAGE)
        yield feed, judge, found.is_live


def _open(address: Address, *, waits: bool) -> _Opened:
    """Open a recording; report on stderr if it is still being written and `waits` is not set."""
    from agentwatch.wire.opening import saved_source
    from agentwatch.wire.own_files import is_still_written

    path = address.path
    if path == STDIN:
        return _Opened(opened(path))
    is_own = is_still_written(path)
    if is_own and waits:
        source = saved_source(path, follow=True, follow_store=True)
        return _Opened(source.reader, source, is_written=lambda _: is_still_written(path))
    source = saved_source(path, None)
    growth = source.reader.growth
    is_live = is_own or (isinstance(growth, SavedGrowth) and growth.is_followed)
    if waits and not is_live and isinstance(growth, SavedGrowth) and _has_changed(path):
        source.finish()
        source.close()
        source = saved_source(path, follow=True, follow_store=True)
        return _Opened(source.reader, source, is_written=partial(_is_unfinished, path))
    if is_live and not waits:
        source.leave()
        words = "may still be written" if is_own else "is still being written"
        say(f"{address.session} {words}: checked as it is now (--wait waits for its end)")
    return _Opened(source.reader, source, is_live and not waits)


def _is_unfinished(path: Path, session: Session) -> bool:
    """Return whether a session without a result may go on, such as one that a shell writes to a file."""
    return session.outcome in _OPEN and _has_changed(path)


def _has_changed(path: Path) -> bool:
    """Return whether a file has changed within ten minutes."""
    try:
        return time.time() - path.stat().st_mtime < _QUIET_SECONDS
    except OSError:
        return False


def _read(feed: Feed, found: _Opened, progress: Callable[[int, int], None]) -> None:
    """Read a recording to its end."""
    poll_at = time.monotonic()
    while not feed.is_over:
        applied = feed.advance(_STEP_SECONDS)
        progress(feed.offset, feed.reader.growth.size())
        if applied or feed.is_over:
            continue
        time.sleep(POLL_SECONDS)
        if found.is_written is not None and found.source is not None and time.monotonic() >= poll_at:
            poll_at = time.monotonic() + _POLL_SECONDS
            if not found.is_written(feed.session):
                found.source.leave()


def _faults(source: FileSource | StoreSource) -> str:
    """Return why a recording was not read to its end; empty if it was read completely."""
    if source.ended_by is not None:
        return f"it was {source.ended_by} while it was read"
    return "; ".join(source.new_faults())
