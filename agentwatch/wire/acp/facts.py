"""Reads the facts about an agent and a session: names, versions, modes and models."""

from __future__ import annotations

from agentwatch.events import RunInfo
from agentwatch.wire.fields import Fields, items, mapping, text

_CHOSEN = {"session/set_mode": "modeId", "session/set_model": "modelId"}


def agent_facts(result: Fields) -> RunInfo:
    """Return the name and the version of the agent, from its response to `initialize`."""
    info = mapping(result.get("agentInfo")) or mapping(result.get("info"))
    return RunInfo(
        agent_name=text(info, "name") or text(info, "title"),
        agent_version=text(info, "version"),
    )


def session_facts(result: Fields) -> RunInfo:
    """Return the mode and the model of a session, from the response that creates or loads it."""
    options = option_facts(result)
    mode = text(mapping(result.get("modes")), "currentModeId")
    model = text(mapping(result.get("models")), "currentModelId")
    return options._replace(model=model or options.model, permission_mode=mode or options.permission_mode)


def option_facts(fields: Fields) -> RunInfo:
    """Return the mode and the model among configuration options."""
    found = RunInfo()
    for option in map(mapping, items(fields.get("configOptions"))):
        value = text(option, "currentValue")
        match text(option, "category") or text(option, "id") or text(option, "configId"):
            case "model":
                found = found._replace(model=value)
            case "mode":
                found = found._replace(permission_mode=value)
    return found


def chosen(method: str, params: Fields) -> str | None:
    """Return the mode or the model that a request of the client sets."""
    return text(params, _CHOSEN[method]) if method in _CHOSEN else None


def chosen_facts(method: str, value: str | None) -> RunInfo:
    """Return the mode or the model of a request that the agent has confirmed."""
    match method:
        case "session/set_mode":
            return RunInfo(permission_mode=value)
        case "session/set_model":
            return RunInfo(model=value)
    return RunInfo()
