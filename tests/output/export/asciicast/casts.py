"""Reads recordings of a terminal."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple


class Event(NamedTuple):
    """An event, and when it happens after the start, in seconds."""

    at: float
    code: str
    data: str


class Cast(NamedTuple):
    """A recording of a terminal."""

    header: dict[str, Any]
    comments: list[str]
    events: list[Event]

    @property
    def output(self) -> str:
        """Everything that is written to the terminal."""
        return "".join(event.data for event in self.events if event.code == "o")

    def marks(self) -> list[tuple[float, str]]:
        """Return the time and the name of each marker."""
        return [(event.at, event.data) for event in self.events if event.code == "m"]


def read(data: bytes) -> Cast:
    """Return the recording in a file, whose every line must be one of the format."""
    first, *rest = data.decode().splitlines()
    header = json.loads(first)
    assert header["version"] == 3
    comments = [line for line in rest if line.startswith("#")]
    return Cast(header, comments, [*_events(line for line in rest if not line.startswith("#"))])


def _events(lines: Iterator[str]) -> Iterator[Event]:
    at = 0.0
    for line in lines:
        interval, code, data = json.loads(line)
        assert interval >= 0
        assert code in ("o", "m", "x")
        assert isinstance(data, str)
        at += interval
        yield Event(at, code, data)
