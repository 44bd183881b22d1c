"""A tool has a name by which it is found again, so that it can be kept in a file."""

from __future__ import annotations

import pytest

from agentwatch.events import ToolKind
from agentwatch.wire.claude.tools import TOOLS, tool_named
from agentwatch.wire.copilot.tools import tool_of
from agentwatch.wire.pi import tools as pi_tools
from agentwatch.wire.tool import Tool, name_of_tool, other_tool, tool_of_name

PATCH = {"input": "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch\n"}


@pytest.mark.parametrize(
    "tool",
    [
        TOOLS["Read"],
        pi_tools._SHELL,
        tool_named("mcp__github__create_issue"),
        other_tool("createPlan"),
        tool_of("apply_patch", PATCH, None, None),
    ],
    ids=["of a table", "of a module", "of a server", "unknown", "of a patch"],
)
def test_a_tool_is_found_by_its_name(tool: Tool) -> None:
    """The tool of a name has the same kind and phrase, and describes a call in the same words."""
    name = name_of_tool(tool)
    assert name is not None
    found, arguments = tool_of_name(name), {"file_path": "a.py", "query": "low water"}
    assert (found.kind, found.phrase) == (tool.kind, tool.phrase)
    assert (found.target(arguments), found.paths(arguments)) == (
        tool.target(arguments),
        tool.paths(arguments),
    )


def test_a_tool_of_functions_has_no_name() -> None:
    """A tool that no module has, and that consists of functions, has no name."""
    assert name_of_tool(Tool(ToolKind.READ, "Read file", lambda _arguments: "a")) is None


@pytest.mark.parametrize(
    "name",
    [
        ("agentwatch.wire.claude.tools", "TOOLS", "absent"),
        ("agentwatch.wire.claude.tools", "absent", None),
        ("agentwatch.wire.claude.tools", "mcp_tool", None),
        ("agentwatch.faults", "Fault", None),
        ("os", "system", None),
    ],
)
def test_a_name_of_something_else_is_none_of_a_tool(name: tuple[str, str, str | None]) -> None:
    """A name whose place has no tool is refused."""
    with pytest.raises(LookupError):
        tool_of_name(name)
