"""What is known about Mistral Vibe, beside its formats. Source: folders that version 3.0.2 has written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.description_files import folder_in, json_object, name_in, text_in
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder
from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Program, SessionsAt
from agentwatch.agents.session_entry import Metadata, Reach, SessionEntry

if TYPE_CHECKING:
    from agentwatch.sources.stores.lines import Store

# The files: logs/session/unified/UUID/journal/NUMBER.jsonl, described by UUID/meta.json. The number is that
# of the first line. At a checkpoint a new journal begins, and the one before the last is deleted.

_JOURNAL = "journal"


def sessions() -> Kind:
    """Return the kind of the folder `unified`."""
    journal = Kind("vibe", _owner, _session, cools_after_s=HOUR_S, is_polled=True)
    return Kind("vibe", below=any_folder(Kind("vibe", below={_JOURNAL: journal}.get)))


def _owner(name: str) -> str | None:
    return _JOURNAL if name.removesuffix(".jsonl").isdecimal() else None


def _session(spot: Spot) -> list[SessionEntry]:
    """Return the session whose journals are in a folder. Its address is the folder above."""
    stamps, folder = spot.folder.files.values(), spot.folder.parent()
    if not stamps:
        return []
    facts = json_object(os.path.join(folder, "meta.json"))
    metadata = Metadata(
        title=text_in(facts.get("title")),
        is_users_title=facts.get("title_source") == "manual",
        cwd=folder_in(mapping_in(facts, "environment").get("working_directory")),
        branch=name_in(facts.get("git_branch")),
        model=name_in(mapping_in(facts, "config").get("active_model")),
        is_archived=facts.get("archived_at") is not None,
    )
    size, changed_ns = sum(each.size for each in stamps), max(each.changed_ns for each in stamps)
    return [
        SessionEntry(
            "vibe", os.path.basename(folder), Path(folder), size, changed_ns, 0, Reach.STORE, None, metadata
        )
    ]


def mapping_in(fields: dict[str, object], key: str) -> dict[str, object]:
    """Return an object in an object; {} for any other value."""
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def _open(path: Path, head: bytes) -> Store | None:
    """Open the folder of a session."""
    if head or not (path / "CURRENT").is_file() or not (path / _JOURNAL).is_dir():
        return None
    from agentwatch.agents.vibe.journal import Journal

    return Journal(path)


PROGRAM = Program(
    name="vibe",
    sessions=(SessionsAt("logs/session/unified", ("$VIBE_HOME", "~/.vibe"), sessions),),
    file_format="vibe-journal",
    command=Command(
        names=("vibe", "vibe-rs"),  # the script becomes the second
        packages=("mistral-vibe",),
        continues=frozenset({"-c", "--continue"}),
        one_prompt=frozenset({"-p", "--prompt"}),
    ),
    knowledge=Knowledge(
        NO_CALLS,
        never_asks=frozenset({"--auto-approve", "--yolo"}),
        interrupt="Vibe exits with code 3, and its stream has no line for the call that ran.",
    ),
    stores=(_open,),
    no_resume="what it may do is said by a profile, which none of its lines names",
)
