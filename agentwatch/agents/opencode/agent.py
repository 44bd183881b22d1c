"""The format of opencode. No other agent spells `type` and `sessionID` this way. The events of its server
have both in `properties`: they are not decoded."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields, in_words, mapping, number, text, unknown_keys
from agentwatch.agents.first_use import on_first_use
from agentwatch.session.events import Traits

_STREAMED = frozenset({"step_start", "step_finish", "text", "reasoning", "tool_use", "error"})
_STORED = ("session", "message", "part")
_TYPES = _STREAMED.union(_STORED)


def recognises(fields: Fields) -> bool:
    kind = fields.get("type")
    return isinstance(kind, str) and kind in _TYPES and isinstance(fields.get("sessionID"), str)


def role(fields: Fields) -> LineRole:
    match fields.get("type"):
        case "tool_use":
            return LineRole.CALL
        case "step_start" | "session" | "message":
            return LineRole.START
        case "part" if mapping(fields.get("message")).get("role") == "user":
            return LineRole.START
        case "part" if mapping(fields.get("part")).get("type") == "tool":
            return LineRole.CALL
    return LineRole.OTHER


def time_of(fields: Fields) -> int | None:
    """Return None for a line of a stream, whose time is not that at which it arrived in a recording."""
    return number(fields, "timestamp") if text(fields, "type") in _STORED else None


_EVERYWHERE = {"type", "timestamp", "sessionID"}
_LINES = {
    **dict.fromkeys(("step_start", "step_finish", "text", "reasoning", "tool_use"), "part"),
    "error": "error",
    "session": "info",
    "message": "info agent",
    "part": "part message agent",
}
_IN_A_PART = {"id", "messageID", "sessionID", "type"}
_PARTS = {
    "text": "text time synthetic ignored metadata",
    "reasoning": "text time metadata",
    "tool": "tool callID state metadata",
    "step-start": "snapshot",
    "step-finish": "reason snapshot tokens cost",
    "file": "mime filename url source",
    "agent": "name source",
    "subtask": "prompt description agent model command",
    "compaction": "auto overflow tail_start_id",
    "retry": "attempt error time",
    "patch": "hash files",
    "snapshot": "snapshot",
}
_STATES = {
    "pending": "input raw",
    "running": "input title metadata time",
    "completed": "input output title metadata time attachments",
    "error": "input error metadata time raw",
}
_IN_TOKENS = {"total", "input", "output", "reasoning", "cache"}


def unknown_fields(fields: Fields) -> Iterator[tuple[str, object]]:
    """Yield the unknown parts of a line, each as a description and a sample.

    Example:
        >>> list(unknown_fields({"type": "error", "sessionID": "s", "error": {}, "mood": "good"}))
        [('field mood of an opencode line error', 'good')]
    """
    kind = in_words(fields.get("type"))
    if kind not in _LINES:
        yield f"type {kind}", dict(fields)
        return
    known = _EVERYWHERE.union(_LINES[kind].split())
    yield from unknown_keys(fields, known, f"of an opencode line {kind}")
    if "part" in known:
        yield from _unknown_in_part(mapping(fields.get("part")))


def _unknown_in_part(part: Fields) -> Iterator[tuple[str, object]]:
    kind = in_words(part.get("type"))
    if kind not in _PARTS:
        yield f"part {kind}", dict(part)
        return
    yield from unknown_keys(part, _IN_A_PART.union(_PARTS[kind].split()), f"of a part {kind}")
    if kind == "step-finish":
        yield from unknown_keys(mapping(part.get("tokens")), _IN_TOKENS, "of the tokens of a step")
    if kind != "tool":
        return
    state = mapping(part.get("state"))
    status = in_words(state.get("status"))
    if status in _STATES:
        yield from unknown_keys(state, {"status", *_STATES[status].split()}, f"of a {status} call")
    else:
        yield f"state {status} of a call", dict(state)


AGENT = Agent(
    name="opencode",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.opencode.stream:OpencodeDecoder"),
    blocks=on_first_use("agentwatch.agents.opencode.blocks:blocks"),
    traits=Traits(announces_calls=False, has_result=False),
    time_of=time_of,
    unknown_fields=unknown_fields,
)
FORMATS = (AGENT,)
