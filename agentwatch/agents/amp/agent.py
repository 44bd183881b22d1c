"""The format of Amp."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.claude.agent import is_amps_init, is_init, role
from agentwatch.agents.fields import Fields, text
from agentwatch.agents.first_use import on_first_use
from agentwatch.session.events import Traits


def _recognises(fields: Fields) -> bool:
    """Amp's init, a line of one of its threads, or the result without a session of a failed start."""
    if is_init(fields):
        return is_amps_init(fields)
    if fields.get("type") == "result" and "session_id" not in fields:
        return fields.get("is_error") is True and isinstance(fields.get("error"), str)
    is_shared = fields.get("type") in ("assistant", "user", "result")
    return is_shared and "uuid" not in fields and (text(fields, "session_id") or "").startswith("T-")


AGENT = Agent(
    name="amp",
    recognises=_recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.amp.stream:decoder"),
    blocks=on_first_use("agentwatch.agents.amp.stream:blocks"),
    traits=Traits(has_times=False, result_is_last_text=True),
)
FORMATS = (AGENT,)
