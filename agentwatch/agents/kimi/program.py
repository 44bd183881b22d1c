"""What is known about Kimi Code, beside its formats. Source: folders that version 2.1.0 has written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.description_files import folder_in, json_object, text_in, time_in
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder, one_file, owns
from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Program, SessionsAt
from agentwatch.agents.session_entry import Metadata, SessionEntry

if TYPE_CHECKING:
    from agentwatch.sources.stores.lines import Store

# The files: sessions/wd_NAME_HASH/session_UUID/agents/main/wire.jsonl, described by session_UUID/state.json.
# A subagent is agents/agent-N/wire.jsonl.

_WIRE = "wire.jsonl"
_MAIN = "main"


def sessions() -> Kind:
    agent = Kind("kimi", owns(_WIRE, _WIRE), _session, cools_after_s=HOUR_S)
    session = Kind("kimi", below={"agents": Kind("kimi", below=any_folder(agent))}.get)
    workspace = Kind("kimi", below=any_folder(session))
    return Kind("kimi", below=lambda name: None if name.startswith(".") else workspace)


def _session(spot: Spot) -> list[SessionEntry]:
    folder = spot.folder.parent(2)
    session_id, name = os.path.basename(folder), spot.folder.name
    if name != _MAIN:
        return one_file(spot, f"{session_id}.{name}", parent=session_id)
    state = json_object(os.path.join(folder, "state.json"))
    metadata = Metadata(
        title=text_in(state.get("title")),
        is_users_title=state.get("isCustomTitle") is True,
        cwd=folder_in(state.get("cwd")),
        began_ms=time_in(state.get("createdAt")),
        is_archived=state.get("archived") is True,
    )
    return one_file(spot, session_id, metadata=metadata)


def _with_subagents(path: Path, _head: bytes) -> Store | None:
    if path.name != _WIRE or path.absolute().parent.name != _MAIN:
        return None
    from agentwatch.agents.subagents import JoinedFiles

    agents = path.absolute().parents[1]

    def files(_path: Path) -> dict[str, Path]:
        return {each.parent.name: each for each in sorted(agents.glob(f"agent-*/{_WIRE}"))}

    return JoinedFiles(path, lambda _path: [agents], files) if files(path) else None


PROGRAM = Program(
    name="kimi",
    sessions=(SessionsAt("sessions", ("$KIMI_CODE_HOME", "~/.kimi-code"), sessions),),
    file_format="kimi-wire",
    command=Command(
        names=("kimi", "kimi-code"),  # the second is its title once it runs
        packages=("@moonshot-ai/kimi-code",),
        servers=("web", "server", "acp"),
        continues=frozenset({"-c", "--continue"}),
        one_prompt=frozenset({"-p", "--prompt"}),
    ),
    knowledge=Knowledge(
        NO_CALLS,
        never_asks=frozenset({"--auto"}),
        interrupt="Kimi Code ends the turn as cancelled, and its stream has no last line.",
    ),
    stores=(_with_subagents,),
    no_resume="kimi -p runs everything without a question, whatever the session was allowed",
)
