"""The layouts of agents that keep each session in one file of lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from agentwatch.machine.found import NO_METADATA, Found, Metadata, Reach
from agentwatch.machine.places.beside import first_text, id_in, json_object, name_in, text_in
from agentwatch.machine.places.folder import Kind, Spot

HOUR_S = 3600
_DAY_S = 24 * HOUR_S
_UUID = 36
"""The characters of a UUID."""
_META = ".meta.json"


def one_file(
    spot: Spot,
    session_id: str,
    *,
    parent: str | None = None,
    metadata: Metadata = NO_METADATA,
    reach: Reach = Reach.LINES,
) -> list[Found]:
    """Return the session in a file; none if the file is gone, or its name has no id."""
    stamp = spot.stamp
    if stamp is None or not session_id:
        return []
    size, changed_ns, inode = stamp
    agent, path = spot.folder.kind.agent, spot.previous[0].path if spot.previous else Path(spot.path)
    return [Found(agent, session_id, path, size, changed_ns, inode, reach, parent, metadata)]


def owns(suffix: str, prefix: str = "") -> Callable[[str], str | None]:
    """Return what accepts the files with a suffix, each with a session of its own."""

    def owner(name: str) -> str | None:
        return name if name.endswith(suffix) and name.startswith(prefix) else None

    return owner


def _stem_is_id(spot: Spot) -> list[Found]:
    return one_file(spot, spot.name.removesuffix(".jsonl"))


def any_folder(kind: Kind) -> Callable[[str], Kind | None]:
    """Return what accepts every folder."""
    return lambda _: kind


# Claude Code: projects/FOLDER/UUID.jsonl. The subagents of a session lie in UUID/subagents, those of a
# workflow in UUID/subagents/workflows/NAME.


def _agent_owner(name: str) -> str | None:
    if not name.startswith("agent-"):
        return None
    if name.endswith(_META):
        return f"{name.removesuffix(_META)}.jsonl"
    return name if name.endswith(".jsonl") else None


def _subagent_of(levels: int) -> Callable[[Spot], list[Found]]:
    """Return what reads a subagent whose session is named by a folder a number of levels above."""

    def read(spot: Spot) -> list[Found]:
        stem = spot.name.removesuffix(".jsonl")
        metadata = spot.previous[0].metadata if spot.previous else NO_METADATA
        if stem + _META in spot.changed:
            described = json_object(os.path.join(spot.folder.path, stem + _META))
            title = text_in(described.get("description")) or text_in(described.get("agentType"))
            metadata = Metadata(title=title, model=name_in(described.get("model")))
        parent = os.path.basename(spot.folder.parent(levels))
        return one_file(spot, stem, parent=parent, metadata=metadata)

    return read


def _claude_session(spot: Spot) -> list[Found]:
    """Return a session, or a subagent: older versions put it beside its session, which its lines name."""
    if not spot.name.startswith("agent-"):
        return _stem_is_id(spot)
    parent = spot.previous[0].parent if spot.previous else id_in(first_text(spot.path, "sessionId"))
    return one_file(spot, spot.name.removesuffix(".jsonl"), parent=parent) if parent else []


def _meta_of(owner: str) -> tuple[str, ...]:
    return (owner.removesuffix(".jsonl") + _META,)


_WORKFLOW = Kind("claude", _agent_owner, _subagent_of(3), _meta_of, cools_after_s=HOUR_S)
_WORKFLOWS = Kind("claude", below=any_folder(_WORKFLOW), cools_after_s=HOUR_S)
_SUBAGENTS = Kind(
    "claude",
    _agent_owner,
    _subagent_of(1),
    _meta_of,
    below={"workflows": _WORKFLOWS}.get,
    cools_after_s=HOUR_S,
)
_SESSION = Kind("claude", below={"subagents": _SUBAGENTS}.get, cools_after_s=HOUR_S)


def _session_folder(name: str) -> Kind | None:
    return _SESSION if len(name) == _UUID else None


_CLAUDE_PROJECT = Kind("claude", owns(".jsonl"), _claude_session, below=_session_folder)
CLAUDE = Kind("claude", below=any_folder(_CLAUDE_PROJECT))

# Codex: sessions/YYYY/MM/DD/rollout-TIME-UUID.jsonl, older ones compressed.


def _rollout_owner(name: str) -> str | None:
    return name if name.startswith("rollout-") and name.endswith((".jsonl", ".jsonl.zst")) else None


def _rollout(is_archived: bool) -> Callable[[Spot], list[Found]]:
    metadata = Metadata(is_archived=is_archived)

    def read(spot: Spot) -> list[Found]:
        stem = spot.name.removesuffix(".zst").removesuffix(".jsonl")
        reach = Reach.STORE if spot.name.endswith(".zst") else Reach.LINES
        return one_file(spot, stem[-_UUID:], metadata=metadata, reach=reach)

    return read


def _numbers(kind: Kind) -> Callable[[str], Kind | None]:
    return lambda name: kind if name.isdecimal() else None


_ROLLOUT_DAY = Kind("codex", _rollout_owner, _rollout(False), cools_after_s=2 * _DAY_S)
"""A day has up to 50 hours somewhere on the earth: its folder gets no session after two days."""
_ROLLOUT_MONTH = Kind("codex", below=_numbers(_ROLLOUT_DAY))
CODEX = Kind("codex", below=_numbers(Kind("codex", below=_numbers(_ROLLOUT_MONTH))))
CODEX_ARCHIVE = Kind("codex", _rollout_owner, _rollout(True))

# Qwen Code: projects/FOLDER/chats/UUID.jsonl.

_QWEN_CHATS = Kind("qwen", owns(".jsonl"), _stem_is_id)
QWEN = Kind("qwen", below=any_folder(Kind("qwen", below={"chats": _QWEN_CHATS}.get)))

# Pi: sessions/--FOLDER--/TIME_UUID.jsonl, or TIME_UUID.jsonl in a folder that the user has chosen.


def _pi_session(spot: Spot) -> list[Found]:
    stem = spot.name.removesuffix(".jsonl")
    return one_file(spot, stem.partition("_")[2] or stem)


_PI_FOLDER = Kind("pi", owns(".jsonl"), _pi_session)
PI = Kind("pi", owns(".jsonl"), _pi_session, below=any_folder(_PI_FOLDER))

# Cursor: projects/FOLDER/agent-transcripts/ID/ID.jsonl, and ID/subagents/ID.jsonl in the same folder.


def _cursor_subagent(spot: Spot) -> list[Found]:
    parent = os.path.basename(spot.folder.parent())
    return one_file(spot, spot.name.removesuffix(".jsonl"), parent=parent)


_CURSOR_SUBAGENTS = Kind("cursor", owns(".jsonl"), _cursor_subagent, cools_after_s=HOUR_S)
_CURSOR_SESSION = Kind(
    "cursor", owns(".jsonl"), _stem_is_id, below={"subagents": _CURSOR_SUBAGENTS}.get, cools_after_s=HOUR_S
)
_CURSOR_TRANSCRIPTS = Kind("cursor", owns(".jsonl"), _stem_is_id, below=any_folder(_CURSOR_SESSION))
_CURSOR_PROJECT = Kind("cursor", below={"agent-transcripts": _CURSOR_TRANSCRIPTS}.get)
CURSOR = Kind("cursor", below=any_folder(_CURSOR_PROJECT))
