"""The blocks that all formats make."""

from __future__ import annotations

from agentwatch.agents.blocks import binary_block, fields_block, short_and_long
from agentwatch.session.blocks import BinaryBlock, Block, ContentBlock, FieldsBlock, TextBlock


def test_data_may_be_unknown() -> None:
    """Data without a type is binary, and data that the line does not contain has no size."""
    assert binary_block("image/png", "AAA=") == BinaryBlock("image/png", 2)
    assert binary_block(None, None) == BinaryBlock("binary", None)


def test_empty_fields_are_not_shown() -> None:
    """A number or a flag is shown, whatever its value; a block without fields is not."""
    fields = {"a": 0, "b": False, "c": "", "d": None, "e": [], "f": {}}
    assert [*fields_block("result", fields)] == [FieldsBlock("result", {"a": 0, "b": False})]
    assert not [*fields_block("result", {"c": ""})]


def test_long_arguments_follow_the_short_ones() -> None:
    """A text of several lines has a block of its own. The content of a file is shown as such."""
    arguments = {"note": "x\ny", "path": "/a", "content": "p\nq"}
    expected: list[Block] = [FieldsBlock("arguments", {"path": "/a"}), TextBlock("note", "x\ny")]
    assert [*short_and_long(arguments, ["content"])] == [*expected, ContentBlock("p\nq")]
    assert [*short_and_long(arguments)] == [*expected, TextBlock("content", "p\nq")]
