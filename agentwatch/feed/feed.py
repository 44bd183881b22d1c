"""Brings a session up to date with its recording, at the reader's own pace: live sessions, saved files and
replays all use this feed at full speed. A `History` of it shows earlier moments.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, compress, islice, takewhile
from operator import lt, ne, sub
from typing import TYPE_CHECKING, NamedTuple, Protocol

from agentwatch.agents import Agent, Decoder, LineRole
from agentwatch.recording.appender import line_start
from agentwatch.recording.head_tail import HEAD_BYTES, ends_of_line, first_lines, line_end_after
from agentwatch.recording.lines import MOST_LINE_BYTES, Growth, Line, LineReader, Lines
from agentwatch.recording.times import TimeColumns
from agentwatch.session.call import Pieces, Place
from agentwatch.session.events import Event, FormatDetected, LineTime, Malformed, Text, Unknown, agent_ms
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session

_MOST_PIECES = 4096
_MOST_BYTES = 16 << 20
_OBJECT = re.compile(rb"\A(?:\xef\xbb\xbf)?+\s*+\{")
_EVENT = re.compile(rb'\A(?:\xef\xbb\xbf)?+\s*+\{\s*+"type"\s*+:\s*+"')
"""A line that matches is the start of an event, so it cannot continue a string."""


class LineDecoder(Protocol):
    def decode(self, data: bytes) -> list[Event]:
        """Return the events of a non-blank line; the first is `Malformed` if it is not a JSON object."""

    def decode_joined(self, pieces: list[bytes]) -> list[Event] | None:
        """Return the events of the joined lines; None if together they are not a JSON object either."""

    def decode_oversize(self, head: bytes, tail: bytes, size: int, /) -> list[Event]:
        """Return the events that the head and the tail of a line of `size` bytes contain."""


class DecodedLine(NamedTuple):
    """The events of one line, or of several physical lines that were joined."""

    events: list[Event]
    place: Place
    physical_lines: int
    pieces: Pieces | None = None
    """The times of several short lines that were decoded at once."""


class _HeldLine(NamedTuple):
    """A line that is held back, and its own events: none for a blank line."""

    line: Line
    events: list[Event]


class LineJoiner:
    """Decodes lines, and joins a line that raw line ends have split. One that begins like an object and ends
    inside a string is held, at most 4,096 lines and 16 MiB. The next line that begins inside a string and
    ends outside one must complete the object. Joining is tried only there, so its cost is linear: trying it
    at each line that ends in `}` would parse the lines before it each time."""

    def __init__(self, decoder: LineDecoder) -> None:
        self._decoder = decoder
        self._held: list[_HeldLine] = []
        self._held_bytes = 0

    @property
    def is_holding(self) -> bool:
        return bool(self._held)

    def take(self, line: Line, events: list[Event] | None = None) -> Sequence[DecodedLine]:
        """The lines that can be decoded now, in order; none for a blank line or while one is held. `events`
        are the line's own, if the caller has already decoded it."""
        if line.oversize:
            events = self._decoder.decode_oversize(line.data, line.tail, line.oversize)
            return *self.rest(), DecodedLine(events, _place(line), 1)
        is_blank = not line.data or line.data.isspace()
        if events is None:
            events = [] if is_blank else self._decoder.decode(line.data)
        is_broken = is_blank or not is_whole(events)
        if not is_broken and not self._held:
            return (DecodedLine(events, _place(line), 1),)
        if self._held and is_broken and not _EVENT.match(line.data):
            self._hold(line, events)
            if not _ends_string(line.data):
                has_room = len(self._held) < _MOST_PIECES and self._held_bytes <= _MOST_BYTES
                return () if has_room else self.rest()
            joined = self._joined()
            if joined is not None:
                return (joined,)
            self._held.pop()
        decoded = self.rest()
        if is_broken and _OBJECT.match(line.data) and _ends_string(line.data):
            self._hold(line, events)
        elif not is_blank:
            decoded.append(DecodedLine(events, _place(line), 1))
        return decoded

    def rest(self) -> list[DecodedLine]:
        """Return the held lines as malformed; call this when no later line can complete them."""
        held, self._held, self._held_bytes = self._held, [], 0
        return [DecodedLine(events, _place(line), 1) for line, events in held if events]

    def _hold(self, line: Line, events: list[Event]) -> None:
        self._held.append(_HeldLine(line, events))
        self._held_bytes += len(line.data) + 1

    def _joined(self) -> DecodedLine | None:
        """Release the held lines as one line; None if together they are not an object."""
        first, last = self._held[0].line, self._held[-1].line
        if not last.data.rstrip().endswith(b"}"):
            return None
        events = self._decoder.decode_joined([held.line.data for held in self._held])
        if events is None:
            return None
        count = sum(bool(held.events) for held in self._held)
        self._held, self._held_bytes = [], 0
        place = Place(first.offset, last.offset + len(last.data) - first.offset, last.seen_ms)
        return DecodedLine(events, place, count)


def _ends_string(data: bytes) -> bool:
    if b"\\" in data:
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return data.count(b'"') % 2 == 1


def is_whole(events: Sequence[Event]) -> bool:
    """Whether the line with these events is a JSON object."""
    return not events or type(events[0]) is not Malformed


def _place(line: Line) -> Place:
    return Place(line.offset, line.length, line.seen_ms)


if TYPE_CHECKING:
    from agentwatch.feed.checkpoints import Checkpoint
    from agentwatch.recording.acts import Act, SessionActs
    from agentwatch.session.blocks import Block


class DetectionBuffer:
    """Holds lines back while the decoder does not know the agent: several agents may begin with the same
    lines. Then they are released with the events that the agent's decoder reads from them; after 50 lines or
    1 MiB, or at the end of the stream, as unknown."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._held: list[DecodedLine] = []

    @property
    def is_active(self) -> bool:
        """Whether lines are being held, or may still have to be."""
        return self._decoder.is_detecting or bool(self._held)

    @property
    def held_lines(self) -> int:
        """Physical lines."""
        return sum(line.physical_lines for line in self._held)

    @property
    def end(self) -> int:
        """The offset in the recording after the last held line, in bytes; 0 if no line is held."""
        return self._held[-1].place.offset + self._held[-1].place.length + 1 if self._held else 0

    def release(self, lines: Iterator[DecodedLine]) -> Iterator[DecodedLine]:
        """Yield the lines that can be applied now: not one of an unknown agent, and none after such a one.
        As soon as the agent is known, the other lines are left."""
        for line in lines:
            if self._decoder.is_detecting and (self._held or _is_undetected(line)):
                self._held.append(line)
                continue
            yield from self.rest()
            yield line
            if not self._decoder.is_detecting:
                return

    def rest(self) -> list[DecodedLine]:
        """Return the held lines, with their real events if the agent is known."""
        held, self._held = self._held, []
        redecoded = iter(self._decoder.take_redecoded())
        for number, line in enumerate(held):
            events = next(redecoded, None) if _is_undetected(line) else None
            if events is not None:
                kept = [event for event in line.events if type(event) is not Unknown]
                held[number] = line._replace(events=[*events, *kept])
        return held


def _is_undetected(line: DecodedLine) -> bool:
    return any(type(event) is Unknown for event in line.events)


_new = tuple.__new__
"""Makes a named tuple from all of its fields, in a third of the time that calling its class takes."""
_AHEAD = 256
"""Lines that are decoded before the first of them is applied. Decoding and applying each line in turn takes
20 % more CPU, because each of the two drives the other out of the caches of the processor."""
POLL_SECONDS = 0.01
"""Seconds between two polls of a reader without new lines. New bytes wait 5 ms on average."""


class Reader(Protocol):
    exit_code: Callable[[], int | None]
    """The exit code of the recorded process; None while it runs, and if it is not known."""

    @property
    def growth(self) -> Growth:
        """The growth of the recording."""

    def read(self) -> Lines:
        """Return the next whole lines, or no lines if no whole line has arrived."""

    def is_at_end(self) -> bool:
        """Return whether every line was returned and the recording has ended."""

    def line_at(self, offset: int, length: int) -> bytes:
        """Return the bytes of a line that was returned before."""


class Observer(Protocol):
    """Called while a feed reads its recording."""

    def applied(self, place: Place, pieces: Pieces | None) -> None:
        """Note a line that was applied, or several lines that were applied at once. `pieces` are the times of
        several lines; None for one line, and if they are not known."""

    def paused(self, offset: int, session: Session, decoder: Decoder) -> None:
        """Note that every line before an offset was applied, and that none is held back."""


class DecodedAhead(Protocol):
    """The lines of a recording that are decoded elsewhere."""

    def take(self) -> tuple[Iterator[DecodedLine], Decoder] | None:
        """Return the next lines, and the decoder after them; None if none has arrived. Raise `EOFError` if no
        more will. The reader of the feed then continues after those that were returned."""

    def end(self) -> None:
        """End decoding: no more lines are wanted."""


class Feed:
    """`agent` is None to detect it, `checkpoint` to begin at the start."""

    def __init__(
        self,
        reader: Reader,
        agent: Agent | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.reader = reader
        self.agent = agent
        self.is_over = False
        """Whether every line was applied and the recording has ended."""
        self.is_decoded = False
        """Whether every line was decoded and the recording has ended."""
        self.observer: Observer | None = None
        self.takes_agent_times = False
        """Whether a line without an arrival time gets the agent's time instead."""
        self.session = Session() if checkpoint is None else checkpoint.session
        self.ahead: DecodedAhead | None = None
        """Lines that are decoded elsewhere. While there are such, `advance` does not wait for them."""
        self.acts_of: SessionActs | None = None
        """It is None if what the user did to the session is not known."""
        self.offset = 0 if checkpoint is None else checkpoint.offset
        """The bytes of the recording that were applied."""
        self._read_end = 0
        self._decoder = Decoder(agent) if checkpoint is None else checkpoint.decoder
        self._joiner = LineJoiner(self._decoder)
        self._detection = DetectionBuffer(self._decoder)
        self._decoded: Iterator[DecodedLine] = iter(())
        if agent is not None and not self.offset:
            apply_line(
                self.session, [FormatDetected(agent.name, agent.traits, agent.agent)], Place(0, 0, None), 0
            )

    @property
    def acts(self) -> Sequence[Act]:
        """What the user did to the session through agentwatch, as far as it is known."""
        session = self.session
        if self.acts_of is None or not session.runs:
            return ()
        return self.acts_of.read(session.agent_name or "", session.run.session_id or "")

    def advance(self, seconds: float | None = None) -> int:
        """Apply the lines that have arrived and are due; return their number. At the end of a recording that
        will not grow, the session is closed once. It stops after about `seconds`; None for no limit."""
        until = None if seconds is None else time.perf_counter() + seconds
        applied, session, observer = 0, self.session, self.observer
        while True:  # the loop of `decoded`: a generator around it would cost 2 % more
            for events, place, count, pieces in self._decoded:
                self.offset = place.offset + place.length + 1
                apply_line(session, events, place, count, pieces)
                if observer is not None:
                    observer.applied(place, pieces)
                applied += count
                if until is not None and time.perf_counter() >= until:
                    return applied
            if not self._reads_on():
                break
        if self.is_decoded and not self.is_over:
            self._end()
        if self.is_over and session.exit_code is None:
            session.exit_code = self.reader.exit_code()
        return applied

    def decoded(self) -> Iterator[DecodedLine]:
        """Yield the lines that have arrived, each with its time, without applying them to the session."""
        while True:
            for line in self._decoded:
                self.offset = line.place.offset + line.place.length + 1
                yield line
            if not self._reads_on():
                return

    def last_events(self) -> list[Event]:
        """The events that follow from the end of the recording, after its last line."""
        return self._decoder.end()

    def _timed(self, line: DecodedLine) -> DecodedLine:
        events, place, count, pieces = line
        at_ms = self._agent_ms(events) if place.seen_ms is None else None
        if at_ms is None:
            return line
        return DecodedLine(events, Place(place.offset, place.length, at_ms), count, pieces)

    def _agent_ms(self, events: Sequence[Event]) -> int | None:
        """The agent's time that takes the place of a line's arrival; None without one."""
        if events and type(events[0]) is LineTime:
            return events[0].at_ms
        return agent_ms(events) if self.takes_agent_times else None

    def backlog(self) -> int:
        """The bytes that can be applied now, and are not yet: not a line that is incomplete, at the end or
        because a raw line end has split it."""
        if self.is_over:
            return 0
        return max(self.reader.growth.size() - max(self.offset, self._detection.end, self._read_end), 0)

    @property
    def held_lines(self) -> int:
        """The number of lines that are not applied yet because the agent is not known."""
        return self._detection.held_lines

    def blocks(self, place: Place, call_id: str = "") -> list[Block]:
        """Read the line at a place again, which may belong to several calls."""
        if place.length > MOST_LINE_BYTES:
            from agentwatch.session.blocks import TooLargeBlock

            return [TooLargeBlock(place.length, place.offset)]
        return self._decoder.blocks(self.line_at(place), call_id)

    def searchable_text_differs(self, data: bytes) -> bool:
        """Whether the blocks of a line with these bytes may contain text that the bytes do not."""
        return self._decoder.searchable_text_differs(data)

    def line_at(self, place: Place) -> bytes:
        return self.reader.line_at(place.offset, place.length)

    def _reads_on(self) -> bool:
        """Read more lines for `_decoded`; return whether any have arrived or were held back to the end."""
        if self.is_decoded:
            return False
        if self.observer is not None and not (self._joiner.is_holding or self._detection.is_active):
            self.observer.paused(self.offset, self.session, self._decoder)
        if self.ahead is not None:
            return self._takes_ahead(self.ahead)
        size = self.reader.growth.size()
        lines = self.reader.read()
        if lines:
            decoded = self._decode(lines)
            if self._detection.is_active:
                decoded = chain(map(self._timed, self._detection.release(decoded)), decoded)
            self._decoded = _ahead(decoded)
            return True
        if not self.reader.is_at_end():
            self._read_end = size
            return False
        rest = [*map(self._timed, (*self._detection.rest(), *self._joiner.rest()))]
        self._decoded, self.is_decoded = iter(rest), not rest  # a map of a method would keep this feed alive
        return bool(rest)

    def _takes_ahead(self, ahead: DecodedAhead) -> bool:
        """Take lines that were decoded elsewhere; return whether any have arrived."""
        try:
            taken = ahead.take()
        except EOFError:
            self.ahead = None
            return self._reads_on()
        if taken is None:
            return False
        self._decoded, self._decoder = taken
        self._joiner, self._detection = LineJoiner(self._decoder), DetectionBuffer(self._decoder)
        return True

    def _decode(self, lines: Lines) -> Iterator[DecodedLine]:
        joiner, decoder, data = self._joiner, self._decoder, lines.data
        if lines.oversize:
            for line in lines:
                yield from map(self._timed, joiner.take(line))
            return
        offset, index, is_holding = lines.offset, 0, joiner.is_holding
        seen_at, burst_of, count_all = lines.seen_at, decoder.burst, len(data)
        takes_agent_times = self.takes_agent_times
        while index < count_all:
            burst = None if is_holding else burst_of(data, index)
            raw, events, count = data[index], None, 1
            if burst is not None:
                events, count, size = burst
                length = size - 1
            else:
                length = len(raw) - raw.endswith(b"\n")
                if not (is_holding or raw.isspace()):
                    events = decoder.decode(raw)
            seen_ms = None if seen_at is None else seen_at(offset + length)
            if seen_ms is None and events:
                if type(events[0]) is LineTime:
                    seen_ms = events[0].at_ms
                elif takes_agent_times:
                    seen_ms = agent_ms(events)
            if events is not None and (not events or type(events[0]) is not Malformed):
                pieces = None
                if count > 1 and (seen_at is not None or takes_agent_times):
                    pieces = self._pieces(lines, offset, data[index : index + count], events)
                yield _new(DecodedLine, (events, _new(Place, (offset, length, seen_ms)), count, pieces))
            else:
                yield from map(self._timed, joiner.take(Line(offset, raw[:length], seen_ms), events))
                is_holding = joiner.is_holding
            index += count
            offset += length + 1

    def _pieces(self, lines: Lines, offset: int, burst: list[bytes], events: list[Event]) -> Pieces | None:
        first_ms = lines.seen_ms(offset + len(burst[0]) - 1)
        if first_ms is not None:
            times_ms: Sequence[int] = lines.arrivals(offset, burst)
        elif self.takes_agent_times and events and type(events[0]) is Text:
            times_ms = events[0].times_ms
            first_ms = times_ms[0] if times_ms else None
        if first_ms is None:
            return None
        if not times_ms or times_ms[0] == times_ms[-1] == max(times_ms):
            return Pieces(first_ms, 0)
        gap_ms = max(map(sub, times_ms[1:], times_ms))
        offsets, later_ms = list(accumulate(map(len, burst[:-1]), initial=offset))[1:], times_ms[1:]
        if len(set(times_ms)) < len(times_ms):
            is_other = [*map(ne, later_ms, times_ms)]
            offsets, later_ms = [*compress(offsets, is_other)], [*compress(later_ms, is_other)]
        return Pieces(first_ms, max(gap_ms, 0), offsets, later_ms)

    def _end(self) -> None:
        apply_line(self.session, self.last_events(), Place(self.offset, 0, None), 0)
        close_session(self.session)
        self.is_over = True


def _ahead(lines: Iterator[DecodedLine]) -> Iterator[DecodedLine]:
    """Decode some lines before the first of them is returned."""
    return chain.from_iterable(iter(lambda: [*islice(lines, _AHEAD)], []))


_MOST_PARSED = 1 << 20
"""Longer lines are not parsed: that takes 4 ms per MiB."""
_TAIL = 160 << 10
_ESCAPES = (("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("\\u001b", "\x1b"), ("\\u001B", "\x1b"))


def output_tail(feed: Feed, place: Place, call_id: str) -> list[str]:
    """What a command printed: its stdout and its stderr. Only the last 160 KiB of a line over 1 MiB are read,
    as one text: the end of the output, and the strings that follow it in the line, each on lines of its own.
    """
    from agentwatch.session.blocks import ContentBlock, OutputBlock

    if place.length > _MOST_PARSED:
        tail = feed.reader.line_at(place.offset + place.length - _TAIL, _TAIL)
        return [_strings(tail.decode("utf-8", "replace"))]
    blocks = feed.blocks(place, call_id)
    return [block.text for block in blocks if isinstance(block, (OutputBlock, ContentBlock))]


def _strings(json_text: str) -> str:
    text = json_text.replace("\\\\", "\0")
    for escape, char in _ESCAPES:
        text = text.replace(escape, char)
    return text.replace('\\"', "\1").replace('"', "\n").replace("\1", '"').replace("\0", "\\")


class Timeline(Protocol):
    """The times of the part of a recording that was read. They do not decrease from line to line."""

    @property
    def has_times(self) -> bool:
        """Whether any time is known."""

    @property
    def first_ms(self) -> int | None:
        """The first time, in milliseconds since the epoch; None while no time is known."""

    @property
    def last_ms(self) -> int | None:
        """The last time; None while no time is known."""

    @property
    def size(self) -> int:
        """The number of bytes that were read. It is the live moment."""

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before a moment; None if it is unknown."""

    def offset_at(self, at_ms: float, /) -> int:
        """Return the moment after the last line at or before a time."""


class RecordedTimes:
    """The arrival times of the lines that a feed has applied, if the recording has them, otherwise the
    agent's. With neither, moments are known only by their offsets. After a change of the clock, times that
    are earlier than one before them are not noted."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.size = 0
        """The number of bytes whose lines are applied: the live moment."""
        self.first_ms: int | None = None
        self.last_ms: int | None = None
        self._noted = TimeColumns()
        """Pairs of an offset and the time of the lines that end after it, up to the next pair."""

    @property
    def has_times(self) -> bool:
        return self.first_ms is not None

    def note(self, place: Place, pieces: Pieces | None = None) -> None:
        """`pieces` are the times of several short lines that were applied at once."""
        self.size = place.offset + place.length + 1
        if pieces is None:
            at_ms = place.seen_ms
            if at_ms is not None and (self.last_ms is None or at_ms > self.last_ms):
                self._note(place.offset, at_ms)
            return
        self._note(place.offset, pieces.first_ms)
        times_ms = [*pieces.times_ms]
        is_later = bool(times_ms) and self.last_ms is not None and times_ms[0] > self.last_ms
        if is_later and all(map(lt, times_ms, times_ms[1:])):
            self._noted.extend(pieces.offsets, times_ms)
            self.last_ms = times_ms[-1]
        else:
            for offset, at_ms in zip(pieces.offsets, times_ms, strict=True):
                self._note(offset, at_ms)

    def _note(self, offset: int, at_ms: int) -> None:
        last_ms = self.last_ms
        if last_ms is None:
            self.first_ms = at_ms
        elif at_ms <= last_ms:
            return
        self.last_ms = at_ms
        self._noted.append(offset, at_ms)

    def ms_at(self, offset: int) -> int | None:
        return self.first_ms if (at_ms := self._noted.at(offset - 1)) is None else at_ms

    def offset_at(self, at_ms: float) -> int:
        later = self._noted.around(at_ms)[1]
        return self.size if later is None else line_start(self.fd, later[0])

    def around(self, at_ms: float) -> tuple[int | None, int | None]:
        earlier, later = self._noted.around(at_ms)
        return None if earlier is None else earlier[1], None if later is None else later[1]

    def before(self, offset: int) -> int:
        """The end of the line before the one that ends at `offset`; 0 at the first line."""
        return line_start(self.fd, offset - 1) if offset > 0 else 0

    def after(self, offset: int) -> int:
        """The end of the next line; the live moment if none follows."""
        return min(line_end_after(self.fd, offset, self.size), self.size)

    def aligned(self, offset: int) -> int:
        """The last line end at or before an offset."""
        return self.size if offset >= self.size else line_start(self.fd, max(offset, 0))


_TAIL_BYTES = 1 << 18


class HeadTailReader:
    """Reads the first and the last lines of a recording. The head has the lines that begin the run. The tail
    is 256 KiB and starts with a tool call if it has one: within a text segment, the flush that repeats all of
    it would be new text."""

    def __init__(
        self, reader: LineReader, starts_run: Callable[[bytes], bool], is_call: Callable[[bytes], bool]
    ) -> None:
        """Read the recording of `reader`, whose own position stays unchanged."""
        self._starts_run = starts_run
        self._is_call = is_call
        self.fd = reader.fd
        self.growth = reader.growth
        self.exit_code = reader.exit_code
        self._size = reader.growth.size()
        self._times = reader.times
        self._pending = [self._head(), *self._tail()]

    def read(self) -> Lines:
        return self._pending.pop(0) if self._pending else Lines(self._size, [], self._times)

    def is_at_end(self) -> bool:
        return not self._pending and self.growth.has_ended()

    def line_at(self, offset: int, length: int) -> bytes:
        return os.pread(self.fd, length, offset)

    def _head(self) -> Lines:
        first, *others = first_lines(self.fd) or [b""]
        return Lines(0, [first, *takewhile(self._starts_run, others)], self._times)

    def _tail(self) -> list[Lines]:
        """The last lines, an oversize line by itself. The very last line may be a large result, which does
        not count towards the 256 KiB."""
        end = self._size - (self.line_at(self._size - 1, 1) == b"\n")
        found: list[Lines] = []
        budget = _TAIL_BYTES
        while end > HEAD_BYTES and budget > 0:
            start = line_start(self.fd, end)
            if end - start > MOST_LINE_BYTES:
                head, tail = ends_of_line(self.fd, start, end - start)
                found.insert(0, Lines(start, [head], self._times, tail, end - start))
            else:
                budget -= end - start if found else 0
                found.insert(0, Lines(start, [self.line_at(start, end - start)], self._times))
            end = start - 1
        first_call = (at for at, lines in enumerate(found) if self._is_call(lines.data[0]))
        return found[next(first_call, 0) :]


def preview_reader(reader: LineReader, agent: Agent | None = None) -> HeadTailReader:
    """Return a reader of the head and the tail that knows the format of the agent."""
    decoder = Decoder(agent)
    return HeadTailReader(
        reader,
        starts_run=lambda line: decoder.role(line) is LineRole.START,
        is_call=lambda line: decoder.role(line) is LineRole.CALL,
    )


def preview_feed(reader: LineReader, agent: Agent | None = None) -> Feed:
    """A feed of the first and last lines. The results of its runs are dropped, as most of the text that they
    repeat was not read. `agent` is None to detect it."""
    feed = Feed(preview_reader(reader, agent), agent=agent)
    feed.takes_agent_times = True  # as the feed of the whole recording, whose places must be the same
    feed.advance()
    for run in feed.session.runs:
        if run.turn_result is not None:
            run.turn_result.forget_text()
    return feed
