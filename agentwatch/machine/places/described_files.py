"""The layouts of agents that describe a session in a file: beside it, or in the session's own document."""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.machine.found import NO_METADATA, Found, Metadata, Reach
from agentwatch.machine.places.beside import (
    MOST_BYTES,
    folder_in,
    id_in,
    json_object,
    name_in,
    text_in,
    time_in,
    yaml_texts,
)
from agentwatch.machine.places.folder import Kind, Spot, Stamp
from agentwatch.machine.places.line_files import HOUR_S, any_folder, one_file, owns
from agentwatch.recording import first_bytes
from agentwatch.recording.saved_process import MOST_BYTES as MOST_RECORDED_BYTES
from agentwatch.wire.on_disk.iso_time import iso_ms

# Copilot: session-state/UUID/events.jsonl, described by workspace.yaml. Before the first prompt there is only
# the description, or the lock of the process.

_EVENTS = "events.jsonl"
_WORKSPACE = "workspace.yaml"


def _copilot_owner(name: str) -> str | None:
    is_lock = name.startswith("inuse.") and name.endswith(".lock")
    return _EVENTS if is_lock or name in (_EVENTS, _WORKSPACE) else None


def _copilot_session(spot: Spot) -> list[Found]:
    folder = spot.folder
    metadata = spot.previous[0].metadata if spot.previous else NO_METADATA
    if _WORKSPACE in spot.changed:
        metadata = _workspace(os.path.join(folder.path, _WORKSPACE))
    if spot.stamp is not None:
        return one_file(spot, folder.name, metadata=metadata)
    newest = max(folder.files.values(), key=_changed, default=None)
    if newest is None:
        return []
    path = Path(spot.path)
    return [Found("copilot", folder.name, path, 0, newest.changed_ns, 0, Reach.LISTED, None, metadata)]


def _changed(stamp: Stamp) -> int:
    return stamp.changed_ns


def _workspace(path: str) -> Metadata:
    texts = yaml_texts(first_bytes(path, MOST_BYTES))
    return Metadata(
        title=text_in(texts.get("name")),
        is_users_title=texts.get("user_named") == "true",
        cwd=folder_in(texts.get("cwd")),
        branch=name_in(texts.get("branch")),
        began_ms=iso_ms(texts.get("created_at")),
        changed_ms=iso_ms(texts.get("updated_at")),
    )


_COPILOT_SESSION = Kind(
    "copilot", _copilot_owner, _copilot_session, lambda _: (_WORKSPACE,), cools_after_s=HOUR_S
)
COPILOT = Kind("copilot", below=any_folder(_COPILOT_SESSION))

# Cursor: chats/HASH/ID/meta.json. The conversation beside it is not read; a transcript may lie elsewhere.


def _cursor_chat(spot: Spot) -> list[Found]:
    described = json_object(spot.path)
    metadata = Metadata(
        title=text_in(described.get("title")),
        cwd=folder_in(described.get("cwd")),
        model=name_in(described.get("lastUsedModel")),
        began_ms=time_in(described.get("createdAtMs")),
        changed_ms=time_in(described.get("updatedAtMs")),
    )
    return one_file(spot, spot.folder.name, metadata=metadata, reach=Reach.LISTED)


_CURSOR_CHAT = Kind("cursor", owns("meta.json", "meta.json"), _cursor_chat, cools_after_s=HOUR_S)
CURSOR_CHATS = Kind("cursor", below=any_folder(Kind("cursor", below=any_folder(_CURSOR_CHAT))))

# opencode, before it had a database: storage/session/PROJECT/SESSION.json.


def _opencode_session(spot: Spot) -> list[Found]:
    described = json_object(spot.path)
    time = described.get("time")
    times = time if isinstance(time, dict) else {}
    metadata = Metadata(
        title=text_in(described.get("title")),
        cwd=folder_in(described.get("directory")),
        began_ms=time_in(times.get("created")),
        changed_ms=time_in(times.get("updated")),
        is_archived=time_in(times.get("archived")) is not None,
    )
    session_id = id_in(described.get("id")) or spot.name.removesuffix(".json")
    parent = id_in(described.get("parentID"))
    return one_file(spot, session_id, parent=parent, metadata=metadata, reach=Reach.STORE)


_PROJECT = Kind("opencode", owns(".json"), _opencode_session)
OPENCODE_STORAGE = Kind("opencode", below={"session": Kind("opencode", below=any_folder(_PROJECT))}.get)

# Our own recordings: STEM.ndjson, described by STEM.json.


def _recording_owner(name: str) -> str | None:
    stem, suffix = os.path.splitext(name)
    return f"{stem}.ndjson" if suffix in (".ndjson", ".json") else None


def _recording(spot: Spot) -> list[Found]:
    stem = spot.name.removesuffix(".ndjson")
    metadata = spot.previous[0].metadata if spot.previous else NO_METADATA
    if f"{stem}.json" in spot.changed:
        described = json_object(os.path.join(spot.folder.path, f"{stem}.json"), MOST_RECORDED_BYTES)
        name = text_in(described.get("name"))
        metadata = Metadata(
            title=name,
            is_users_title=bool(name),
            cwd=folder_in(described.get("cwd")),
            began_ms=time_in(described.get("started_ms")),
        )
    return one_file(spot, stem, metadata=metadata)


def _description_of(owner: str) -> tuple[str, ...]:
    return (f"{owner.removesuffix('.ndjson')}.json",)


RECORDINGS = Kind("agentwatch", _recording_owner, _recording, _description_of)
