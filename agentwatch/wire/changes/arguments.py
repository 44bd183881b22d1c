"""Reads the changes that the arguments of an editing tool describe, for results that do not describe them."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.wire.changes.replacement import replacement
from agentwatch.wire.fields import Fields, items, mapping
from agentwatch.wire.tool import NO_FACTS, Facts

_PAIRS = (("old_string", "new_string"), ("old_str", "new_str"))
_MOST_CHARACTERS = 1 << 20
"""Longer texts are not compared: their changed lines stay unknown."""


def replaced_texts(arguments: Fields) -> Iterator[tuple[str, str]]:
    """Yield each text to be replaced, with the text that replaces it."""
    for edit in (arguments, *map(mapping, items(arguments.get("edits")))):
        for old_key, new_key in _PAIRS:
            old, new = edit.get(old_key), edit.get(new_key)
            if isinstance(old, str) and isinstance(new, str):
                yield old, new


def replaced_lines(arguments: Fields) -> Facts:
    """Return the number of lines that the edits in the arguments add and remove.

    They are unknown if each occurrence is replaced: the arguments do not contain how often the text occurs.
    """
    edits = (arguments, *map(mapping, items(arguments.get("edits"))))
    pairs = list(replaced_texts(arguments))
    is_unknown = any(edit.get("replace_all") is True for edit in edits)
    if is_unknown or not pairs or sum(len(old) + len(new) for old, new in pairs) > _MOST_CHARACTERS:
        return NO_FACTS
    changes = [replacement(old, new) for old, new in pairs]
    return Facts(
        lines_added=sum(change.added for change in changes),
        lines_removed=sum(change.removed for change in changes),
    )
