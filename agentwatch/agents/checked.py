"""The versions of the agents with which the formats were checked, as the stage `real` of the tests found."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_suffix(".json")
"""Written by `python -m tests.real --write`."""


class Checked(NamedTuple):
    """The last check of a format against the agent itself."""

    version: str
    """The version of the agent."""
    day: str
    """The day of the check, `2026-11-24`."""
    wrong: int
    """How many facts were shown wrongly."""

    def __str__(self) -> str:
        result = f"{self.wrong} wrong" if self.wrong else "right"
        return f"checked with version {self.version} on {self.day}: {result}"


@cache
def checked_formats() -> dict[str, Checked]:
    """Return the last check of each format that was checked, by the name of the format."""
    return {name: Checked(**fields) for name, fields in json.loads(FILE.read_text()).items()}
