"""Decodes a large recording in a process of its own, while this one applies what it has decoded: each takes
half of the time. Only bytes pass between them."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

from agentwatch.agents import Agent, Decoder
from agentwatch.agents.registry import agent_named
from agentwatch.base.helper_process import HelperProcess, cores
from agentwatch.feed.checkpoints import NOT_PICKLED
from agentwatch.feed.feed import DecodedLine, Feed
from agentwatch.recording.lines import LineReader, Until
from agentwatch.recording.times import ArrivalTimes
from agentwatch.session.call import Pieces, Place

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_new = tuple.__new__

# The lines that a process has decoded, in values that are quick to pickle: half of the time of named tuples.

_PackedLine = tuple[list[tuple[type, tuple[Any, ...]]], tuple[Any, ...], int, tuple[Any, ...] | None]


def _packed(line: DecodedLine) -> _PackedLine:
    events, place, count, pieces = line
    return [(type(event), tuple(event)) for event in events], tuple(place), count, pieces and tuple(pieces)


def _unpacked(line: _PackedLine) -> DecodedLine:
    events, place, count, pieces = line
    return _new(
        DecodedLine,
        (
            [_new(kind, values) for kind, values in events],
            _new(Place, place),
            count,
            pieces and _new(Pieces, pieces),
        ),
    )


_BATCH_BYTES = 3 << 17
"""The bytes of the recording after which a batch of lines is sent: those between two checkpoints."""
_MOST_BYTES = 4 << 20
"""The longest part that waits for a state of the decoder that can be sent."""
_LEAST_BYTES = 64 << 20
"""What a process must have to decode: 0.4 s. Its start takes 0.1 s."""


class DecodingProcess:
    """The lines of a recording without arrival times, which a process decodes."""

    def __init__(self, reader: LineReader, agent: Agent | None) -> None:
        """Raise `OSError`."""
        words = (f"{reader.fd}", f"{reader.growth.size()}", "" if agent is None else agent.name)
        self._helper = HelperProcess(__name__, *words, fds=[reader.fd], only_answers=True)
        self._reader = reader
        self._taken = 0

    def take(self) -> tuple[Iterator[DecodedLine], Decoder] | None:
        try:
            if not self._helper.pipe.poll():
                return None
            data = self._helper.pipe.recv_bytes()
        except (OSError, EOFError):  # it has decoded all, or was killed
            self.end()
            self._reader.skip(self._taken)
            raise EOFError from None
        lines, decoder, self._taken = pickle.loads(data)  # noqa: S301 - from a process of ours
        return map(_unpacked, lines), decoder

    def end(self) -> None:
        self._helper.end()


def decode_ahead(feed: Feed) -> None:
    """Let a process decode the lines of a feed that has read nothing yet, if that is worth it."""
    reader = feed.reader
    if not isinstance(reader, LineReader) or feed.offset or not reader.times.is_empty:
        return
    if reader.growth.size() >= _LEAST_BYTES and cores() > 1 and sys.executable:
        with suppress(OSError):  # then this process decodes them
            feed.ahead = DecodingProcess(reader, feed.agent)


class _Batches:
    """The observer of the feed that decodes."""

    def __init__(self, pipe: Connection) -> None:
        self.lines: list[_PackedLine] = []
        self._pipe = pipe
        self._sent = 0

    def applied(self, place: Place, pieces: Pieces | None) -> None:
        """Do nothing: no line is applied."""

    def paused(self, offset: int, _session: object, decoder: Decoder) -> None:
        """Send what was decoded, if it is enough and the decoder's state can be sent."""
        if offset - self._sent < _BATCH_BYTES:
            return
        buffer = BytesIO()
        pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
        pickler.dispatch_table = {Agent: lambda agent: (agent_named, (agent.name,))}
        try:
            pickler.dump((self.lines, decoder, offset))
        except NOT_PICKLED:
            if offset - self._sent > _MOST_BYTES:
                raise
            return
        self._pipe.send_bytes(buffer.getbuffer())
        self._sent, self.lines = offset, []


def serve(pipe: Connection, fd: str, size: str, agent_name: str) -> None:
    """Decode a recording up to its size. The last lines, less than a batch, are left to the other process."""
    agent = agent_named(agent_name) if agent_name else None
    if agent_name and agent is None:
        return
    feed = Feed(LineReader(int(fd), Until(int(size)), ArrivalTimes()), agent)
    feed.takes_agent_times = True
    feed.observer = batches = _Batches(pipe)
    for line in feed.decoded():
        batches.lines.append(_packed(line))
