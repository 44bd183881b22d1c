"""Follows the branch of a tree that grows at its leaf, and finds how far the user went back."""

from __future__ import annotations

from agentwatch.wire.fields import Fields, text

_MOST_ENTRIES = 1 << 16
"""The number of newest entries that a branch can begin at. Each takes about 200 bytes."""
_MOST_ANCESTORS = 256
"""How far the common ancestor is searched, if the user goes to a branch that was left before."""
_MOST_ID = 100
"""In characters. An id has 8, or 36."""


class Tree:
    """The entries of a session file, of which one branch is the present conversation."""

    def __init__(self) -> None:
        self._branch: dict[str, int] = {}
        """The ids of the present branch in order, each with the number of prompts up to it."""
        self._parents: dict[str, str | None] = {}
        """The parent of each entry, by its id."""
        self._leaf: str | None = None

    def add(self, fields: Fields, *, is_prompt: bool) -> int:
        """Add an entry, and return the number of turns that the user went back before it.

        An entry without an id, as before version 2, continues the branch.
        """
        entry, parent = text(fields, "id"), text(fields, "parentId")
        if entry is None or len(entry) > _MOST_ID or len(parent or "") > _MOST_ID:
            return 0
        is_root = parent is None and "parentId" in fields
        turns = self._go_to(parent) if parent != self._leaf and (is_root or parent in self._parents) else 0
        self._parents[entry] = parent
        self._append(entry, is_prompt=is_prompt)
        for entries in (self._branch, self._parents):
            if len(entries) > _MOST_ENTRIES:
                del entries[next(iter(entries))]
        return turns

    def _append(self, entry: str, *, is_prompt: bool) -> None:
        turns = self._turns()
        self._branch.pop(entry, None)  # an id that occurs twice is the later entry
        self._branch[entry] = turns + is_prompt
        self._leaf = entry

    def _turns(self) -> int:
        """Return the number of prompts on the branch."""
        return 0 if self._leaf is None else self._branch.get(self._leaf, 0)

    def _go_to(self, parent: str | None) -> int:
        """Make an entry the leaf, and return the number of turns that are left.

        The ancestors of an entry of another branch are searched up to the present branch. Their turns are not
        shown again, so that they do not count.
        """
        passed: list[str] = []
        ancestor = parent
        while ancestor is not None and ancestor not in self._branch:
            if len(passed) == _MOST_ANCESTORS:
                return 0
            passed.append(ancestor)
            ancestor = self._parents.get(ancestor)
        before = self._turns()
        while self._branch and next(reversed(self._branch)) != ancestor:
            self._branch.popitem()
        self._leaf = ancestor
        turns = before - self._turns()
        for entry in reversed(passed):
            self._append(entry, is_prompt=False)
        return turns
