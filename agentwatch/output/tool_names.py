"""Short names of tools for the table of calls."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentwatch.text.safe import SafeText, columns, cut, safe_line

MOST_COLUMNS = 12
_LONG = 7
"""Names of at most this width are never shortened."""
_LEAST_WORD = 4
_MOST_NAMES = 500
_MOST_CHARACTERS = 60
_NAME = re.compile("[A-Za-z0-9_.-]{1,60}")
_WORDS = re.compile("[A-Z]?[a-z0-9]{1,60}|[A-Z]{1,60}")
_VAGUE = frozenset({"directory", "execution", "file", "files", "mode"})
"""Last words that do not show what a tool does; the first word does."""
_CLEAR = frozenset({"todo"})
"""First words that show it better than the last."""


class ToolNames:
    """The tools of a session by the names that the table shows, and the width of the longest.

    A long name that consists of several words is shown as its last word, or as its first if the last is
    vague: `updateTodos` as `todos`, `read_file` as `read`. Names that would then be equal are shown in full.
    """

    def __init__(self) -> None:
        self._shown: dict[str, SafeText] = {}
        self._firsts: dict[str, int] = {}
        """The number of the first call of each tool."""
        self.width = 0
        """The width of the longest name so far, in columns; at most 12."""

    def prefix(self, calls: int) -> ToolNames:
        """Return the tools of the first calls."""
        if all(first <= calls for first in self._firsts.values()):
            return self
        prefix = ToolNames()
        prefix._firsts = {tool: first for tool, first in self._firsts.items() if first <= calls}
        prefix._name()
        return prefix

    def add(self, tool: str, number: int) -> None:
        """Take notice of the tool of a call. After 500 different tools, names are only cut."""
        first = self._firsts.get(tool)
        if first is None and len(self._firsts) < _MOST_NAMES:
            self._firsts[tool] = number
            self._name()
        elif first is not None and number < first:  # a later call of the tool ended first
            self._firsts[tool] = number

    def __iter__(self) -> Iterator[str]:
        """Return the full names of the tools, in the order in which they were noticed."""
        return iter(self._firsts)

    def _name(self) -> None:
        """Choose the name that is shown for each tool."""
        self._shown = dict.fromkeys(self._firsts, SafeText(""))
        tools = {each: (_full(each), _one_word(each)) for each in self._shown}
        taken = [word for names in tools.values() for word in {name.lower() for name in names if name}]
        for each, (full, word) in tools.items():
            self._shown[each] = word if word and taken.count(word) == 1 else full
        self.width = max(map(columns, self._shown.values()), default=0)

    def __getitem__(self, tool: str) -> SafeText:
        """Return the name that the table shows."""
        return self._shown.get(tool) or _full(tool)


def _full(tool: str) -> SafeText:
    return cut(safe_line(tool[:_MOST_CHARACTERS]), MOST_COLUMNS)


def _one_word(tool: str) -> SafeText | None:
    """Return the word of a long name that says most, in lower case; None for names that are not shortened.

    A name with any other character, such as a control character, is not shortened: its word could pass for
    another tool.
    """
    words = _WORDS.findall(tool[:_MOST_CHARACTERS])
    is_long = len(tool) > _LONG and _NAME.fullmatch(tool) is not None and len(words) > 1
    if not is_long or len(words[-1]) < _LEAST_WORD:
        return None
    is_first = words[0].lower() in _CLEAR or words[-1].lower() in _VAGUE
    return SafeText(words[0 if is_first else -1].lower())
