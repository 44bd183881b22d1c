"""The command `show`: prints one call in full, or the state of a session at a moment."""

from __future__ import annotations

from agentwatch.agents import Agent
from agentwatch.analysis.moments import CallEnd, End, MomentSpec, Problem, addressed, base_of, time_of
from agentwatch.analysis.status import unknown_agent
from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.address import Address, is_once, opened
from agentwatch.cli.messages import say
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.feed.feed import Feed, Timeline
from agentwatch.feed.history import History
from agentwatch.output.show import State, call_json, call_text, state_json, state_text
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.recording.store import SessionFiles


def show(address: Address, agent: Agent | None, *, as_json: bool) -> int:
    """Print the call or the moment of an address, and return the exit code. Without a moment, the end of the
    session is shown. `agent` is None to detect it. `as_json` prints a JSON object instead of text. Raise
    `Fault` if the recording cannot be opened, or does not have the moment or the call."""
    reader = opened(address.path, follow=None)  # what is still being written has not ended
    feed = Feed(reader, agent)
    history = History(feed, reader)
    times = history.timeline
    feed.advance()
    if feed.session.outcome is None:
        say(unknown_agent(feed.session))
        return USAGE
    if isinstance(address.moment, CallEnd):
        number = address.moment.number
        _offset(address, CallEnd(number), feed, times)  # reports a call that does not exist
        call = feed.session.calls[number - 1]
        if as_json:
            return print_json([call_json(feed, call)])
        return print_lines(call_text(feed, call, times.last_ms))
    state = _state(address, history)
    return print_json(state_json(state)) if as_json else print_lines(state_text(state))


def _state(address: Address, history: History) -> State:
    """Return the session at the moment of an address."""
    moment, feed, times = address.moment or End.LIVE, history.feed, history.timeline
    offset = _offset(address, moment, feed, times)
    if offset >= times.size:
        return State(feed, times.size, times.size, times.last_ms)
    part = history.at(offset)
    at_ms = time_of(moment, times, base_of(moment, times))
    if at_ms is None or times.first_ms is None or at_ms < times.first_ms:
        at_ms = times.ms_at(part.offset) if part.offset else None
    return State(part, part.offset, times.size, at_ms)


def _offset(address: Address, moment: MomentSpec, feed: Feed, times: Timeline) -> int:
    path = None if is_once(address.path) else SessionFiles(address.path).bookmarks
    bookmarks = Bookmarks(path, lambda offset: ends_a_line(feed.reader.line_at, offset)).by_name()
    offset = addressed(moment, feed.session, times, bookmarks)
    if isinstance(offset, Problem):
        raise Fault(f"{address.words}: {offset.words}", USAGE)
    return offset
