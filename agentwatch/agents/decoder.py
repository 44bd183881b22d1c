"""Decodes the lines of a recording: many at once, one by one, or only the ends. No input makes it raise."""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from agentwatch.agents.agent import Agent, AgentDecoder, BatchDecoder, DeltaDecoder, LineRole
from agentwatch.agents.delta_frames import DeltaFrames
from agentwatch.agents.fields import (
    Fields,
    Repaired,
    Salvaged,
    in_words,
    line_object,
    mapping,
    parse_leniently,
)
from agentwatch.agents.registry import detect
from agentwatch.session.events import (
    Event,
    FormatDetected,
    LineTime,
    Malformed,
    Notice,
    Oversize,
    Prompt,
    Repair,
    RunStarted,
    Text,
    TurnStarted,
    Unknown,
)

if TYPE_CHECKING:
    from agentwatch.session.blocks import Block


_new = tuple.__new__

# Many short lines at once, for agents whose deltas are mostly ids.
# A delta of Claude Code is 270 bytes around one word, with an id of its own. Decoding such lines one by one
# costs twice as much as parsing them as one JSON array.

_MOST_LINES = 1024
_MOST_BYTES = 4096
"""The length of the longest line of a batch."""
_LINE_END = (b"}\n", b"}\r\n")


class LineBatches:
    def __init__(self, decoder: BatchDecoder) -> None:
        self._decoder = decoder
        mark = int.from_bytes(os.urandom(8)) >> 2  # the module secrets takes 4 ms to import
        self._mark = mark
        """A number between two lines. No line can contain it, so each line alone is valid JSON."""
        self._between = b",%d," % mark
        self._most_lines = _MOST_LINES
        """Fewer if a line is invalid or of another type, then twice as many again: parsing stays linear."""

    def events_at(self, lines: list[bytes], start: int) -> tuple[list[Event], int, int] | None:
        may_batch, count = self._decoder.may_batch, 0
        for line in lines[start : start + self._most_lines]:
            if len(line) > _MOST_BYTES or not may_batch(line) or not line.endswith(_LINE_END):
                break
            count += 1
        while count > 1:
            found = self._parsed(lines[start : start + count])
            if found is not None:
                events, used = self._decoder.batch(found)
                is_all = used == count
                self._most_lines = min(max(self._most_lines * is_all, 2 * used, 2), _MOST_LINES)
                return (events, used, sum(map(len, lines[start : start + used]))) if used else None
            count //= 2  # one of the lines is invalid; those before it may be valid
            self._most_lines = max(count, 2)
        return None

    def _parsed(self, lines: list[bytes]) -> list[Fields] | None:
        try:
            values: list[Any] = orjson.loads(b"[" + self._between.join(lines) + b"]")
        except orjson.JSONDecodeError:
            return None
        found = values[::2]
        is_valid = (
            len(values) == 2 * len(lines) - 1
            and {*map(type, found)} == {dict}
            and values[1::2] == [self._mark] * (len(lines) - 1)
        )
        return found if is_valid else None


# A line that is too large to be parsed: its fields are read from its head and its tail.
# Even a result line of a gigabyte ends its run this way: `type`, `subtype` and `is_error` are in its head,
# and the fields after the large text are in its tail.

_TOKEN = rb'(?s)"(?:[^"\\]++|\\.)*+("?)|[{}\[\],]'
"""Matches a string or a mark outside strings. The group of a string is empty if it has no end."""
_MEMBER = rb'(?s),(?=\s*+"(?:[^"\\]++|\\.)*+"\s*+:)'
"""Both are compiled when they are used: few recordings have such a line."""
_MOST_TRIES = 40
"""The number of members, counted from the end of the tail, that are tried as the first of an object."""


def salvage(head: bytes, tail: bytes) -> Salvaged:
    return Salvaged({**_from_head(head), **_from_tail(tail)})


def _from_head(head: bytes) -> Fields:
    closers: list[bytes] = []
    whole = 0
    for token in re.finditer(_TOKEN, head):
        match token[0]:
            case b"{" | b"[":
                closers.append(b"}" if token[0] == b"{" else b"]")
                whole = token.end()
            case b"}" | b"]":
                del closers[-1:]
                whole = token.end()
            case b",":
                whole = token.start()
            case _ if not token[1]:
                break
    return mapping(head[:whole] + b"".join(reversed(closers)))


def _from_tail(tail: bytes) -> Fields:
    found: Fields = {}
    members = [member.end() for member in re.finditer(_MEMBER, tail)]
    for start in islice(reversed(members), _MOST_TRIES):
        found = mapping(b"{" + tail[start:]) or found
    return found


MAX_UNDETECTED_LINES = 50
MAX_UNDETECTED_BYTES = 1 << 20
"""Lines before the agent is known are kept up to these limits. They are decoded again once it is known."""
_SHOWN_BYTES = 400
_MAY_CHANGE_AGENT = frozenset((RunStarted, TurnStarted, Unknown))
"""How a decoder reads another agent's start line; to ask every agent about every line costs too much."""
_MAX_ROLE_BYTES = 1 << 20
"""Longer lines are not parsed to find their role: it takes 1 ms per MiB, and only results are that long."""


class Decoder:
    """Decodes the lines of one recording, in order. The agent is detected at the first line that only one
    agent can have written; the first event of all may also be of a type that other agents have. Earlier lines
    are decoded as `Unknown` and kept. Once the agent is known, `take_redecoded` returns their real events. If
    another agent starts a run later in the recording, its format is used from there on. `agent` is None to
    detect it.

    Example:
        >>> Decoder().decode(b'{"type":"thinking","subtype":"delta","text":"Hm"}')[-1].text
        'Hm'
    """

    def __init__(self, agent: Agent | None = None) -> None:
        self._agent: Agent | None = None
        self._decoder: AgentDecoder | None = None
        self._deltas: DeltaDecoder | None = None
        self._batches: LineBatches | None = None
        self._frames = DeltaFrames()
        self._is_first = True
        self._known_problems = 0
        self._undetected: list[Fields] = []
        self._undetected_bytes = 0
        self._redecoded: list[list[Event]] = []
        self.is_detecting = True
        """Whether no agent is known yet, and lines are still kept to be decoded again."""
        if agent is not None:
            self._use(agent)

    def decode(self, data: bytes) -> list[Event]:
        """Return the events of a line that is not blank; none if it is understood and reports nothing new."""
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError:
            try:
                value = parse_leniently(data)
            except ValueError:
                return [Malformed("not JSON", _beginning(data))]
        if not isinstance(value, dict):
            return [Malformed("not an object", _beginning(data))]
        events = self._events(value, data, len(data))
        if len(events) == 1 and type(text := events[0]) is Text:
            deltas = self._deltas
            if deltas is not None and deltas.streams(value):
                self._frames.learn(data, text.channel, text.text, text.at_ms)
        return events

    def burst(self, lines: list[bytes], start: int) -> tuple[list[Event], int, int] | None:
        """Return the events of the lines from `start` on that can be decoded at once, their number and their
        bytes; None if the first must be decoded alone. `lines` have their line ends."""
        if self._batches is not None:
            return self._batches.events_at(lines, start)
        if self._deltas is None or not lines[start].startswith(self._frames.heads):
            return None
        burst = self._frames.burst_at(lines, start)
        events = None if burst is None else self._deltas.burst(burst)
        return None if burst is None or events is None else (events, burst.lines, burst.size)

    def decode_joined(self, pieces: list[bytes]) -> list[Event] | None:
        """Return the events of one line that raw line ends have split into pieces. `pieces` have no line
        ends. Return None if the joined pieces are not a JSON object."""
        if (value := line_object(*pieces)) is None:
            return None
        repaired = value if isinstance(value, Repaired) else Repaired(value, value)
        return self._events(repaired, pieces[0], sum(map(len, pieces)))

    def decode_oversize(self, head: bytes, tail: bytes, size: int) -> list[Event]:
        """Return the events of a line of `size` bytes, of which only `head` and `tail` were read. Only the
        fields that are complete in the head or in the tail are decoded."""
        fields = salvage(head, tail)
        if not fields:
            return [Malformed(f"not JSON, {size:,} bytes", _beginning(head))]
        return _after_time([Oversize(size)], self._events(fields, head, len(head) + len(tail)))

    def end(self) -> list[Event]:
        return [] if self._decoder is None else self._decoder.end()

    def decode_all(self, data: bytes) -> list[list[Event]]:
        """Return the events of a line, after those of each line before it whose format was not known yet."""
        events = self.decode(data)
        return [*self.take_redecoded(), events]

    def take_redecoded(self) -> list[list[Event]]:
        redecoded, self._redecoded = self._redecoded, []
        return redecoded

    def blocks(self, data: bytes, call_id: str = "") -> list[Block]:
        """If the agent is unknown or the line is not a JSON object, the only block is the line as text."""
        value = line_object(*data.split(b"\n"))
        if value is None or self._agent is None:
            from agentwatch.session.blocks import ContentBlock

            return [ContentBlock(data.decode("utf-8", "replace"))]
        return list(self._agent.blocks(value, call_id))

    def role(self, data: bytes) -> LineRole:
        if len(data) > _MAX_ROLE_BYTES:
            return LineRole.OTHER
        if (value := line_object(data)) is None:
            return LineRole.OTHER
        agent = self._agent or detect(value)
        return LineRole.OTHER if agent is None else agent.role(value)

    def searchable_text_differs(self, data: bytes) -> bool:
        """Return whether a line must be decoded to be searched. `data` is the line or a piece of it."""
        reworded = None if self._agent is None else self._agent.reworded
        return reworded is not None and reworded in data

    def _events(self, fields: Fields, head: bytes, size: int) -> list[Event]:
        if self._decoder is None:
            agent = detect(fields, is_first=self._is_first, asks_plugins=self.is_detecting)
            self._is_first = False
            if agent is None:
                self._keep(fields, size)
                return [*self._plugin_problems(), _unknown_type(fields, head)]
            events = self._decoded_by(agent, fields)
        else:
            events = self._decoder.decode(fields)
            if self._agent is not None and (time_of := self._agent.time_of) is not None:
                events = _timed(events, time_of(fields))
            kind = type(events[-1]) if events else None
            # Prompts with a role only, as Vibe begins: asking about each would load all agents.
            may_start = kind in _MAY_CHANGE_AGENT or (kind is Prompt and "role" in fields)
            if may_start and (other := self._other_agent(fields)):
                events = _after_time(self._decoder.end(), self._first_of_run(other, fields))
        return [*events, Repair()] if isinstance(fields, Repaired) else events

    def _plugin_problems(self) -> list[Event]:
        from agentwatch.agents.plugins import GROUP  # 22 ms, for a stream that no built-in format recognises

        known, self._known_problems = self._known_problems, len(GROUP.problems)
        return [*map(Notice, GROUP.problems[known:])]

    def _keep(self, fields: Fields, size: int) -> None:
        """Keep a line until the agent is known. At the limit all kept lines are dropped."""
        if self.is_detecting:
            self._undetected.append(fields)
            self._undetected_bytes += size
            has_room = self._undetected_bytes < MAX_UNDETECTED_BYTES
            self.is_detecting = has_room and len(self._undetected) < MAX_UNDETECTED_LINES
            if not self.is_detecting:
                self._undetected.clear()

    def _other_agent(self, fields: Fields) -> Agent | None:
        if self._agent is None or self._agent.recognises(fields):
            return None
        other = detect(fields, is_first=False, asks_plugins=False)
        return other if other is not None and other.role(fields) is LineRole.START else None

    def _first_of_run(self, agent: Agent, fields: Fields) -> list[Event]:
        events = self._decoded_by(agent, fields)
        if any(type(event) is RunStarted for event in events):
            return events
        at = next(at for at, event in enumerate(events, 1) if type(event) is FormatDetected)
        return [*events[:at], RunStarted(agent.name), *events[at:]]

    def _decoded_by(self, agent: Agent, fields: Fields) -> list[Event]:
        decoder = self._use(agent)
        kept, self._undetected = self._undetected, []
        count = agent.foreign_lines(kept)
        if count == len(kept):
            kept, count = [], 0
        foreign: list[list[Event]] = [[_unknown_type(each)] for each in kept[:count]]
        time_of = agent.time_of or (lambda _fields: None)
        decoded = [_timed(decoder.decode(each), time_of(each)) for each in (*kept[count:], fields)]
        decoded[0] = _after_time([FormatDetected(agent.name, agent.traits, agent.agent)], decoded[0])
        self._redecoded = [*foreign, *decoded[:-1]]
        return decoded[-1]

    def _use(self, agent: Agent) -> AgentDecoder:
        self._agent, self._decoder, self._frames = agent, agent.decoder(), DeltaFrames()
        decoder = self._decoder
        # The names first: `isinstance` takes 50 µs for each protocol.
        self._deltas = decoder if hasattr(decoder, "burst") and isinstance(decoder, DeltaDecoder) else None
        self._batches = None
        if hasattr(decoder, "batch") and isinstance(decoder, BatchDecoder):
            self._batches = LineBatches(decoder)
        self.is_detecting = False
        return self._decoder


def _timed(events: list[Event], at_ms: int | None) -> list[Event]:
    return events if at_ms is None else [_new(LineTime, (at_ms,)), *events]


def _after_time(added: list[Event], events: list[Event]) -> list[Event]:
    """Return the events of a line with others before them; the time of the line stays the first."""
    at = int(bool(events) and type(events[0]) is LineTime)
    return [*events[:at], *added, *events[at:]]


def _unknown_type(fields: Fields, head: bytes = b"") -> Unknown:
    return Unknown(f"type {in_words(fields.get('type'))}", _beginning(head))


def _beginning(data: bytes) -> str:
    return data[:_SHOWN_BYTES].decode("utf-8", "replace").strip()
