"""The formats of Codex."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.codex import rollout_recognition as rollout
from agentwatch.agents.fields import Fields
from agentwatch.agents.program import on_first_use
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
    """Return whether only `codex exec` can have written a line. Codex is the only agent with these types.

    Its lines of type `error` decide nothing: other agents write them too.
    """
    kind = fields.get("type")
    return isinstance(kind, str) and kind in _OWN_TYPES


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    kind, item = fields.get("type"), fields.get("item")
    if kind == "thread.started":
        return LineRole.START
    if isinstance(kind, str) and kind.startswith("item.") and isinstance(item, dict):
        of = item.get("type")
        return LineRole.OTHER if isinstance(of, str) and of in _TEXTS else LineRole.CALL
    return LineRole.OTHER


AGENT = Agent(
    name="codex",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.codex.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.codex.blocks:blocks"),
    traits=Traits(has_times=False),
)
ROLLOUT = Agent(
    name="codex-rollout",
    agent="codex",
    recognises=rollout.recognises,
    role=rollout.role,
    decoder=on_first_use("agentwatch.agents.codex.rollout:Decoder"),
    blocks=on_first_use("agentwatch.agents.codex.blocks:rollout_blocks"),
    traits=Traits(has_result=False),
    time_of=rollout.time_of,
)
FORMATS = (AGENT, ROLLOUT)
