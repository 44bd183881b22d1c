"""The files of Droid: sessions/FOLDER/UUID.jsonl, and UUID.settings.json beside each."""

from __future__ import annotations

from agentwatch.agents.places import Kind, any_folder, owns, stem_is_id


def sessions() -> Kind:
    """Return the kind of the folder `sessions`, whose folders are named after those of the sessions."""
    in_folder = Kind("droid", owns(".jsonl"), stem_is_id)
    return Kind("droid", below=any_folder(in_folder))
