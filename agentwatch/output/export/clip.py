"""Makes a clip of some calls from the lines that it needs, and checks that it shows the same calls."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from agentwatch.agents import Agent, Decoder
from agentwatch.agents.registry import agent_named
from agentwatch.analysis.moments import EMPTY, Asked, CallEnd, MomentSpec, Problem
from agentwatch.base.files import write_all
from agentwatch.feed.feed import DecodedLine, Feed, LineJoiner
from agentwatch.output.export.exported import Exported
from agentwatch.recording.lines import LineReader, Until
from agentwatch.recording.store import nameless_file
from agentwatch.recording.times import ArrivalTimes
from agentwatch.session.call import Call, Place, bounded_id
from agentwatch.session.events import (
    Channel,
    Event,
    FormatDetected,
    LineTime,
    Outcome,
    Prompt,
    Repair,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnStarted,
    Usage,
)
from agentwatch.session.session import Session
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText

_ANYWHERE = (FormatDetected, LineTime, Repair, Usage)
_HEAD = (*_ANYWHERE, RunStarted, RunInfo, TurnStarted, Prompt)
_TEXTS = (*_ANYWHERE, RunInfo, Text, TextEnded, TextRetracted)
_OF_CALLS = (ToolStarted, ToolProgress, ToolEnded)
_BESIDE_CALLS = (*_ANYWHERE, RunInfo)
_MOST_QUIET = 10_000
"""The number of lines without news that are kept in case the format needs them."""
_HeadKey = tuple[str, ...]


@dataclass(slots=True)
class _SortedLines:
    """The lines up to the end of a part, by what they are for."""

    head: dict[_HeadKey, Place] = field(default_factory=dict)
    """The start lines of the run that is open at the start of the part; the newest of each kind."""
    texts: list[Place] = field(default_factory=list)
    quiet: deque[Place] = field(default_factory=lambda: deque(maxlen=_MOST_QUIET))
    """The lines before the part that report nothing themselves; later ones may need them."""
    part: list[Place] = field(default_factory=list)
    of_earlier_calls: set[int] = field(default_factory=set)
    """The offsets of the lines of the part that are only about calls that began before it."""


def _sorted_lines(
    reader: LineReader, agent: Agent | None, start: int, earlier_calls: frozenset[str]
) -> _SortedLines:
    """Sort the lines of a reader up to the end of a part, at whose start `earlier_calls` are open."""
    found = _SortedLines()
    for events, place, *_ in _decoded(reader, agent):
        if place.offset >= start:
            found.part.append(place)
            if _is_only_of(events, earlier_calls):
                found.of_earlier_calls.add(place.offset)
        else:
            _add_earlier(found, events, place)
    return found


def _decoded(reader: LineReader, agent: Agent | None) -> Iterator[DecodedLine]:
    """Yield the lines one by one; a feed decodes several short ones at once."""
    joiner = LineJoiner(Decoder(agent))
    while lines := reader.read():
        for line in lines:
            yield from joiner.take(line)
    yield from joiner.rest()


def _add_earlier(found: _SortedLines, events: list[Event], place: Place) -> None:
    kinds = {type(event) for event in events}
    if RunStarted in kinds:
        found.texts.clear()
        if ("run",) in found.head:
            found.head.clear()
    if not kinds <= {FormatDetected, LineTime}:
        if kinds <= {*_HEAD} and not kinds <= {*_ANYWHERE}:
            _add_head(found.head, events, place)
        elif Text in kinds and kinds <= {*_TEXTS} and not _has_reasoning(events):
            found.texts.append(place)
    else:
        found.quiet.append(place)


def _add_head(head: dict[_HeadKey, Place], events: list[Event], place: Place) -> None:
    for event in events:
        match event:
            case RunStarted():
                head["run",] = place
            case TurnStarted():
                head.pop(("prompt",), None)
                head["turn",] = place
            case Prompt(_, None):
                head["prompt",] = place
            case RunInfo():
                known = (name for name, value in event._asdict().items() if value is not None)
                head["info", *known] = place


def _has_reasoning(events: list[Event]) -> bool:
    return any(isinstance(event, Text) and event.channel is Channel.REASONING for event in events)


def _is_only_of(events: list[Event], calls: frozenset[str]) -> bool:
    """Return whether a line is about some of these calls, and about nothing else."""
    about = [event for event in events if type(event) not in _BESIDE_CALLS]
    return bool(about) and all(
        isinstance(event, _OF_CALLS) and bounded_id(event.call_id) in calls for event in about
    )


class Range(NamedTuple):
    """The two moments between which a clip lies."""

    begin: MomentSpec
    """`#118` is the start of the call, not its end."""
    until: MomentSpec

    def asked(self) -> Asked:
        """Return what the opening of the session has to find; the calls are found in the session."""
        begin, until = (None if isinstance(each, CallEnd) else each for each in self)
        return Asked(begin, until)


class Clip(NamedTuple):
    fd: int
    size: int
    times: list[tuple[int, int]]
    """Pairs of an offset and the time at which the bytes from there on arrived."""
    is_whole: bool
    """Whether it has every line before the part, because the format needs them."""


class Part(NamedTuple):
    """A part of a recording, in bytes, and the calls that it must show."""

    start: int
    until: int
    calls: list[Call]


def range_of(wanted: Range, exported: Exported) -> Part | Problem:
    """Return the part between two moments, which ends when all of its calls have, or why there is none."""
    calls = exported.session.calls
    for moment in wanted:
        if isinstance(moment, CallEnd) and moment.number > len(calls):
            count = plural(len(calls), "call")
            return Problem(SafeText(f"no call #{moment.number}: the session has {count}"))
    start, until = exported.start, exported.feed.offset
    if isinstance(wanted.begin, CallEnd):
        start = _begin(calls[wanted.begin.number - 1])
    if isinstance(wanted.until, CallEnd):
        some = calls[: wanted.until.number]
        until = max((_end(call) for call in some if _begin(call) >= start), default=0)
    if until <= start:
        return EMPTY
    shown = [call for call in calls if start <= _begin(call) < until]
    return Part(start, until, shown)


def clip(exported: Exported, part: Part, agent: Agent | None = None) -> Clip:
    """Return the clip of a part, recognised by itself if `agent` is None. Raise `OSError`."""
    reader = exported.feed.reader
    assert isinstance(reader, LineReader)
    known = agent or agent_named(exported.session.format or "")
    beginning = LineReader(reader.fd, Until(part.until, is_over=True), reader.times)
    earlier = [call for call in exported.session.calls if _is_open_at(call, part.start)]
    lines = _sorted_lines(beginning, known, part.start, frozenset(call.call_id for call in earlier))
    without_facts: Clip | None = None
    for places in _choices(exported, part, lines, earlier):
        made = _written(reader, places)
        feed = _feed_of(made, agent)
        if _shows_calls(feed, exported, part):
            if _has_facts(feed.session, exported.session):
                return made
            if without_facts is None:
                without_facts = made
                continue
        os.close(made.fd)
    return without_facts or _written(reader, _all_places(reader, part.until), is_whole=True)


def _choices(exported: Exported, part: Part, lines: _SortedLines, calls: list[Call]) -> Iterator[list[Place]]:
    """Yield the lines of the clip: first as few as possible, then more, for a format that needs them. `calls`
    are open at the start of the part."""
    head = [*lines.head.values()]
    run = exported.session.runs[part.calls[0].run - 1] if part.calls else exported.session.run
    if run.ended is not None and part.start <= run.ended.offset < part.until:
        head += [] if exported.session.traits.result_is_last_text else lines.texts  # the result repeats them
    yield _in_order([*head, *(place for place in lines.part if place.offset not in lines.of_earlier_calls)])
    places = (place for call in calls for place in (call.started, call.described))
    earlier = [place for place in places if place is not None and place.offset < part.start]
    yield _in_order([*head, *lines.quiet, *earlier, *lines.part])


def _in_order(places: list[Place]) -> list[Place]:
    return [place for _, place in sorted({place.offset: place for place in places}.items())]


def _all_places(reader: LineReader, until: int) -> Iterator[Place]:
    whole = LineReader(reader.fd, Until(until, is_over=True), reader.times)
    while lines := whole.read():
        yield from (Place(line.offset, line.length, line.seen_ms) for line in lines)


def _written(reader: LineReader, places: Iterator[Place] | list[Place], *, is_whole: bool = False) -> Clip:
    fd, size, times = nameless_file(), 0, list[tuple[int, int]]()
    for place in places:
        if place.seen_ms is not None and (not times or times[-1][1] != place.seen_ms):
            times.append((size, place.seen_ms))
        data = reader.line_at(place.offset, place.length) + b"\n"
        write_all(fd, data)
        size += len(data)
    return Clip(fd, size, times, is_whole)


def _feed_of(made: Clip, agent: Agent | None) -> Feed:
    times = ArrivalTimes()
    for each in made.times:
        times.note(*each)
    feed = Feed(LineReader(made.fd, Until(made.size, is_over=True), times), agent)
    feed.advance()
    return feed


def _shows_calls(feed: Feed, exported: Exported, part: Part) -> bool:
    """Return whether a clip is recognised, and shows each call of the part as the recording does."""
    found, recorded = feed.session, exported.session
    if found.format != recorded.format or found.lines.malformed > recorded.lines.malformed:
        return False
    if found.lines.unknown > recorded.lines.unknown:
        return False
    if found.traits.announces_calls and found.completed_without_started > recorded.completed_without_started:
        return False
    ours = (_facts(call, feed.offset) for call in found.calls)
    return all(_facts(call, part.until) in ours for call in part.calls)  # in the same order


def _facts(call: Call, until: int) -> tuple[object, ...]:
    """Return what a call is and, if it ended before an offset, how; not its id, which may count lines."""
    began = call.tool, call.target, call.started_ms
    if call.ended is None or call.ended.offset >= until:
        return *began, Outcome.UNFINISHED
    return *began, call.outcome, call.ended_ms, call.error, call.note, call.exit_code


def _has_facts(found: Session, recorded: Session) -> bool:
    """Return whether a clip says which model ran in which folder, if the recording does."""
    ours, theirs = found.run, recorded.run
    return (
        bool(ours.model) >= bool(theirs.model)
        and bool(ours.cwd) >= bool(theirs.cwd)
        and bool(ours.session_id) >= bool(theirs.session_id)
    )


def _begin(call: Call) -> int:
    """Return the offset of the first line of a call; the line that starts it may come after its end."""
    return min((place.offset for place in _places(call)), default=0)


def _end(call: Call) -> int:
    return max((place.offset + place.length + 1 for place in _places(call)), default=0)


def _places(call: Call) -> list[Place]:
    return [place for place in (call.started, call.described, call.ended) if place is not None]


def _is_open_at(call: Call, offset: int) -> bool:
    return _begin(call) < offset and (call.ended is None or call.ended.offset >= offset)
