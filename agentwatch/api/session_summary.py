"""Reads a session to its end: as a `Session`, or as its summary."""

from __future__ import annotations

from contextlib import closing

import orjson

from agentwatch.analysis.status import unknown_agent
from agentwatch.api.reading import Opened, Readable, name_of, opened
from agentwatch.api.summary_types import Summary
from agentwatch.base.faults import USAGE, Fault
from agentwatch.feed.feed import Feed
from agentwatch.session.session import Session


def load(path: Readable) -> Session:
    """Read a saved session to its end.

    The file is closed. The calls and texts of a large session are kept in a temporary file without a name,
    which is closed with the session: a session of 100 MB takes 30 MB of memory.

    Args:
        path: As for `read`.

    Returns:
        The session. An empty file is a session without a format.

    Raises:
        Fault: The session cannot be opened, or no known agent wrote it.

    Example:
        >>> import agentwatch
        >>> session = agentwatch.load("recordings/failures.ndjson")
        >>> session.agent_name, session.outcome, len(session.calls)
        ('cursor', <Outcome.SUCCEEDED: 'succeeded'>, 6)
        >>> [call.target for call in session.calls if call.kind is agentwatch.ToolKind.EDIT]
        ['src/blades.py']
    """
    with closing(opened(path)) as source:
        session = _read(source, path).session
    for run in session.runs:
        if run.turn_result is not None:
            run.turn_result.settle()
    return session


def summary(path: Readable) -> Summary:
    """Return the summary of a saved session, with the keys of `agentwatch --print --output-format summary`.

    Args:
        path: As for `load`.

    Returns:
        The summary. That of an empty file has no `format`.

    Raises:
        Fault: The session cannot be opened, or no known agent wrote it.

    Example:
        >>> import agentwatch
        >>> found = agentwatch.summary("recordings/plain.ndjson")
        >>> found["outcome"], found["calls_by_outcome"], found["calls"][0]["action"]
        ('succeeded', {'succeeded': 2}, 'Read file lantern/settings.py (6 lines)')
        >>> tests = agentwatch.summary("recordings/demo.ndjson")["tests"]
        >>> tests["state"], [(each["command"], each["words"]) for each in tests["commands"]]
        ('green', [('pytest -q', '17 passed')])
    """
    from agentwatch.output.summary import whole_summary

    with closing(opened(path)) as source:
        members: Summary = orjson.loads(b"".join(whole_summary(_read(source, path, is_priced=True))))
    return members


def _read(source: Opened, path: Readable, *, is_priced: bool = False) -> Feed:
    """Return a feed that has read all of a source, which is open.

    Raises:
        Fault: No known agent wrote it.
    """
    feed = Feed(source.reader)
    feed.takes_agent_times = True
    if is_priced:
        from agentwatch.analysis.prices import count_uses

        count_uses(feed.session)
    feed.advance()
    if feed.session.outcome is None:
        raise Fault(f"{name_of(path)}: {unknown_agent(feed.session)}", USAGE)
    return feed
