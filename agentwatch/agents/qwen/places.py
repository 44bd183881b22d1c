"""The files of Qwen Code: projects/FOLDER/chats/UUID.jsonl."""

from __future__ import annotations

from agentwatch.agents.places import Kind, any_folder, owns, stem_is_id


def projects() -> Kind:
    """Return the kind of the folder `projects`."""
    chats = Kind("qwen", owns(".jsonl"), stem_is_id)
    return Kind("qwen", below=any_folder(Kind("qwen", below={"chats": chats}.get)))
