"""The formats of Codex."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import SUBAGENT, Fields
from agentwatch.agents.first_use import on_first_use
from agentwatch.agents.on_disk import iso_ms
from agentwatch.session.events import Traits

_OWN_TYPES = frozenset(
    {
        *("thread.started", "turn.started", "turn.completed", "turn.failed"),
        *("item.started", "item.updated", "item.completed", "item.plan.delta"),
    }
)
_TEXTS = frozenset({"agent_message", "reasoning", "plan", "error", "todo_list"})
"""The types of items that are not tool calls."""


def recognises(fields: Fields) -> bool:
    """Codex alone has these types, except `error`, which decides nothing: other agents write it too."""
    kind = fields.get("type")
    return isinstance(kind, str) and kind in _OWN_TYPES


def role(fields: Fields) -> LineRole:
    kind, item = fields.get("type"), fields.get("item")
    if kind == "thread.started":
        return LineRole.START
    if isinstance(kind, str) and kind.startswith("item.") and isinstance(item, dict):
        of = item.get("type")
        return LineRole.OTHER if isinstance(of, str) and of in _TEXTS else LineRole.CALL
    return LineRole.OTHER


_ROLLOUT_TYPES = frozenset(
    {
        *("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"),
        *("token_usage_record", "inter_agent_communication", "inter_agent_communication_metadata"),
    }
)
_ROLLOUT_CALLS = frozenset(
    {
        *("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"),
        *("local_shell_call", "web_search_call", "tool_search_call", "tool_search_output"),
        *("image_generation_call", "exec_command_end", "patch_apply_end", "mcp_tool_call_end"),
        *("web_search_end", "view_image_tool_call", "image_generation_end", "dynamic_tool_call_response"),
        "collab_agent_spawn_end",
    }
)
_TEXT_ITEMS = frozenset({"UserMessage", "AgentMessage", "Reasoning", "Plan", "ContextCompaction"})
_LATEST_MS = 7_258_118_400_000
"""The year 2200. A clock that shows a later time is wrong."""


def recognises_rollout(fields: Fields) -> bool:
    kind = fields.get("type")
    return isinstance(kind, str) and kind in _ROLLOUT_TYPES and isinstance(fields.get("payload"), dict)


def rollout_role(fields: Fields) -> LineRole:
    payload, kind = fields.get("payload"), fields.get("type")
    if not isinstance(payload, dict):
        return LineRole.OTHER
    if kind == "session_meta":
        return LineRole.OTHER if SUBAGENT in fields else LineRole.START
    of = payload.get("type")
    if not isinstance(of, str):
        return LineRole.OTHER
    if of == "item_completed":
        item = payload.get("item")
        name = item.get("type") if isinstance(item, dict) else None
        is_call = isinstance(name, str) and name not in _TEXT_ITEMS
        return LineRole.CALL if is_call else LineRole.OTHER
    return LineRole.CALL if of in _ROLLOUT_CALLS else LineRole.OTHER


def time_of(fields: Fields) -> int | None:
    """Return the time of a line, in milliseconds since the epoch; None if it has none.

    Example:
        >>> time_of({"timestamp": "1970-01-01T00:00:01.500Z"})
        1500
    """
    at_ms = iso_ms(fields.get("timestamp"))
    return at_ms if at_ms is not None and 0 < at_ms < _LATEST_MS else None


AGENT = Agent(
    name="codex",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.codex.stream:CodexDecoder"),
    blocks=on_first_use("agentwatch.agents.codex.blocks:blocks"),
    traits=Traits(has_times=False),
)
ROLLOUT = Agent(
    name="codex-rollout",
    agent="codex",
    recognises=recognises_rollout,
    role=rollout_role,
    decoder=on_first_use("agentwatch.agents.codex.rollout:CodexRolloutDecoder"),
    blocks=on_first_use("agentwatch.agents.codex.blocks:rollout_blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
FORMATS = (AGENT, ROLLOUT)
