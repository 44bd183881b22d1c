"""The files of Cursor.

A transcript lies in projects/FOLDER/agent-transcripts/ID/ID.jsonl, those of its subagents in ID/subagents.
Each conversation is described in chats/HASH/ID/meta.json. The conversation beside that is not read; a
transcript may lie elsewhere.
"""

from __future__ import annotations

import os

from agentwatch.agents.described import folder_in, json_object, name_in, text_in, time_in
from agentwatch.agents.found import Found, Metadata, Reach
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder, one_file, owns, stem_is_id


def projects() -> Kind:
    """Return the kind of the folder `projects`."""
    subagents = Kind("cursor", owns(".jsonl"), _subagent, cools_after_s=HOUR_S)
    session = Kind(
        "cursor", owns(".jsonl"), stem_is_id, below={"subagents": subagents}.get, cools_after_s=HOUR_S
    )
    transcripts = Kind("cursor", owns(".jsonl"), stem_is_id, below=any_folder(session))
    project = Kind("cursor", below={"agent-transcripts": transcripts}.get)
    return Kind("cursor", below=any_folder(project))


def chats() -> Kind:
    """Return the kind of the folder `chats`."""
    chat = Kind("cursor", owns("meta.json", "meta.json"), _chat, cools_after_s=HOUR_S)
    return Kind("cursor", below=any_folder(Kind("cursor", below=any_folder(chat))))


def _subagent(spot: Spot) -> list[Found]:
    parent = os.path.basename(spot.folder.parent())
    return one_file(spot, spot.name.removesuffix(".jsonl"), parent=parent)


def _chat(spot: Spot) -> list[Found]:
    described = json_object(spot.path)
    metadata = Metadata(
        title=text_in(described.get("title")),
        cwd=folder_in(described.get("cwd")),
        model=name_in(described.get("lastUsedModel")),
        began_ms=time_in(described.get("createdAtMs")),
        changed_ms=time_in(described.get("updatedAtMs")),
    )
    return one_file(spot, spot.folder.name, metadata=metadata, reach=Reach.LISTED)
