"""Divides one call of a chat's line into blocks: its arguments and its result are in the same line."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.fields import Fields, items, mapping, text
from agentwatch.agents.gemini.blocks import content_block, part_blocks, plan_of
from agentwatch.agents.gemini.chat import CallLine, call_of, content_text, reason_of
from agentwatch.session.blocks import Block, ChangeBlock, ErrorBlock
from agentwatch.session.events import ToolKind


def call_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call.

    Args:
        fields: A message, or a change that replaces all messages.
        call_id: The id of the call.
    """
    change = mapping(fields.get("$set"))
    messages = items(change.get("messages")) if change else [fields]
    values = (value for message in messages for value in items(mapping(message).get("toolCalls")))
    calls = map(call_of, values)
    found = next((call for call in calls if call.call_id == call_id), None)
    if found is None:
        return
    shown = found.shown
    display = mapping(shown)
    has_change = "fileDiff" in display
    entries = plan_of(found.tool, found.arguments)
    yield from argument_blocks(found.tool.kind, found.arguments, entries, is_change_known=has_change)
    if has_change:
        before, after = display.get("originalContent"), display.get("newContent")
        yield ChangeBlock(
            text(display, "fileDiff"),
            before=before if isinstance(before, str) else None,
            after=after if isinstance(after, str) else None,
        )
    reason = reason_of(found.fields)
    if reason is not None:
        yield ErrorBlock(reason)
    elif output := _output(found, shown):
        yield content_block(found.tool, output, found.arguments)
    yield from part_blocks(found.fields.get("result"))


def _output(call: CallLine, shown: object) -> str:
    """Return the text of a result. The agent shows a command's output, and a summary of other results."""
    if call.tool.kind is ToolKind.EXECUTE and isinstance(shown, str) and shown:
        return shown
    texts = []
    for part in map(mapping, items(call.fields.get("result"))):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        output = response.get("output")
        texts.append(output if isinstance(output, str) else content_text(response.get("content")))
        texts.append(text(part, "text") or "")
    joined = "\n".join(filter(None, texts))
    return joined or (shown if isinstance(shown, str) else "")
