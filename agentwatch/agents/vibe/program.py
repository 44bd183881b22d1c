"""What is known about Mistral Vibe, beside its formats. Source: folders that version 3.0.2 has written."""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.agents.description_files import folder_in, json_object, name_in, text_in
from agentwatch.agents.fields import mapping
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder
from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Program, Reports, SessionsAt, opens
from agentwatch.agents.session_entry import Metadata, Reach, SessionEntry

# The files: logs/session/unified/UUID/journal/NUMBER.jsonl, described by UUID/meta.json. The number is that
# of the first line. At a checkpoint a new journal begins, and the one before the last is deleted.

_JOURNAL = "journal"


def sessions() -> Kind:
    def owner(name: str) -> str | None:
        return _JOURNAL if name.removesuffix(".jsonl").isdecimal() else None

    journal = Kind("vibe", owner, _session, cools_after_s=HOUR_S, is_polled=True)
    return Kind("vibe", below=any_folder(Kind("vibe", below={_JOURNAL: journal}.get)))


def _session(spot: Spot) -> list[SessionEntry]:
    """Return the session whose journals are in a folder. Its address is the folder above."""
    stamps, folder = spot.folder.files.values(), spot.folder.parent()
    if not stamps:
        return []
    facts = json_object(os.path.join(folder, "meta.json"))
    metadata = Metadata(
        title=text_in(facts.get("title")),
        is_users_title=facts.get("title_source") == "manual",
        cwd=folder_in(mapping(facts.get("environment")).get("working_directory")),
        branch=name_in(facts.get("git_branch")),
        model=name_in(mapping(facts.get("config")).get("active_model")),
        is_archived=facts.get("archived_at") is not None,
    )
    size, changed_ns = sum(each.size for each in stamps), max(each.changed_ns for each in stamps)
    session_id, path = os.path.basename(folder), Path(folder)
    return [SessionEntry("vibe", session_id, path, size, changed_ns, 0, Reach.STORE, None, metadata)]


_STORE = opens(
    "agentwatch.agents.vibe.journal:Journal",
    lambda path, head: not head and (path / "CURRENT").is_file() and (path / _JOURNAL).is_dir(),
)
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
    reports=Reports("logs/session/unified", "active", "agentwatch.agents.vibe.reported:VibeLocks"),
    stores=(_STORE,),
    no_resume="what it may do is said by a profile, which none of its lines names",
)
