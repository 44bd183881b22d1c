"""What is known about Claude Code, beside its formats. Source: the vendor's documentation and code, and
folders that the program has written."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from agentwatch.agents.description_files import first_text, folder_in, id_in, json_object, name_in, text_in
from agentwatch.agents.fields import Fields, text
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder, one_file, owns, stem_is_id
from agentwatch.agents.program import (
    CHANGES,
    COMMANDS,
    Command,
    HookedAgent,
    Knowledge,
    McpClient,
    Mode,
    Program,
    Reports,
    Resume,
    SessionsAt,
    dashed,
    opens,
)
from agentwatch.agents.session_entry import NO_METADATA, Metadata, SessionEntry
from agentwatch.session.tool_kind import ToolKind

_STORE = opens(
    "agentwatch.agents.claude.subagent_files:open_claude_subagents",
    lambda path, head: path.suffix == ".jsonl" and head.startswith(b"{"),
)
_MODES = {
    "plan": "it plans, and changes nothing",
    "dontAsk": "only what the settings of the agent allow is done",
    "default": "what needs a permission is refused",
    "acceptEdits": "files are edited without a question; what else needs a permission is refused",
    "auto": "a classifier of the agent decides what runs without a question",
    "bypassPermissions": "everything runs without a question",
}
_OTHER_NAMES = {"manual": "default"}
_MOST_FOLDER = 200


def _mode_in(fields: Fields) -> str | None:
    mode = None if fields.get("isSidechain") is True else text(fields, "permissionMode")
    return None if mode is None else _OTHER_NAMES.get(mode, mode)


def keeps(folder: str, cwd: str) -> bool:
    name = dashed(cwd)
    return folder == name or (
        len(name) > _MOST_FOLDER and folder.startswith(f"{name[:_MOST_FOLDER]}-") and folder != name
    )


ANSWERS = HookedAgent(
    "claude",
    "Claude Code",
    "CLAUDE_CONFIG_DIR",
    ".claude",
    "settings.json",
    ("PermissionRequest",),
    is_nested=True,
    timeout=3600,
    note="The list answers once `answer = true` is set in [act], and the list was opened after that",
    answers=str(Path(__file__).with_name("answer_hook.py")),
)
"""Source: code.claude.com/docs/en/hooks (November 2026). Run with Claude Code 2.1.330."""


# The files: projects/FOLDER/UUID.jsonl. The subagents of a session lie in UUID/subagents, those of a workflow
# in UUID/subagents/workflows/NAME.

_UUID = 36
_META = ".meta.json"
_MOST_RECORDS = 200


def projects() -> Kind:
    workflow = Kind("claude", _agent_owner, _subagent_of(3), _meta_of, cools_after_s=HOUR_S)
    workflows = Kind("claude", below=any_folder(workflow), cools_after_s=HOUR_S)
    subagents = Kind(
        "claude",
        _agent_owner,
        _subagent_of(1),
        _meta_of,
        below={"workflows": workflows}.get,
        cools_after_s=HOUR_S,
    )
    session = Kind("claude", below={"subagents": subagents}.get, cools_after_s=HOUR_S)
    project = Kind(
        "claude", owns(".jsonl"), _session, below=lambda name: session if len(name) == _UUID else None
    )
    return Kind("claude", below=any_folder(project), urgent=_live_folders)


def _agent_owner(name: str) -> str | None:
    if not name.startswith("agent-"):
        return None
    if name.endswith(_META):
        return f"{name.removesuffix(_META)}.jsonl"
    return name if name.endswith(".jsonl") else None


def _subagent_of(levels: int) -> Callable[[Spot], list[SessionEntry]]:
    def read(spot: Spot) -> list[SessionEntry]:
        stem = spot.name.removesuffix(".jsonl")
        metadata = spot.previous[0].metadata if spot.previous else NO_METADATA
        if stem + _META in spot.changed:
            described = json_object(os.path.join(spot.folder.path, stem + _META))
            title = text_in(described.get("description")) or text_in(described.get("agentType"))
            metadata = Metadata(title=title, model=name_in(described.get("model")))
        parent = os.path.basename(spot.folder.parent(levels))
        return one_file(spot, stem, parent=parent, metadata=metadata)

    return read


def _session(spot: Spot) -> list[SessionEntry]:
    """Return a session, or a subagent: older versions put it beside its session, which its lines name."""
    if not spot.name.startswith("agent-"):
        return stem_is_id(spot)
    parent = spot.previous[0].parent if spot.previous else id_in(first_text(spot.path, "sessionId"))
    return one_file(spot, spot.name.removesuffix(".jsonl"), parent=parent) if parent else []


def _meta_of(owner: str) -> tuple[str, ...]:
    return (owner.removesuffix(".jsonl") + _META,)


def _live_folders(projects: str) -> set[str]:
    """Return the working directories in which a process was registered last. Appending to a session does
    not change its folder, which may be the oldest. A stale record, or a long path, which is shortened in
    another way, only costs this head start."""
    registry = os.path.join(os.path.dirname(projects), "sessions")
    try:
        with os.scandir(registry) as entries:
            names = [each.name for each in islice(entries, _MOST_RECORDS)]
    except OSError:
        return set()
    records = (name for name in names if name.endswith(".json") and name[:-5].isdecimal())
    cwds = (folder_in(json_object(os.path.join(registry, name)).get("cwd")) for name in records)
    return {os.path.join(projects, dashed(cwd)) for cwd in cwds if cwd is not None}


PROGRAM = Program(
    name="claude",
    sessions=(
        SessionsAt(
            "projects",
            ("$CLAUDE_CONFIG_DIR", "~/.claude", "$XDG_CONFIG_HOME/claude", "~/.config/claude"),
            projects,
            "${CLAUDE_CONFIG_DIR:-$HOME/.claude}",
        ),
    ),
    file_format="claude-transcript",
    command=Command(
        names=("claude",),
        packages=("@anthropic-ai/claude-code",),
        helpers=frozenset({"--claude-in-chrome-mcp", "--chrome-native-host"}),
        one_prompt=frozenset({"-p", "--print"}),
        several_prompts=frozenset({"--input-format"}),
    ),
    knowledge=Knowledge(
        COMMANDS | CHANGES | {ToolKind.FETCH},
        is_exact=True,
        interrupt="Claude ends the turn, cancels its running calls, writes a result and exits.",
    ),
    reports=Reports("projects", "sessions", "agentwatch.agents.claude.reported:ClaudeRecords"),
    stores=(_STORE,),
    answers=ANSWERS,
    resume=Resume(
        (
            *("claude", "-p", "--output-format", "stream-json", "--verbose", "{mode}"),
            *("--resume", "{id}", "--", "{text}"),
        ),
        "claude --resume",
        modes=tuple(Mode(name, words, (f"--permission-mode={name}",)) for name, words in _MODES.items()),
        asking="default",
        mode_in=_mode_in,
        folder_in=lambda fields: text(fields, "cwd"),
        keeps=lambda path, cwd: keeps(path.parent.name, cwd),
    ),
    published_name="claude-code",
    mcp=McpClient(
        "Claude Code",
        ("$CLAUDE_CONFIG_DIR/.claude.json", "~/.claude.json"),
        "claude mcp add --scope user agentwatch {env}--",
        more={"type": "stdio"},
    ),
)
