"""The format of the Agent Client Protocol."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields
from agentwatch.agents.first_use import on_first_use
from agentwatch.session.events import Traits

CALLS = frozenset({"tool_call", "tool_call_update"})
_STARTS = frozenset({"initialize", "session/new", "session/load", "session/resume", "session/prompt"})


def recognises(fields: Fields) -> bool:
    """The Model Context Protocol has `initialize` too, but its version is a string."""
    if fields.get("jsonrpc") != "2.0":
        return False
    method = fields.get("method")
    if method is None:
        return _is_version(fields.get("result"))
    if method == "initialize":
        return _is_version(fields.get("params"))
    return isinstance(method, str) and method.startswith("session/")


def role(fields: Fields) -> LineRole:
    method = fields.get("method")
    if method == "session/request_permission":
        return LineRole.CALL
    if method == "session/update":
        params = fields.get("params")
        update = params.get("update") if isinstance(params, dict) else None
        kind = update.get("sessionUpdate") if isinstance(update, dict) else None
        return LineRole.CALL if isinstance(kind, str) and kind in CALLS else LineRole.OTHER
    return LineRole.START if isinstance(method, str) and method in _STARTS else LineRole.OTHER


def _is_version(value: object) -> bool:
    return isinstance(value, dict) and type(value.get("protocolVersion")) is int


AGENT = Agent(
    name="acp",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.acp.stream:AcpDecoder"),
    blocks=on_first_use("agentwatch.agents.acp.blocks:blocks"),
    traits=Traits(has_times=False, has_exit_codes=False),
)
FORMATS = (AGENT,)
