"""The files of Copilot: session-state/UUID/events.jsonl, described by workspace.yaml.

Before the first prompt there is only the description, or the lock of the process.
"""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.agents.described import MOST_BYTES, folder_in, name_in, text_in, yaml_texts
from agentwatch.agents.found import NO_METADATA, Found, Metadata, Reach
from agentwatch.agents.on_disk import iso_ms
from agentwatch.agents.places import HOUR_S, Kind, Spot, Stamp, any_folder, one_file
from agentwatch.recording.ends import first_bytes

_EVENTS = "events.jsonl"
_WORKSPACE = "workspace.yaml"


def session_state() -> Kind:
    """Return the kind of the folder `session-state`."""
    session = Kind("copilot", _owner, _session, lambda _: (_WORKSPACE,), cools_after_s=HOUR_S)
    return Kind("copilot", below=any_folder(session))


def _owner(name: str) -> str | None:
    is_lock = name.startswith("inuse.") and name.endswith(".lock")
    return _EVENTS if is_lock or name in (_EVENTS, _WORKSPACE) else None


def _session(spot: Spot) -> list[Found]:
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
