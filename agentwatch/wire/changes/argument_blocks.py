"""Divides the arguments of a call into blocks, for agents that name a tool's arguments in the common way."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.blocks import Block, ChangeBlock, PlanBlock, TextBlock
from agentwatch.events import PlanEntry, ToolKind
from agentwatch.wire.blocks import short_and_long
from agentwatch.wire.changes.arguments import replaced_texts
from agentwatch.wire.changes.replacement import replacement
from agentwatch.wire.fields import Fields

_CONTENTS = ("content", "file_text")
"""The arguments that are the whole content of a file."""
_CHANGED = (*_CONTENTS, "old_string", "new_string", "old_str", "new_str", "edits")
"""The arguments that a change of the file shows."""


def argument_blocks(
    kind: ToolKind,
    arguments: Fields,
    entries: tuple[PlanEntry, ...] = (),
    *,
    is_change_known: bool = False,
) -> Iterator[Block]:
    """Yield the change or the to-do list, the short arguments in one block, then each text of several lines.

    Args:
        kind: What the tool does.
        arguments: The arguments.
        entries: The to-do list in the arguments.
        is_change_known: Whether the result contains the change of the file.
    """
    rest = dict(arguments)
    if kind is ToolKind.EDIT:
        changes = [] if is_change_known else list(_changes(arguments))
        yield from changes
        for key in _CHANGED if changes or is_change_known else ():
            rest.pop(key, None)
    description = rest.get("description")
    if kind is ToolKind.EXECUTE and isinstance(description, str) and description:
        yield TextBlock("description", description)
        del rest["description"]
    if entries:
        yield PlanBlock(entries)
        rest.pop("todos", None)
    yield from short_and_long(rest)


def _changes(arguments: Fields) -> Iterator[ChangeBlock]:
    """Yield the changes that the arguments describe: texts to be replaced, or else the content of a file."""
    pairs = list(replaced_texts(arguments))
    for old, new in pairs:
        yield ChangeBlock(replacement(old, new).diff)
    contents = [arguments.get(key) for key in _CONTENTS]
    content = next((value for value in contents if isinstance(value, str)), None)
    if content is not None and not pairs:
        yield ChangeBlock(None, after=content)
