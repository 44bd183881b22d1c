"""Cursor beside its formats. Source: the vendor's documentation and code, and folders that it has written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.description_files import folder_in, json_object, name_in, text_in, time_in
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder, one_file, owns, stem_is_id
from agentwatch.agents.program import (
    NO_CALLS,
    Command,
    Hints,
    HookedAgent,
    Knowledge,
    McpClient,
    Mode,
    Program,
    Resume,
    SessionsAt,
    dashed,
)
from agentwatch.agents.session_entry import Metadata, Reach, SessionEntry

if TYPE_CHECKING:
    from agentwatch.sources.stores.lines import Store

_ROOTS = ("$CURSOR_DATA_DIR", "$CURSOR_CONFIG_DIR", "~/.cursor")
_MODES = (
    Mode("ask", "it answers, and changes nothing", ("--mode=ask",)),
    Mode("plan", "it plans, and changes nothing", ("--mode=plan",)),
    Mode("agent", "", decides=False),
)


def _keeps(path: Path, cwd: str) -> bool:
    folder = next((each.parent for each in path.parents if each.name == "agent-transcripts"), None)
    return folder is None or _path_words(folder.name) == _path_words(cwd)


def _with_subagents(path: Path, head: bytes) -> Store | None:
    own = path.parent if path.absolute().parent.name == path.stem else path.parent / path.stem
    if path.suffix != ".jsonl" or b'"role"' not in head or not (own / "subagents").is_dir():
        return None
    from agentwatch.agents.subagents import open_session
    from agentwatch.recording.store import within

    return open_session(path, lambda _path: [each for each in (within(own, "subagents"),) if each])


def _path_words(path: str) -> list[str]:
    return [*filter(None, dashed(path).split("-"))]


HOOKS = HookedAgent(
    "cursor",
    "Cursor",
    "",
    ".cursor",
    "hooks.json",
    (
        *("beforeSubmitPrompt", "beforeShellExecution", "afterShellExecution", "beforeMCPExecution"),
        *("afterMCPExecution", "stop", "sessionEnd"),
    ),
    note="Cursor reads its hooks when it starts: restart it",
)
"""Source: cursor.com/docs/hooks (October 2026). The conversation is called conversation_id. A hook before
a step could block it: empty output and 0 do not. Not run with Cursor itself."""


# The files. A transcript lies in projects/FOLDER/agent-transcripts/ID/ID.jsonl, those of its subagents in
# ID/subagents. Each conversation is described in chats/HASH/ID/meta.json. The conversation beside that is not
# read; a transcript may lie elsewhere.


def projects() -> Kind:
    subagents = Kind("cursor", owns(".jsonl"), _subagent, cools_after_s=HOUR_S)
    session = Kind(
        "cursor", owns(".jsonl"), stem_is_id, below={"subagents": subagents}.get, cools_after_s=HOUR_S
    )
    transcripts = Kind("cursor", owns(".jsonl"), stem_is_id, below=any_folder(session))
    project = Kind("cursor", below={"agent-transcripts": transcripts}.get)
    return Kind("cursor", below=any_folder(project))


def chats() -> Kind:
    chat = Kind("cursor", owns("meta.json", "meta.json"), _chat, cools_after_s=HOUR_S)
    return Kind("cursor", below=any_folder(Kind("cursor", below=any_folder(chat))))


def _subagent(spot: Spot) -> list[SessionEntry]:
    parent = os.path.basename(spot.folder.parent())
    return one_file(spot, spot.name.removesuffix(".jsonl"), parent=parent)


def _chat(spot: Spot) -> list[SessionEntry]:
    described = json_object(spot.path)
    metadata = Metadata(
        title=text_in(described.get("title")),
        cwd=folder_in(described.get("cwd")),
        model=name_in(described.get("lastUsedModel")),
        began_ms=time_in(described.get("createdAtMs")),
        changed_ms=time_in(described.get("updatedAtMs")),
    )
    return one_file(spot, spot.folder.name, metadata=metadata, reach=Reach.LISTED)


PROGRAM = Program(
    name="cursor",
    sessions=(
        SessionsAt(
            "projects",
            _ROOTS,
            projects,
            "${CURSOR_DATA_DIR:-$HOME/.cursor}",
        ),
        SessionsAt("chats", _ROOTS, chats),
    ),
    file_format="cursor-transcript",
    command=Command(
        names=("cursor-agent",),
        packages=("cursor-agent",),
        shared_names=("agent",),
        helpers=frozenset({"about", "create-chat", "status", "worker"}),
        one_prompt=frozenset({"-p", "--print"}),
    ),
    knowledge=Knowledge(NO_CALLS, has_calls=False, has_ends=False, has_results=False),
    hooks=HOOKS,
    stores=(_with_subagents,),
    hints=Hints(
        silence="Cursor prints nothing until its end without --output-format stream-json",
        failures=(("Workspace Trust Required", "Cursor does not trust this folder: add --trust"),),
    ),
    resume=Resume(
        (
            "cursor-agent",
            "-p",
            "--output-format",
            "stream-json",
            "{mode}",
            "--resume",
            "{id}",
            "--",
            "{text}",
        ),
        "cursor-agent --resume",
        modes=_MODES,
        asking="agent",
        keeps=_keeps,
    ),
    published_name="cursor-cli",
    mcp=McpClient("Cursor", ("~/.cursor/mcp.json",)),
)
"""Its lines have no results and no times, and only newer versions write that a turn has ended."""
