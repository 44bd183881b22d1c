"""The formats of Cursor."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.cursor.stream import FORMAT, CursorDecoder
from agentwatch.agents.cursor.tools import SUBAGENT_STEPS
from agentwatch.agents.fields import SUBAGENT, Fields, items, mapping, text
from agentwatch.agents.first_use import on_first_use
from agentwatch.session.events import Traits

_OWN_TYPES = frozenset({"tool_call", "thinking", "interaction_query", "connection", "retry"})
_SHARED_TYPES = frozenset({"user", "assistant", "result"})
_MODELS_FIELDS = frozenset({"model", "permissionMode"})
"""Fields of an init line that Amp's does not have; its sessions are threads, `T-…`."""
_INIT_FIELDS = _MODELS_FIELDS | {"cwd"}
_OTHER_AGENTS_MARKS = frozenset(
    {
        *("uuid", "parent_tool_use_id", "num_turns", "sessionId", "toolName"),
        *("jsonrpc", "$set", "$rewindTo", "claude_code_version"),
    }
)


def recognises(fields: Fields) -> bool:
    """Only Cursor writes an init line without a list of tools, with its own values of `apiKeySource`, not
    Claude's. Other agents have calls and thoughts of the same type, but Cursor's always have a subtype."""
    kind = fields.get("type")
    if not isinstance(kind, str) or not _OTHER_AGENTS_MARKS.isdisjoint(fields):
        return False
    if kind == "system" and fields.get("subtype") == "init":
        known_source = fields.get("apiKeySource") in ("login", "env", "flag")
        is_amps = (text(fields, "session_id") or "").startswith("T-")
        own = _MODELS_FIELDS if is_amps else _INIT_FIELDS
        return known_source or ("tools" not in fields and not own.isdisjoint(fields))
    return kind in _OWN_TYPES and isinstance(fields.get("subtype"), str)


def may_write(fields: Fields) -> bool:
    """Claude Code and Amp write `user`, `assistant` and `result` as well. Cursor's messages have neither
    an id nor a token count, and only text; a tool's result is in a line of its own."""
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in _SHARED_TYPES or "session_id" not in fields:
        return False
    message = mapping(fields.get("message"))
    if not _OTHER_AGENTS_MARKS.isdisjoint(fields) or "id" in message or "usage" in message:
        return False
    return all(mapping(part).get("type", "text") == "text" for part in items(message.get("content")))


def role(fields: Fields) -> LineRole:
    match fields.get("type"):
        case "system" | "user":
            return LineRole.START
        case "tool_call":
            return LineRole.CALL
    return LineRole.OTHER


TRANSCRIPT_FORMAT = "cursor-transcript"
_ROLES = frozenset(("user", "assistant"))


def parts_of(fields: Fields) -> list[Fields]:
    content = mapping(fields.get("message")).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(part) for part in items(content)]


def parts_of_type(fields: Fields, kind: str) -> list[Fields]:
    return [part for part in parts_of(fields) if part.get("type") == kind]


def recognises_transcript(fields: Fields) -> bool:
    """Its messages have their role beside them, and no type. The line that ends a turn has no message,
    and does not count in the recording of another agent."""
    role_name = fields.get("role")
    if "type" in fields or not isinstance(role_name, str) or role_name not in _ROLES:
        return False
    message = fields.get("message")
    return isinstance(message, dict) and isinstance(message.get("content"), list)


def transcript_role(fields: Fields) -> LineRole:
    if parts_of_type(fields, "tool_use") or parts_of_type(fields, "tool_result"):
        return LineRole.CALL
    return LineRole.START if fields.get("role") == "user" and SUBAGENT not in fields else LineRole.OTHER


AGENT = Agent(
    name=FORMAT,
    recognises=recognises,
    role=role,
    decoder=CursorDecoder,
    blocks=on_first_use("agentwatch.agents.cursor.blocks:blocks"),  # 2 ms, which printing does not need
    traits=Traits(
        rejected_edits="without --force, Cursor proposes changes and does not write them",
        waits_for_subagents=True,
    ),
    may_write=may_write,
    unknown_fields=on_first_use("agentwatch.agents.cursor.known_fields:unknown_fields"),
    reworded=f'"{SUBAGENT_STEPS}"'.encode(),
)
TRANSCRIPT = Agent(
    name=TRANSCRIPT_FORMAT,
    agent="cursor",
    recognises=recognises_transcript,
    role=transcript_role,
    decoder=on_first_use("agentwatch.agents.cursor.transcript:CursorTranscriptDecoder"),
    blocks=on_first_use("agentwatch.agents.cursor.transcript:transcript_blocks"),
    traits=Traits(announces_calls=False, has_result=False, has_times=False, has_exit_codes=False),
)
"""Transcripts of Cursor's editor and CLI, as published in 2026: prompts, answers and calls, without
times, ids, results, model or working directory. Newer versions write a line at the end of most turns
(`turn_ended`)."""
FORMATS = (AGENT, TRANSCRIPT)
