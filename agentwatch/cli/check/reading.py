"""Opens a recording for `check`, reads it to its end, and judges it meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.checking.judgement import Checked
from agentwatch.checking.judging import Judge
from agentwatch.checking.rules import Rule
from agentwatch.cli.address import STDIN, Address, opened
from agentwatch.cli.messages import say
from agentwatch.faults import USAGE, Fault
from agentwatch.feed import POLL_SECONDS, Feed
from agentwatch.recording import LineReader, SavedGrowth
from agentwatch.wire import Agent

if TYPE_CHECKING:
    from agentwatch.sources.file import FileSource
    from agentwatch.sources.stores.source import StoreSource

_STEP_SECONDS = 0.2
_POLL_SECONDS = 1.0
"""How often it is checked whether an agent still writes its own file."""


class _Opened(NamedTuple):
    """An open recording."""

    reader: LineReader
    source: FileSource | StoreSource | None = None
    """None for stdin."""
    is_live: bool = False
    """Whether it is still being written, and is read as it is now."""
    is_written: Callable[[], bool] | None = None
    """Returns whether the agent still writes its own file, if only that says when it ends."""


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
        agent: The agent that wrote it; None to detect it.
        progress: Is called with the bytes that were read, and with those that there are.
        waits: Whether a recording that is still being written is followed to its end.

    Raises:
        Fault: It cannot be read, or no known agent wrote it.
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
    """Open a recording, and report one that is still being written and not waited for."""
    from agentwatch.sources.open import saved_source
    from agentwatch.sources.own_files import is_still_written

    path = address.path
    if path == STDIN:
        return _Opened(opened(path))
    is_own = is_still_written(path)
    if is_own and waits:
        source = saved_source(path, follow=True, follow_store=True)
        return _Opened(source.reader, source, is_written=lambda: is_still_written(path))
    source = saved_source(path, None)
    growth = source.reader.growth
    is_live = is_own or (isinstance(growth, SavedGrowth) and growth.is_followed)
    if is_live and not waits:
        source.leave()
        words = "may still be written" if is_own else "is still being written"
        say(f"{address.session} {words}: checked as it is now (--wait waits for its end)")
    return _Opened(source.reader, source, is_live and not waits)


def _read(feed: Feed, found: _Opened, progress: Callable[[int, int], None]) -> None:
    """Read a recording to its end."""
    poll_at = time.monotonic() + _POLL_SECONDS
    while not feed.is_over:
        applied = feed.advance(_STEP_SECONDS)
        progress(feed.offset, feed.reader.growth.size())
        if applied or feed.is_over:
            continue
        time.sleep(POLL_SECONDS)
        if found.is_written is not None and found.source is not None and time.monotonic() >= poll_at:
            poll_at = time.monotonic() + _POLL_SECONDS
            if not found.is_written():
                found.source.leave()


def _faults(source: FileSource | StoreSource) -> str:
    """Return why a recording was not read to its end; empty if it was."""
    if source.ended_by is not None:
        return f"it was {source.ended_by} while it was read"
    return "; ".join(source.new_faults())
