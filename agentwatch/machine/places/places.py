"""All sessions of all agents on this machine, found on disk and kept up to date."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agentwatch.machine.places.candidates import Candidates, Changes
from agentwatch.machine.places.layouts import Layouts
from agentwatch.machine.places.tree import FULL_PASS_S, Tree
from agentwatch.wire.found import Found, Key

PASS_S = 2.0
"""The time between two looks at the modification times of all folders, in seconds."""
_LEAST_SHARE = 2 * PASS_S / FULL_PASS_S
"""The share of the folders that one look scans fully: all within half a minute, none of them at once."""
_BATCH_S = 0.02
"""Batches come at this distance, so that the first rows are shown long before the last folder is read."""


class Places:
    """Finds sessions. One thread uses it."""

    def __init__(self, environ: Mapping[str, str], home: Path, uid: int) -> None:
        """Create it; nothing is read yet.

        Args:
            environ: The environment, whose variables may move the folders of agents.
            home: The home folder.
            uid: The user whose files count; those of others are left out.
        """
        self._candidates = Candidates()
        self._tree = Tree(Layouts(environ, home).roots, self._candidates, uid)
        self.problems: Mapping[str, OSError] = self._tree.problems
        """Why a file cannot be read, by its path."""
        self._passed_at = -math.inf
        """The time of the last look at the folders, in seconds of the caller's clock."""
        self._roots_at = -math.inf

    def first(self) -> Iterator[list[Found]]:
        """Find all sessions, and yield them in batches: first those of folders that changed last.

        A session is yielded again if more was found about it.
        """
        touched: set[Key] = set()
        yielded_at = -math.inf
        roots = self._tree.find_roots()
        urgent = set().union(*(root.kind.urgent(root.path) for root in roots))
        for keys in self._tree.explore(roots, urgent):
            touched |= keys
            if touched and time.monotonic() - yielded_at >= _BATCH_S:
                yield self._candidates.changes(touched).found
                touched = set()
                yielded_at = time.monotonic()
        if touched:
            yield self._candidates.changes(touched).found

    def refresh(self, now: float) -> Changes:
        """Look again at what is due: the folders every 2 s, and all files within a minute.

        Args:
            now: The time, in seconds of a clock that does not go back.

        Returns:
            What has changed since the last report.
        """
        passed_s = now - self._passed_at
        if passed_s < PASS_S:
            return Changes([], [])
        self._passed_at = now
        touched: set[Key] = set()
        if now - self._roots_at >= FULL_PASS_S:
            self._roots_at = now
            touched.update(*self._tree.explore(self._tree.find_roots()))
        touched.update(*self._tree.changed())
        share = min(1.0, 2 * passed_s / FULL_PASS_S) if math.isfinite(passed_s) else _LEAST_SHARE
        touched.update(*self._tree.due(now, share))
        return self._candidates.changes(touched)

    def check(self, keys: Iterable[Key]) -> Changes:
        """Look at the files of some sessions only.

        Returns:
            What has changed since the last report.
        """
        touched: set[Key] = set()
        for key in keys:
            for candidate in self._candidates.of(key):
                touched |= self._tree.restat(candidate)
        return self._candidates.changes(touched)
