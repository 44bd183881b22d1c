"""The tree of a transcript's lines, as far as it is needed to find out that the user went back.

Each line names the line before it, its parent. A prompt whose parent is not in the last turn begins another
branch there: the turns after the parent are no part of the conversation any more. Other lines with two
children are no such branches: the results of parallel calls, progress lines, attachments.
"""

from __future__ import annotations

_MOST_LINES = 1 << 14
"""Each of the two generations of remembered lines has at most this number: 3 MB in all. A rewind over more
than 16,000 lines is still found if it goes back to a prompt."""
_MOST_ID = 100
"""In characters. A line with a longer id is not remembered."""
_LINE_ID_LENGTH = 36
"""The length of a UUID. An id of another form may be the same in several lines."""


class _Recent:
    """The turn numbers of the newest lines."""

    def __init__(self) -> None:
        self._new: dict[str, int] = {}
        self._old: dict[str, int] = {}

    def __getitem__(self, line: str) -> int | None:
        found = self._new.get(line)
        return self._old.get(line) if found is None else found

    def __contains__(self, line: str) -> bool:
        return line in self._new or line in self._old

    def __setitem__(self, line: str, turn: int) -> None:
        if len(line) > _MOST_ID:
            return
        if len(self._new) >= _MOST_LINES:
            self._old, self._new = self._new, {}
        self._new[line] = turn


class Tree:
    """The number of the turn that each line belongs to, on the branch that leads to it."""

    def __init__(self) -> None:
        self.turns = 0
        """The number of turns on the present branch."""
        self._lines = _Recent()
        self._before_prompts = _Recent()
        """The parents of prompts: a user goes back to a prompt, and writes another in its place."""
        self._starts_without_parent = False

    def has(self, line: object) -> bool:
        """Return whether a line was added before: a resumed session may repeat its history."""
        return isinstance(line, str) and len(line) == _LINE_ID_LENGTH and line in self._lines

    def add(self, line: object, parent: object, *, is_of_last_turn: bool = False) -> None:
        """Add a line that is no prompt. It belongs to the turn of its parent.

        Args:
            line: The line's id.
            parent: The id of its parent.
            is_of_last_turn: Whether it belongs to the last turn, whatever its parent is.
        """
        turn = None if is_of_last_turn or not isinstance(parent, str) else self._lines[parent]
        if isinstance(line, str):
            self._lines[line] = self.turns if turn is None else turn

    def add_answer(self, line: object, parent: object, *, begins_turn: bool) -> None:
        """Add a line of the agent's answer, which may begin a turn without a prompt."""
        self.turns += begins_turn
        self.add(line, parent, is_of_last_turn=begins_turn)

    def add_prompt(self, line: object, parent: object, *, begins_turn: bool) -> int:
        """Add a prompt, and return the number of turns that are no part of the present branch any more.

        Args:
            line: The line's id.
            parent: The id of its parent; None for the first line of a conversation.
            begins_turn: Whether the prompt begins a turn, and not the agent's own activity before it.
        """
        turn = self.turns
        if isinstance(parent, str):
            found = self._lines[parent]
            found = self._before_prompts[parent] if found is None else found
            turn = turn if found is None else min(found, turn)
            self._before_prompts[parent] = turn
        elif parent is None:
            turn = 0 if self._starts_without_parent else turn
            self._starts_without_parent = self._starts_without_parent or not self.turns
        rewound = self.turns - turn
        self.turns = turn + (begins_turn or rewound > 0)
        if isinstance(line, str):
            self._lines[line] = self.turns
        return rewound
