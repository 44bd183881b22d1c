"""What is known about Cline, beside its formats. Source: folders that version 3.0.65 has written."""

from __future__ import annotations

import os

from agentwatch.agents.description_files import folder_in, json_object, name_in, text_in
from agentwatch.agents.fields import mapping
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder, one_file, owns
from agentwatch.agents.program import (
    CHANGES,
    COMMANDS,
    Command,
    Knowledge,
    Program,
    Reports,
    SessionsAt,
    opens,
)
from agentwatch.agents.session_entry import Metadata, Reach, SessionEntry

# The files: data/sessions/ID/ID.messages.json, described by ID.json; a subagent is agent_….messages.json
# beside it. The facts of the description are in the database data/db/sessions.db too.

MESSAGES = ".messages.json"


def sessions() -> Kind:
    session = Kind("cline", owns(MESSAGES), _session, cools_after_s=HOUR_S, is_polled=True)
    return Kind("cline", below=any_folder(session))


def _session(spot: Spot) -> list[SessionEntry]:
    from agentwatch.agents.on_disk import iso_ms  # with the events of sessions, 3 ms

    session_id, folder = spot.name.removesuffix(MESSAGES), spot.folder
    if session_id != folder.name:
        return one_file(spot, session_id, parent=folder.name, reach=Reach.STORE)
    facts = json_object(os.path.join(folder.path, f"{session_id}.json"))
    metadata = Metadata(
        title=text_in(mapping(facts.get("metadata")).get("title")),
        prompt=text_in(facts.get("prompt")),
        cwd=folder_in(facts.get("cwd")),
        model=name_in(facts.get("model")),
        began_ms=iso_ms(facts.get("started_at")),
    )
    return one_file(spot, session_id, metadata=metadata, reach=Reach.STORE)


_STORE = opens(
    "agentwatch.agents.cline.documents:Documents",
    lambda path, head: path.name.endswith(MESSAGES) and bool(head),
)
PROGRAM = Program(
    name="cline",
    sessions=(SessionsAt("sessions", ("$CLINE_DATA_DIR", "~/.cline/data"), sessions),),
    file_format="cline-session",
    command=Command(
        names=("cline",),
        packages=("cline",),
        servers=("hub", "dashboard", "kanban"),
        helpers=frozenset({"--cline-hub-daemon"}),  # outlives the terminal, in whose folder it began
        one_prompt=frozenset({"--json"}),
    ),
    knowledge=Knowledge(
        COMMANDS | CHANGES, joins_subagents=True, interrupt="Cline exits without a last line."
    ),
    reports=Reports("sessions", "sessions", "agentwatch.agents.cline.reported:ClineStates"),
    stores=(_STORE,),
    no_resume="cline --id with --json was not tried",
)
