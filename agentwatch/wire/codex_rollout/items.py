"""Reads what a rollout reports about a call beside its output.

Paginated histories (0.150 and later) have an `item_completed` for each call. Older ones have an event for
some kinds of calls. Both say more than the output: the exit code, the status, the changes of each file.
"""

from __future__ import annotations

from collections.abc import Callable
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
    failed_end,
    mcp_use,
    search_query,
    search_use,
    status_end,
)
from agentwatch.wire.codex.changes import mapped_changes, results_of_mcp
from agentwatch.wire.codex.commands import script_in
from agentwatch.wire.codex.messages import message_in
from agentwatch.wire.fields import Fields, items, mapping, number, text
from agentwatch.wire.tool import Phrase, first_line, other_tool


class Found(NamedTuple):
    """A call, as an item or an event reports it."""

    use: Use
    end: End | None
    """None if the call is still running."""


def read_item(item: Fields) -> Found | None:
    """Read an item that is a tool call; None if its type is not known."""
    reader = _ITEMS.get(text(item, "type") or "")
    return None if reader is None else _timed(reader(item), item)


def read_event(kind: str, event: Fields) -> Found | None:
    """Read an event that reports the end of a call; None if its type is not known."""
    reader = _EVENTS.get(kind)
    return None if reader is None else _timed(reader(event), event)


def _timed(found: Found, fields: Fields) -> Found:
    """Add the duration that the agent measured. It gives 0 for what ended before it began to measure."""
    duration = mapping(fields.get("duration"))
    seconds, nanoseconds = number(duration, "secs"), number(duration, "nanos")
    milliseconds = (seconds or 0) * 1000 + (nanoseconds or 0) // 1_000_000
    if found.end is None or milliseconds <= 0:
        return found
    return found._replace(end=found.end._replace(duration_ms=milliseconds))


def _command(fields: Fields) -> Found:
    words = fields.get("command")
    script = script_in(words) if isinstance(words, list) else text(fields, "command") or ""
    end = command_end(text(fields, "status"), number(fields, "exit_code"))
    return Found(command_use("command_execution", script), end)


def _file_change(fields: Fields) -> Found:
    changes = summed(mapped_changes(fields.get("changes")))
    status = text(fields, "status")
    if status is None and isinstance(fields.get("success"), bool):
        status = "completed" if fields["success"] else "failed"
    end = status_end(status, text(fields, "stderr"))
    if end is not None and end.outcome is Outcome.SUCCEEDED:
        end = change_end(changes, Outcome.SUCCEEDED)
    return Found(change_use("file_change", changes), end)


def _mcp_call(item: Fields) -> Found:
    result = mapping(item.get("result"))
    tool = text(item, "tool")
    error = message_in(mapping(item.get("error"))) or text(item, "error")
    use = mcp_use(tool or "mcp_tool_call", text(item, "server"), tool)
    if result.get("isError") is True or result.get("is_error") is True:
        return Found(use, End(Outcome.FAILED, error or results_of_mcp(result) or "the tool says so"))
    return Found(use, status_end(text(item, "status"), error or results_of_mcp(result) or None))


def _mcp_end(event: Fields) -> Found:
    call, result = mapping(event.get("invocation")), mapping(event.get("result"))
    tool = text(call, "tool")
    use = mcp_use(tool or "mcp_tool_call", text(call, "server"), tool)
    returned = mapping(result.get("Ok"))
    if "Err" in result:
        return Found(use, failed_end(text(result, "Err")))
    if returned.get("isError") is True or returned.get("is_error") is True:
        return Found(use, End(Outcome.FAILED, results_of_mcp(returned) or "the tool says so"))
    return Found(use, End(Outcome.SUCCEEDED if "Ok" in result else Outcome.RETURNED))


def _web_search(fields: Fields) -> Found:
    tool = text(fields, "kind") or "web_search"
    use = search_use(tool, search_query(fields.get("action"), text(fields, "query")))
    status = text(fields, "status")
    return Found(use, End(Outcome.SUCCEEDED) if status is None else status_end(status))


def _extension(item: Fields) -> Found:
    """Return a call of an extension: a web search, or another tool of which only the kind is known."""
    if "query" in item or "action" in item:
        return _web_search(item)
    tool = text(item, "kind") or "extension"
    return Found(Use(tool, ToolKind.OTHER, Phrase.USED, tool), End(Outcome.RETURNED))


def _agent_call(item: Fields) -> Found:
    threads = items(item.get("receiver_thread_ids")) or items(item.get("receiverThreadIds"))
    tool = "".join(
        f"_{char.lower()}" if char.isupper() else char for char in (text(item, "tool") or "")[:100]
    )
    use = agent_use(
        tool or "collab_tool_call", text(item, "prompt"), [each for each in threads if isinstance(each, str)]
    )
    return Found(use, status_end(text(item, "status")))


def _agent_started(event: Fields) -> Found:
    """Return the start of a subagent. It failed if there is no new thread."""
    thread = text(event, "new_thread_id")
    use = agent_use("spawn_agent", text(event, "prompt"), [] if thread is None else [thread])
    return Found(use, End(Outcome.FAILED if thread is None else Outcome.SUCCEEDED))


def _own_tool(fields: Fields) -> Found:
    """Return a call of a tool that the program around Codex offers."""
    name = text(fields, "tool") or "dynamic_tool_call"
    tool = other_tool(name)
    use = Use(name, tool.kind, tool.phrase, tool.target(mapping(fields.get("arguments"))))
    succeeded, status = fields.get("success"), text(fields, "status")
    if isinstance(succeeded, bool):
        status = "completed" if succeeded else "failed"
    return Found(use, status_end(status, text(fields, "error")))


def _image_view(fields: Fields) -> Found:
    path = text(fields, "path")
    paths = () if path is None else (path.removeprefix("file://"),)
    return Found(Use("view_image", ToolKind.READ, Phrase.READ, paths=paths), End(Outcome.SUCCEEDED))


def _image_made(fields: Fields) -> Found:
    name = "image_generation"
    prompt = first_line(text(fields, "revised_prompt"))
    use = Use(name, ToolKind.OTHER, Phrase.USED, f"{name} {prompt}" if prompt else name)
    status = text(fields, "status")
    return Found(use, End(Outcome.RETURNED) if status is None else status_end(status))


def _sleep(_fields: Fields) -> Found:
    return Found(Use("sleep", ToolKind.OTHER, Phrase.USED, "sleep"), End(Outcome.SUCCEEDED))


_Reader = Callable[[Fields], Found]
_ITEMS: dict[str, _Reader] = {
    "CommandExecution": _command,
    "FileChange": _file_change,
    "McpToolCall": _mcp_call,
    "WebSearch": _web_search,
    "Extension": _extension,
    "CollabAgentToolCall": _agent_call,
    "DynamicToolCall": _own_tool,
    "ImageView": _image_view,
    "ImageGeneration": _image_made,
    "Sleep": _sleep,
}
_EVENTS: dict[str, _Reader] = {
    "exec_command_end": _command,
    "patch_apply_end": _file_change,
    "mcp_tool_call_end": _mcp_end,
    "web_search_end": _web_search,
    "dynamic_tool_call_response": _own_tool,
    "view_image_tool_call": _image_view,
    "image_generation_end": _image_made,
    "collab_agent_spawn_end": _agent_started,
}
