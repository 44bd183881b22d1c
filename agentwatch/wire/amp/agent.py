"""The format of Amp."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.claude.recognition import is_amps_init, is_init, role
from agentwatch.wire.fields import Fields, text
from agentwatch.wire.program import on_first_use


def _recognises(fields: Fields) -> bool:
    """Return whether only Amp can have written a line.

    That is its init, a line of one of its threads, or the result without a session of a failed start.
    """
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
    decoder=on_first_use("agentwatch.wire.amp.dialect:decoder"),
    blocks=on_first_use("agentwatch.wire.amp.blocks:blocks"),
    traits=Traits(has_times=False, result_is_last_text=True),
)
FORMATS = (AGENT,)
