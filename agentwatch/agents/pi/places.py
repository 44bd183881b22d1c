"""The files of Pi: sessions/--FOLDER--/TIME_UUID.jsonl.

In a folder that the user has chosen they are TIME_UUID.jsonl.
"""

from __future__ import annotations

from agentwatch.agents.found import Found
from agentwatch.agents.pi.program import id_in_stem
from agentwatch.agents.places import Kind, Spot, any_folder, one_file, owns


def sessions() -> Kind:
    """Return the kind of the folder `sessions`, and of a folder that the user has chosen."""
    return Kind("pi", owns(".jsonl"), _session, below=any_folder(Kind("pi", owns(".jsonl"), _session)))


def _session(spot: Spot) -> list[Found]:
    return one_file(spot, id_in_stem(spot.name.removesuffix(".jsonl")))
