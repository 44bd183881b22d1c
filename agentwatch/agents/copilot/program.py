"""What is known about Copilot, beside its formats. Source: the vendor's documentation and code, and folders
that the program has written."""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.agents.description_files import MOST_BYTES, folder_in, name_in, text_in, yaml_texts
from agentwatch.agents.fields import Fields, mapping, text
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder, one_file
from agentwatch.agents.program import (
    NO_CALLS,
    Command,
    Knowledge,
    McpClient,
    Mode,
    Program,
    Reports,
    Resume,
    SessionsAt,
)
from agentwatch.agents.session_entry import NO_METADATA, Metadata, Reach, SessionEntry
from agentwatch.recording.head_tail import first_bytes

_REFUSED = "what needs a permission is refused"
_MODES = {
    "plan": "it plans, and changes nothing",
    "interactive": _REFUSED,
    "autopilot": f"it continues by itself until it is done; {_REFUSED}",
}


def _mode_in(fields: Fields) -> str | None:
    """Return the mode in a prompt, if it is there, or in a change of it; not in a prompt for a subagent."""
    if "agentId" in fields:
        return None
    data = mapping(fields.get("data"))
    if fields.get("type") == "session.mode_changed":
        return text(data, "newMode")
    return text(data, "agentMode") if fields.get("type") == "user.message" else None


def _folder_in(fields: Fields) -> str | None:
    is_start = fields.get("type") == "session.start"
    return text(mapping(mapping(fields.get("data")).get("context")), "cwd") if is_start else None


# The files: session-state/UUID/events.jsonl, described by workspace.yaml.
# Before the first prompt there is only the description, or the lock of the process.

_EVENTS = "events.jsonl"
_WORKSPACE = "workspace.yaml"


def session_state() -> Kind:
    session = Kind("copilot", _owner, _session, lambda _: (_WORKSPACE,), cools_after_s=HOUR_S)
    return Kind("copilot", below=any_folder(session))


def _owner(name: str) -> str | None:
    is_lock = name.startswith("inuse.") and name.endswith(".lock")
    return _EVENTS if is_lock or name in (_EVENTS, _WORKSPACE) else None


def _session(spot: Spot) -> list[SessionEntry]:
    folder = spot.folder
    metadata = spot.previous[0].metadata if spot.previous else NO_METADATA
    if _WORKSPACE in spot.changed:
        metadata = _workspace(os.path.join(folder.path, _WORKSPACE))
    if spot.stamp is not None:  # the description keeps the time of the first prompt
        return one_file(spot, folder.name, metadata=metadata._replace(changed_ms=None))
    newest = max(folder.files.values(), key=lambda stamp: stamp.changed_ns, default=None)
    if newest is None:
        return []
    path = Path(spot.path)
    return [SessionEntry("copilot", folder.name, path, 0, newest.changed_ns, 0, Reach.LISTED, None, metadata)]


def _workspace(path: str) -> Metadata:
    from agentwatch.agents.on_disk import iso_ms  # a prompt needs no times

    texts = yaml_texts(first_bytes(path, MOST_BYTES))
    return Metadata(
        title=text_in(texts.get("name")),
        is_users_title=texts.get("user_named") == "true",
        cwd=folder_in(texts.get("cwd")),
        branch=name_in(texts.get("branch")),
        began_ms=iso_ms(texts.get("created_at")),
        changed_ms=iso_ms(texts.get("updated_at")),
    )


PROGRAM = Program(
    name="copilot",
    sessions=(SessionsAt("session-state", ("$COPILOT_HOME", "~/.copilot"), session_state),),
    file_format="copilot",
    command=Command(
        names=("copilot",),
        packages=("@github/copilot",),
        helpers=frozenset({"--binary-version"}),
        continues=frozenset({"--continue"}),
        one_prompt=frozenset({"-p", "--prompt"}),
        several_prompts=frozenset({"--acp"}),
        own_ids=frozenset({"--session-id"}),  # the id of the run, not that of a session that is resumed
    ),
    knowledge=Knowledge(NO_CALLS, is_exact=True),
    reports=Reports("session-state", "session-state", "agentwatch.agents.copilot.reported:CopilotLocks"),
    resume=Resume(
        ("copilot", "--output-format", "json", "{mode}", "--resume={id}", "--prompt={text}"),
        "copilot --resume",
        modes=tuple(Mode(name, words, (f"--mode={name}",)) for name, words in _MODES.items()),
        asking="interactive",
        mode_in=_mode_in,
        folder_in=_folder_in,
        widened_by=("COPILOT_ALLOW_ALL", "COPILOT_ASSISTED_APPROVAL"),
    ),
    mcp=McpClient(
        "GitHub Copilot CLI",
        ("$COPILOT_HOME/mcp-config.json", "~/.copilot/mcp-config.json"),
        "copilot mcp add agentwatch {env}--",
        more={"type": "local", "tools": ["*"]},
    ),
)
"""Copilot logs each question and its answer."""
