"""The blocks of the arguments of a call, as several agents name them."""

from __future__ import annotations

from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.fields import Fields
from agentwatch.session.blocks import ChangeBlock, FieldsBlock, PlanBlock, TextBlock
from agentwatch.session.events import PlanEntry, PlanStatus, ToolKind


def test_a_change_comes_before_the_other_arguments() -> None:
    """The texts of a change are drawn as a diff, and left out if the result has the change."""
    arguments = {"path": "a", "edits": [{"old_str": "a", "new_str": "b"}], "note": "x\ny"}
    rest = [FieldsBlock("arguments", {"path": "a"}), TextBlock("note", "x\ny")]
    found = list(argument_blocks(ToolKind.EDIT, arguments))
    assert found == [ChangeBlock("@@ -1,1 +1,1 @@\n-a\n+b"), *rest]
    assert list(argument_blocks(ToolKind.EDIT, arguments, is_change_known=True)) == rest


def test_a_content_is_a_change_only_if_the_tool_edits() -> None:
    """The content of a file is what the file contains after the call; for another tool it is an argument."""
    arguments = {"content": "x"}
    assert list(argument_blocks(ToolKind.EDIT, arguments)) == [ChangeBlock(None, after="x")]
    both = {"old_string": "a", "new_string": "b", "content": "x"}
    assert list(argument_blocks(ToolKind.EDIT, both)) == [ChangeBlock("@@ -1,1 +1,1 @@\n-a\n+b")]
    assert list(argument_blocks(ToolKind.OTHER, arguments)) == [FieldsBlock("arguments", arguments)]
    assert list(argument_blocks(ToolKind.EDIT, {"content": 1})) == [FieldsBlock("arguments", {"content": 1})]


def test_the_description_of_a_command_is_a_remark() -> None:
    """Empty arguments are left out."""
    arguments: Fields = {"command": "ls", "description": "List", "dir": "", "list": [], "none": None}
    found = list(argument_blocks(ToolKind.EXECUTE, arguments))
    assert found == [TextBlock("description", "List"), FieldsBlock("arguments", {"command": "ls"})]
    assert list(argument_blocks(ToolKind.EXECUTE, {"description": 1})) == [
        FieldsBlock("arguments", {"description": 1})
    ]


def test_a_to_do_list_stands_for_its_argument() -> None:
    """The entries are drawn, and the argument that contains them is not shown again."""
    entries = (PlanEntry("a", PlanStatus.PENDING),)
    assert list(argument_blocks(ToolKind.PLAN, {"todos": [1]}, entries)) == [PlanBlock(entries)]
