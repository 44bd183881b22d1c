"""One output of a tool, and the verdict that it means."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.analysis.verdicts import Verdict

RED, GREEN, NEITHER = "red", "green", "neither"


class Line(NamedTuple):
    """One output of a tool, and what is read in it."""

    tool: str
    case: str
    output: str
    colour: str
    words: str
    exit_code: int
    """The exit code of the tool itself."""

    @property
    def id(self) -> str:
        """The name of the line in a report of the tests."""
        return f"{self.tool}: {self.case}"


def colour(found: Verdict) -> str:
    """Return the colour of a verdict, which has one."""
    assert not (found.is_red and found.is_green)
    return RED if found.is_red else GREEN if found.is_green else NEITHER


def of(tool: str, *cases: tuple[str, str, str, str, int]) -> list[Line]:
    """Return the lines of a tool."""
    return [Line(tool, *case) for case in cases]
