"""The lines of the list: headings, sessions, and lines that stand for several folded sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from agentwatch.machine.row import Row
from agentwatch.machine.standing import Group
from agentwatch.wire.found import Key

FoldId = tuple[str, ...]
"""It distinguishes what can be folded: a session with subagents, the one-liners of a folder, a repository."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a group."""

    group: Group
    count: int
    """The number of the group's sessions that are not hidden; folded ones are counted, subagents are not."""


class RowLine(NamedTuple):
    """A session."""

    row: Row
    depth: int = 0
    """How far it is indented: 1 below a line that can be folded, 2 in a worktree below its repository."""
    is_open: bool = False
    """Whether its subagents are shown below it."""

    @property
    def fold(self) -> FoldId:
        """Return what is folded in this line: the subagents of the session."""
        return ("subagents", *self.row.key)


class FoldLine(NamedTuple):
    """Several sessions, which are shown below it if it is open."""

    words: str
    """What it stands for: `3 one-liners in api`. It is foreign text."""
    keys: tuple[Key, ...]
    is_open: bool
    fold: FoldId
    depth: int = 0


Line = Heading | RowLine | FoldLine
