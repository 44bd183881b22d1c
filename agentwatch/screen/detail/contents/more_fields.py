"""The fields of a call that nothing above them shows, folded into one line."""

from __future__ import annotations

from collections.abc import Iterable

from agentwatch.blocks import Block, FieldsBlock
from agentwatch.screen.detail.json_tree import JsonTree
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText

Field = tuple[str, str, object]
"""The name of a field's block, the name of the field, and its value."""


def is_same(one: object, other: object) -> bool:
    """Return whether two foreign values are equal; values that are nested too deeply to compare are not."""
    try:
        return one == other
    except RecursionError:
        return False


class MoreFields(JsonTree):
    """One line that unfolds into the fields, each with its own branches folded."""

    def __init__(self, fields: Iterable[Field]) -> None:
        """Create the section; a field that repeats an earlier one is left out.

        A name that an earlier field has with another value gets the name of its block: `result.path`.
        """
        self._names: dict[tuple[str, str], str] = {}
        values: dict[str, object] = {}
        for block, name, value in fields:
            shown = name
            if name in values and not is_same(values[name], value):
                shown = f"{block}.{name}"
            self._names[block, name] = shown
            values[shown] = value
        self.count = len(values)
        super().__init__(values, SafeText(plural(self.count, "more field")))

    def member(self, block: Block | None, field: str | None) -> str | None:
        """Return the name under which a field of a block is listed; None if it is not."""
        named = block.name if isinstance(block, FieldsBlock) else "arguments"
        return None if field is None else self._names.get((named, field))
