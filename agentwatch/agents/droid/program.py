"""What is known about Droid, beside its formats. Source: folders that version 0.215 has written."""

from __future__ import annotations

from agentwatch.agents.description_files import first_text, id_in
from agentwatch.agents.places import Kind, Spot, any_folder, one_file, owns
from agentwatch.agents.program import CHANGES, COMMANDS, Command, Knowledge, Program, SessionsAt
from agentwatch.agents.session_entry import SessionEntry

# The files: sessions/FOLDER/UUID.jsonl, and UUID.settings.json beside each.


def sessions() -> Kind:
    return Kind("droid", below=any_folder(Kind("droid", owns(".jsonl"), _session)))


def _session(spot: Spot) -> list[SessionEntry]:
    session_id = spot.name.removesuffix(".jsonl")
    parent = id_in(first_text(spot.path, "callingSessionId"))
    return one_file(spot, session_id, parent=None if parent == session_id else parent)


PROGRAM = Program(
    name="droid",
    sessions=(SessionsAt("sessions", ("~/.factory",), sessions, "$HOME/.factory"),),
    file_format="droid-session",
    command=Command(names=("droid",)),
    knowledge=Knowledge(COMMANDS | CHANGES),
    no_resume="droid exec --session-id of version 0.215 ended without an answer when it was tried",
)
