"""Reads the items of `codex exec --json` that are tool calls."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.wire.changes.file_change import summed
from agentwatch.wire.codex.calls import (
    End,
    Use,
    agent_use,
    change_end,
    change_use,
    command_end,
    command_use,
    mcp_use,
    search_query,
    search_use,
    status_end,
)
from agentwatch.wire.codex.changes import listed_changes, results_of_mcp
from agentwatch.wire.codex.commands import script_of
from agentwatch.wire.codex.messages import message_in
from agentwatch.wire.fields import Fields, items, mapping, number, text
from agentwatch.wire.tool import other_tool

ENDS_ALONE = frozenset({"file_change", "web_search"})
"""The types of items that may be completed without having been started: older versions start none of them."""
CALLS = ENDS_ALONE | {"command_execution", "mcp_tool_call", "collab_tool_call"}
_BESIDE = frozenset({"id", "type", "status"})


class Item(NamedTuple):
    """An item that is a tool call."""

    use: Use
    end: End | None
    """None if the call is still running."""


def read_item(kind: str, item: Fields) -> Item:
    """Read an item that is a tool call. Only a completed item has ended, whatever its status says."""
    status = text(item, "status")
    match kind:
        case "command_execution":
            use = command_use(kind, script_of(text(item, "command") or ""))
            return Item(use, command_end(status, number(item, "exit_code")))
        case "file_change":
            return _file_change(kind, item, status)
        case "mcp_tool_call":
            tool = text(item, "tool")
            return Item(mcp_use(tool or kind, text(item, "server"), tool), _mcp_end(item, status))
        case "collab_tool_call":
            threads = [each for each in items(item.get("receiver_thread_ids")) if isinstance(each, str)]
            use = agent_use(text(item, "tool") or kind, text(item, "prompt"), threads)
            return Item(use, status_end(status, _agent_error(item)))
        case "web_search":
            use = search_use(kind, search_query(item.get("action"), text(item, "query")))
            return Item(use, End(Outcome.SUCCEEDED) if status is None else status_end(status))
    arguments = {key: value for key, value in item.items() if key not in _BESIDE}
    return Item(Use(kind, ToolKind.OTHER, *_described(kind, arguments)), status_end(status))


def _described(kind: str, arguments: Fields) -> tuple[str, str | None]:
    tool = other_tool(kind)
    return tool.phrase, tool.target(arguments)


def _file_change(kind: str, item: Fields, status: str | None) -> Item:
    changes = summed(listed_changes(item.get("changes")))
    end = status_end(status)
    if end is not None and end.outcome is Outcome.SUCCEEDED:
        end = change_end(changes, Outcome.SUCCEEDED)
    return Item(change_use(kind, changes), end)


def _mcp_end(item: Fields, status: str | None) -> End | None:
    """Return the end of an MCP call: an error is beside the result, or in a result that says so."""
    result = mapping(item.get("result"))
    error = message_in(mapping(item.get("error")))
    is_error = result.get("is_error") is True or result.get("isError") is True
    if error is None and (is_error or status == "failed"):
        error = results_of_mcp(result) or None
    if is_error and status != "in_progress":
        return End(Outcome.FAILED, error or "the tool says so")
    return status_end(status, error)


def _agent_error(item: Fields) -> str | None:
    """Return the message of the first subagent that has one, as the reason of a call that failed."""
    states = map(mapping, mapping(item.get("agents_states")).values())
    return next((message for state in states if (message := message_in(state))), None)
