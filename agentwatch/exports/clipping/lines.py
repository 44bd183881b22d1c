"""Sorts the lines of a recording into those that a clip needs, and others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentwatch.events import (
    Channel,
    Event,
    FormatDetected,
    LineTime,
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
from agentwatch.feed.line_joiner import DecodedLine, LineJoiner
from agentwatch.recording import LineReader
from agentwatch.session import Place
from agentwatch.session.bounds import bounded_id
from agentwatch.wire import Agent, Decoder

_ANYWHERE = (FormatDetected, LineTime, Repair, Usage)
_HEAD = (*_ANYWHERE, RunStarted, RunInfo, TurnStarted, Prompt)
_TEXTS = (*_ANYWHERE, RunInfo, Text, TextEnded, TextRetracted)
_OF_CALLS = (ToolStarted, ToolProgress, ToolEnded)
_BESIDE_CALLS = (*_ANYWHERE, RunInfo)
_MOST_QUIET = 10_000
"""The number of lines without news that are kept in case the format needs them."""
_HeadKey = tuple[str, ...]


@dataclass(slots=True)
class SortedLines:
    """The lines up to the end of a part, by what they are for."""

    head: dict[_HeadKey, Place] = field(default_factory=dict)
    """The start lines of the run that goes on at the start of the part; the newest of each kind."""
    texts: list[Place] = field(default_factory=list)
    """The lines with only the answer of that run, before the part."""
    quiet: deque[Place] = field(default_factory=lambda: deque(maxlen=_MOST_QUIET))
    """The lines before the part that report nothing themselves; later ones may need them."""
    part: list[Place] = field(default_factory=list)
    """The lines of the part."""
    of_earlier_calls: set[int] = field(default_factory=set)
    """The offsets of the lines of the part that are only about calls that began before it."""


def sorted_lines(
    reader: LineReader, agent: Agent | None, start: int, earlier_calls: frozenset[str]
) -> SortedLines:
    """Sort the lines that a reader returns up to the end of a part.

    Args:
        reader: Reads the recording from its start to the end of the part.
        agent: The agent that wrote it.
        start: The offset at which the part starts.
        earlier_calls: The ids of the calls that are open at the start.
    """
    found = SortedLines()
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


def _add_earlier(found: SortedLines, events: list[Event], place: Place) -> None:
    """Add a line that comes before the part."""
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
