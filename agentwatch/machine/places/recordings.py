"""Our own recordings: STEM.ndjson, described by STEM.json."""

from __future__ import annotations

import os

from agentwatch.recording.saved_process import MOST_BYTES as MOST_RECORDED_BYTES
from agentwatch.wire.described import folder_in, json_object, text_in, time_in
from agentwatch.wire.found import NO_METADATA, Found, Metadata
from agentwatch.wire.places import Kind, Spot, one_file


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
