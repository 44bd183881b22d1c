"""The report of `agentwatch doctor`: what a recording contains that this version does not know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentwatch import __version__
from agentwatch.agents.agent import Agent, AgentDecoder
from agentwatch.agents.decoder import MAX_UNDETECTED_BYTES, MAX_UNDETECTED_LINES, salvage
from agentwatch.agents.fields import Fields, in_words, line_object
from agentwatch.agents.registry import checked_formats, detect
from agentwatch.analysis.block_text import as_json
from agentwatch.feed.feed import POLL_SECONDS, Feed, LineJoiner
from agentwatch.recording.lines import LineReader
from agentwatch.session.counts import LineCounts
from agentwatch.session.events import Event, Malformed, Unknown
from agentwatch.session.reducers import forget_texts
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut, safe_line

_SAMPLE_COLUMNS = 160
_SAMPLE_CHARACTERS = 1 << 10
_MOST_FINDINGS = 10_000
"""The report names no more. A line may have thousands of unknown fields."""
_NO_FIELDS = "only unknown types are listed: this version has no list of the fields of this format"


@dataclass(slots=True)
class Finding:
    """A name or value in the recording that this version does not know."""

    count: int
    line: int
    """The number of the first line that contains it, counted from 1."""
    sample: SafeText
    """The beginning of the first occurrence, as JSON."""


class _Collector:
    """Collects the unknown parts of a `LineJoiner`'s lines. It returns no events but `Malformed`."""

    def __init__(self, agent: Agent | None) -> None:
        self.agent = agent
        self.found: dict[str, Finding] = {}
        self.line = 0
        self._undetected: list[tuple[int, Fields]] = []
        """The lines read before the agent is known, each with its number."""
        self._undetected_bytes = 0
        self._is_first = True
        self._decoder: AgentDecoder | None = None
        """Decodes the lines of a format that has no list of its known fields."""

    def decode(self, data: bytes) -> list[Event]:
        found = self.decode_joined([data])
        return [Malformed("", "")] if found is None else found

    def decode_joined(self, pieces: list[bytes]) -> list[Event] | None:
        fields = line_object(*pieces)
        return None if fields is None else self._collect(fields, sum(map(len, pieces)))

    def decode_oversize(self, head: bytes, tail: bytes, _size: int) -> list[Event]:
        return self._collect(salvage(head, tail), len(head) + len(tail))

    def end(self) -> None:
        self._report(len(self._undetected))

    def _report(self, count: int) -> None:
        for number, fields in self._undetected[:count]:
            self._add(f"type {in_words(fields.get('type'))} of no known agent", fields, number)
        del self._undetected[:count]

    def _collect(self, fields: Fields, size: int) -> list[Event]:
        self.agent = self.agent or detect(fields, is_first=self._is_first)
        self._is_first = False
        if self.agent is None:
            self._keep(fields, size)
            return []
        foreign = self.agent.foreign_lines([kept for _, kept in self._undetected])
        self._report(foreign)
        for number, kept in (*self._undetected, (self.line, fields)):
            for what, sample in self._unknown(self.agent, kept):
                self._add(what, sample, number)
        self._undetected.clear()
        return []

    def _unknown(self, agent: Agent, fields: Fields) -> Iterator[tuple[str, object]]:
        """Yield what is unknown in a line: its fields, or its type if the format has no list of fields."""
        if agent.unknown_fields is not None:
            yield from agent.unknown_fields(fields)
            return
        self._decoder = self._decoder or agent.decoder()
        for event in self._decoder.decode(fields):
            if isinstance(event, Unknown):
                yield event.what, dict(fields)

    def _keep(self, fields: Fields, size: int) -> None:
        """Buffer a line until the agent is known; at the limit all are reported as of no known agent."""
        self._undetected.append((self.line, fields))
        self._undetected_bytes += size
        has_room = self._undetected_bytes < MAX_UNDETECTED_BYTES
        if len(self._undetected) >= MAX_UNDETECTED_LINES or not has_room:
            self.end()

    def _add(self, what: str, sample: object, line: int) -> None:
        if what in self.found:
            self.found[what].count += 1
        elif len(self.found) < _MOST_FINDINGS:
            sample_text = cut(safe_line(as_json(sample)[:_SAMPLE_CHARACTERS]), _SAMPLE_COLUMNS)
            self.found[what] = Finding(1, line, sample_text)


@dataclass(frozen=True, slots=True)
class Report:
    """What a recording contains that this version does not know."""

    agent: Agent | None
    """The agent that wrote the recording; None if no known agent did."""
    counts: LineCounts
    """The lines of the recording, counted as the summary counts them."""
    found: dict[str, Finding]

    @property
    def is_known(self) -> bool:
        """Whether a known agent wrote the recording, or nobody wrote anything."""
        return self.agent is not None or not self.counts.total

    def lines(self) -> Iterator[SafeText]:
        """Yield the lines of the report, the most frequent finding first."""
        name, counts = self.agent.name if self.agent else "no known agent", self.counts
        lines = f"{plural(counts.total, 'line')}, {counts.malformed} malformed, {counts.unknown} unknown"
        findings = plural(len(self.found), "finding")
        yield safe_line(f"agentwatch {__version__}, format {name}: {lines}; {findings}")
        if self.agent is not None:
            if checked := checked_formats().get(self.agent.name):
                yield SafeText(str(checked))
            if self.agent.unknown_fields is None:
                yield SafeText(_NO_FIELDS)
        for what, finding in sorted(self.found.items(), key=lambda item: -item[1].count):
            yield safe_line(f"{finding.count} × {what}, first in line {finding.line}")
            yield SafeText(f"    {finding.sample}")


def report(reader: LineReader, agent: Agent | None = None) -> Report:
    """Return the report on a complete recording. `agent` is None to detect it."""
    counts = _counts(LineReader(reader.fd, reader.growth, reader.times), agent)
    collector = _Collector(agent)
    joiner = LineJoiner(collector)
    while lines := reader.read():
        for line in lines:
            collector.line += 1
            for _ in joiner.take(line):
                pass
    collector.end()
    return Report(collector.agent, counts, collector.found)


def _counts(reader: LineReader, agent: Agent | None) -> LineCounts:
    feed = Feed(reader, agent=agent)
    while not feed.is_over:
        feed.advance(POLL_SECONDS)
        forget_texts(feed.session)
    return feed.session.lines
