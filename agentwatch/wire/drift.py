"""Drift: what a recording holds that this version does not know, ready to paste into an issue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentwatch import __version__
from agentwatch.events import Event, Malformed
from agentwatch.feed.line_joiner import LineJoiner
from agentwatch.recording import LineReader
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.wire.agents import Agent, detect
from agentwatch.wire.fields import as_json
from agentwatch.wire.json_line import parse, parse_joined
from agentwatch.wire.oversize import salvage

_SAMPLE_COLUMNS = 160


@dataclass(slots=True)
class Finding:
    """Something unknown: how often it stands in the recording, where first, and how it looks there."""

    count: int
    line: int
    """The number of the first line, counted from 1."""
    sample: str


class _Collector:
    """Looks for what is unknown in the lines that a `LineJoiner` hands it."""

    def __init__(self) -> None:
        self.agent: Agent | None = None
        self.found: dict[str, Finding] = {}
        self.line = 0

    def decode(self, data: bytes) -> list[Event]:
        """Look at a line."""
        try:
            return self._look(parse(data))
        except ValueError:
            return [Malformed("", "")]

    def decode_joined(self, pieces: list[bytes]) -> list[Event] | None:
        """Look at a line that several physical ones are."""
        try:
            return self._look(parse_joined(pieces))
        except ValueError:
            return None

    def decode_oversize(self, head: bytes, tail: bytes, _size: int) -> list[Event]:
        """Look at the two ends of a line."""
        return self._look(salvage(head, tail))

    def _look(self, fields: object) -> list[Event]:
        if not isinstance(fields, dict):
            return [Malformed("", "")]
        self.agent = self.agent or detect(fields)
        for what, sample in self.agent.drift(fields) if self.agent else _of_no_agent(fields):
            if what in self.found:
                self.found[what].count += 1
            else:
                self.found[what] = Finding(1, self.line, as_json(sample))
        return []


def _of_no_agent(fields: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Tell of a line that came before any by which the agent is known: the session counts it as unknown."""
    yield f"type {fields.get('type')} of no known agent", fields


def report(reader: LineReader) -> Iterator[SafeText]:
    """Yield the lines of the report on a whole recording."""
    collector = _Collector()
    joiner = LineJoiner(collector)
    while lines := reader.read():
        for line in lines:
            collector.line += 1
            for _ in joiner.take(line):
                pass
    name = collector.agent.FORMAT if collector.agent else "no known agent"
    found = collector.found
    yield safe_line(f"agentwatch {__version__}, format {name}, {collector.line} lines, {len(found)} unknown")
    for what, finding in sorted(found.items(), key=lambda item: -item[1].count):
        yield safe_line(f"{finding.count} × {what}, first in line {finding.line}")
        yield SafeText(f"    {cut(safe_line(finding.sample), _SAMPLE_COLUMNS)}")
