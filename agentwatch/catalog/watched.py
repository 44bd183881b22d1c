"""The interface of a list of sessions: of this machine, of an engine, of a host, and of several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Protocol

from agentwatch.agents.session_entry import Key
from agentwatch.catalog.row import Row
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.catalog.evidence import Facts

Rows = Mapping[Key, Row]


class Watched(Protocol):
    """A list of sessions that is kept up to date, one step after the other."""

    @property
    def rows(self) -> Rows:
        """The row of each session. It is replaced by a new mapping when a row has changed."""

    @property
    def is_found(self) -> bool:
        """Whether all sessions were listed once, or it is known that nothing answers now."""

    @property
    def problem(self) -> SafeText:
        """Why there are no rows, or why they are old; empty if all is well."""

    @property
    def notes(self) -> Sequence[SafeText]:
        """Notes besides the rows, a line each; the problem comes first."""

    wants_all: bool
    """Whether the lines of hidden sessions are read too."""

    in_view: AbstractSet[Key] | None
    """The sessions that are read more often than the others; None for all that run."""

    def step(self, now_ms: int, /) -> bool:
        """Do the work that is due, and return whether more is due at once. It never waits."""

    def facts(self, key: Key, /) -> Facts | None:
        """Return what is known about a session; None if another machine knows it. Any thread may ask."""

    def close(self) -> None:
        """Stop to watch. It never raises, and never waits for longer than a few seconds."""
