"""Drift: what a recording holds that this version does not know, ready to paste into an issue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentwatch import __version__
from agentwatch.recording import LineReader
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.wire.detect import Agent, detect
from agentwatch.wire.fields import as_text
from agentwatch.wire.json_line import parse

_SAMPLE_COLUMNS = 160


@dataclass(slots=True)
class Finding:
    """Something unknown: how often it stands in the recording, where first, and how it looks there."""

    count: int
    line: int
    """The number of the first line, counted from 1."""
    sample: str


def report(reader: LineReader) -> Iterator[SafeText]:
    """Yield the lines of the report on a whole recording."""
    agent: Agent | None = None
    found: dict[str, Finding] = {}
    number = 0
    while lines := reader.read():
        for line in lines:
            number += 1
            try:
                fields = parse(line.data)
            except ValueError:
                continue
            if not isinstance(fields, dict):
                continue
            agent = agent or detect(fields)
            for what, sample in agent.drift(fields) if agent else ():
                if what in found:
                    found[what].count += 1
                else:
                    found[what] = Finding(1, number, as_text(sample, indent=None))
    name = agent.FORMAT if agent else "no known agent"
    yield safe_line(f"agentwatch {__version__}, format {name}, {number} lines, {len(found)} unknown")
    for what, finding in sorted(found.items(), key=lambda item: -item[1].count):
        yield safe_line(f"{finding.count} × {what}, first in line {finding.line}")
        yield SafeText(f"    {cut(safe_line(finding.sample), _SAMPLE_COLUMNS)}")
