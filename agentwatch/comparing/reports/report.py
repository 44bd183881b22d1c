"""The sections of a report, without a format. Their texts are foreign; each format makes them harmless."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from agentwatch.comparing.texts import TextDifference


class Table(NamedTuple):
    """A table of facts; the first column names them."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Notes(NamedTuple):
    """Sentences, one per line."""

    lines: tuple[str, ...]


class StepLine(NamedTuple):
    """A call of one run, or one of each."""

    sign: str
    """One character: `=`, `~`, `>`, `!`, `-` or `+`."""
    word: str
    """What the sign means: `only in A`."""
    a: str
    """The address of the call in the first run, `#12`; empty if it has no such call."""
    b: str
    """The address of the call in the second run; empty if it has no such call."""
    lines: tuple[str, ...]
    """The call, and below it what went differently."""


class Gap(NamedTuple):
    """Equal calls that are not listed."""

    calls: int


class Steps(NamedTuple):
    """The calls side by side. They are made when they are written: two long runs have 200,000 of them."""

    lines: Callable[[], Iterator[StepLine | Gap]]


class Section(NamedTuple):
    """A part of a report with a heading."""

    heading: str
    content: Table | Notes | Steps | TextDifference


class Report(NamedTuple):
    """A comparison as sections."""

    title: str
    sides: list[tuple[str, str]]
    """The letter of each side, and the names of its recordings with what ran."""
    sections: list[Section]
