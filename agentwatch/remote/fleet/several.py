"""The sessions of this machine, of engines and of hosts in one list."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

from agentwatch.machine.machine import Machine
from agentwatch.machine.row import Row
from agentwatch.machine.watched import Rows, Watched
from agentwatch.recording import now_ms
from agentwatch.remote.fleet.published import Published
from agentwatch.text.safe import SafeText
from agentwatch.wire.found import Key

_PAUSE_SECONDS = 0.002
_NOTHING = frozenset[str]()


class Several:
    """Several lists as one. It satisfies `machine.watched.Watched`.

    A source that hangs, hangs in a thread of its own, so that the others go on. A session of this machine
    that is also published appears once.
    """

    def __init__(self, here: Machine | None, elsewhere: Mapping[str, Watched], sessions: Path) -> None:
        """Create the list; nothing is read before the first step.

        Args:
            here: The sessions of this machine; None if they are not wanted.
            elsewhere: The sessions of other machines, by their addresses.
            sessions: The folder of the recordings of this machine.
        """
        self.rows: Rows = {}
        """The row of each session. It is replaced by a new mapping when a row has changed."""
        self.here = here
        self.elsewhere = elsewhere
        self._published = None if here is None else Published(sessions)
        self._merged: list[object] = []
        """The mappings that were merged last, and what was left out of them."""

    @property
    def is_found(self) -> bool:
        """Whether each source was searched once, or has something to say about why it was not."""
        is_here = self.here is None or self.here.is_found
        return is_here and all(each.is_found or each.notes for each in self.elsewhere.values())

    @property
    def problem(self) -> SafeText:
        """Why nobody knows what runs on a machine: the first that does not answer; empty if all do."""
        return next((each.problem for each in self._sources() if each.problem), SafeText(""))

    @property
    def wants_all(self) -> bool:
        """Whether old sessions are wanted too."""
        return any(each.wants_all for each in self._sources())

    @wants_all.setter
    def wants_all(self, wants_all: bool) -> None:
        for each in self._sources():
            each.wants_all = wants_all

    @property
    def in_view(self) -> AbstractSet[Key] | None:
        """The sessions in view, of which this machine reads its own more often; None for all that run."""
        return next((each.in_view for each in self._sources()), None)

    @in_view.setter
    def in_view(self, keys: AbstractSet[Key] | None) -> None:
        for each in self._sources():
            each.in_view = keys

    @property
    def notes(self) -> tuple[SafeText, ...]:
        """What is to be known besides the rows, a line each; problems stand before all else."""
        problems: list[SafeText] = []
        others: list[SafeText] = []
        for each in self._sources():
            problem, notes = each.problem, each.notes
            problems += notes[:1] if problem else ()
            others += notes[1:] if problem else notes
        return (*problems, *others)

    def step(self, at_ms: int) -> bool:
        """Do the work of each source that is due.

        Args:
            at_ms: The time, in milliseconds since the epoch.

        Returns:
            Whether more work is due at once.
        """
        has_more = [each.step(at_ms) for each in self._sources()]
        published = _NOTHING if self._published is None else self._published.sessions(at_ms)
        merged: list[object] = [published, *(each.rows for each in self._sources())]
        if len(merged) != len(self._merged) or any(
            one is not other for one, other in zip(merged, self._merged, strict=True)
        ):
            self._merged = merged
            self.rows = self._merge(published)
        return any(has_more)

    def settle(self, seconds: float) -> None:
        """Work until every source was searched or cannot be, or until a time has passed.

        This machine is searched without a limit, as if it was the only one; the others are asked meanwhile.

        Args:
            seconds: How long another machine may take to answer.
        """
        until = time.monotonic() + seconds
        for each in self.elsewhere.values():
            each.step(now_ms())
        if self.here is not None:
            self.here.settle(now_ms())
        while self.step(now_ms()) or not all(each.is_found for each in self.elsewhere.values()):
            if time.monotonic() >= until:
                break
            time.sleep(_PAUSE_SECONDS)

    def close(self) -> None:
        """Stop to watch."""
        for each in self._sources():
            each.close()

    def _sources(self) -> Iterator[Watched]:
        if self.here is not None:
            yield self.here
        yield from self.elsewhere.values()

    def _merge(self, published: frozenset[str]) -> Rows:
        """Return the rows of all sources, without those of this machine's own published sessions."""
        rows: dict[Key, Row] = {}
        for each in self.elsewhere.values():
            rows.update(each.rows)
        if published:
            rows = {key: row for key, row in rows.items() if key[1] not in published}
        if self.here is not None:
            rows.update(self.here.rows)
        return rows
