"""Copies the captures of agents' own files to where the agents keep them."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from agentwatch.agents.session_entry import Key
from tests.builders.captures import OWN
from tests.conftest import RECORDINGS

DISK = OWN / "disk"
CAPTURED_S = 1795303200
"""The modification time of all captures: 2026-11-21T23:20:00Z, after their last line."""
CURSOR_ID = "b2a1c6de-3f40-4c55-9d0e-5a6b7c8d9e0f"
RECORDING_ID = "20261121-231500-000aaaaaa"


def lay_captures(home: Path, recordings: Path) -> dict[Key, Path]:
    """Copy all captures below a home folder, and one recording of our own; return each address by its key."""
    found: dict[Key, Path] = {}
    for copy in (
        _claude,
        _codex,
        _gemini,
        _qwen,
        _opencode,
        _pi,
        _copilot,
        _cursor,
        _droid,
        _kimi,
        _vibe,
        _cline,
    ):
        found |= copy(home)
    recording = recordings / f"{RECORDING_ID}.ndjson"
    _copied(RECORDINGS / "demo.ndjson", recording)
    _copied(RECORDINGS / "demo.times", recording.with_suffix(".times"))
    found["agentwatch", RECORDING_ID] = recording
    for folder in (home, recordings):
        for path in folder.rglob("*"):
            os.utime(path, (CAPTURED_S, CAPTURED_S))
    return found


def _copied(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, copy_function=shutil.copyfile, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)
    return target


def _written(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def _droid(home: Path) -> dict[Key, Path]:
    sessions = home / ".factory/sessions"
    _copied(OWN / "real/droid-0.215.0/sessions/sessions", sessions)
    found = {("droid", path.stem): path for path in sessions.rglob("*.jsonl")}
    for path in found.values():
        _written(path.with_suffix(".settings.json"), {"model": "never opened"})
    return found


def _kimi(home: Path) -> dict[Key, Path]:
    sessions = home / ".kimi-code/sessions"
    _copied(OWN / "real/kimi-2.1.0/sessions/sessions", sessions)
    found = {}
    for path in sessions.rglob("wire.jsonl"):
        session, name = path.parents[2].name, path.parent.name
        found["kimi", session if name == "main" else f"{session}.{name}"] = path
    return found


def _vibe(home: Path) -> dict[Key, Path]:
    sessions = home / ".vibe/logs/session/unified"
    _copied(OWN / "real/vibe-3.0.2/sessions/unified", sessions)
    return {("vibe", path.name): path for path in sessions.iterdir()}


def _cline(home: Path) -> dict[Key, Path]:
    sessions = home / ".cline/data/sessions"
    _copied(OWN / "real/cline-3.0.65/sessions/sessions", sessions)
    return {
        ("cline", path.name.removesuffix(".messages.json")): path
        for path in sessions.rglob("*.messages.json")
    }


def _claude(home: Path) -> dict[Key, Path]:
    source, projects = DISK / "claude-transcript", home / ".claude/projects"
    _copied(source / "own-2.1.330", projects / "-home-dev-proj")
    _copied(source / "made", projects / "-home-dev-lantern")
    _copied(DISK / "claude-registry/1416.json", home / ".claude/sessions/1416.json")
    _written(home / ".claude/.credentials.json", {"secret": "never opened"})
    _written(home / ".claude/sessions/1416.0a1b.key", "never opened")
    return {("claude", path.stem): path for path in projects.rglob("*.jsonl")}


def _codex(home: Path) -> dict[Key, Path]:
    source, root = DISK / "codex-rollout", home / ".codex"
    _copied(source / "own-0.169", root / "sessions/2026/11/21")
    (root / "sessions/2026/11/21/sqlite-export.json").unlink()
    _copied(source / "made", root / "archived_sessions")
    _written(root / "auth.json", {"secret": "never opened"})
    return {("codex", path.stem[-36:]): path for path in root.rglob("rollout-*.jsonl")}


def _gemini(home: Path) -> dict[Key, Path]:
    source, root = DISK / "gemini-chat", home / ".gemini"
    chats, old = root / "tmp/proj/chats", root / f"tmp/{'5f1e' * 16}/chats"
    _copied(source / "own-0.61/projects.json", root / "projects.json")
    _copied(source / "own-0.61/proj/project_root.txt", root / "tmp/proj/.project_root")
    _copied(source / "own-0.61/proj/chats", chats)
    _copied(source / "made", old)
    return {
        ("gemini", "70a6e3dc-0c3d-4c8f-b32e-c6e9a68e994a"): chats / "session-2026-11-21T23-08-70a6e3dc.jsonl",
        ("gemini", "710af93e-25f9-498d-84e6-a15fbc12e68d"): chats / "session-2026-11-21T23-08-710af93e.jsonl",
        ("gemini", "7a0c2d64-91be-4f53-b8e2-0d47c5a1f390"): old / "session-2026-04-12T08-15-made0040.jsonl",
        ("gemini", "2c5e80fa-1d37-4b96-a0c4-9f8e61b25d03"): old / "session-2026-01-09T11-02-2c5e80fa.json",
        ("gemini", "8d14a6be-70f2-4c85-9b31-5a2e0c96d7f4"): old / "session-2026-01-09T11-30-8d14a6be.json",
    }


def _qwen(home: Path) -> dict[Key, Path]:
    source, projects = DISK / "qwen-chat", home / ".qwen/projects"
    _copied(source / "own-0.24.4", projects / "-home-dev-proj/chats")
    _copied(source / "made", projects / "-home-dev-lantern/chats")
    return {("qwen", path.stem): path for path in projects.rglob("*.jsonl")}


def _opencode(home: Path) -> dict[Key, Path]:
    source, root = DISK / "opencode-db", home / ".local/share/opencode"
    database = _copied(source / "own-1.18.33/opencode.db", root / "opencode.db")
    for version in ("v2", "legacy"):
        _copied(source / f"made/storage_{version}", root / "storage")
    _written(root / "auth.json", {"secret": "never opened"})
    with closing(sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)) as connection:
        rows = [row[0] for row in connection.execute("SELECT id FROM session")]
    files = (root / "storage/session").rglob("*.json")
    return {("opencode", row): database / row for row in rows} | {
        ("opencode", path.stem.removeprefix("ses_")): path for path in files
    }


def _pi(home: Path) -> dict[Key, Path]:
    source, sessions = DISK / "pi-session", home / ".pi/agent/sessions"
    _copied(source / "own-0.73.1", sessions / "--home-dev-proj--")
    _copied(source / "made", sessions / "--home-dev-lantern--")
    return {("pi", path.stem.partition("_")[2]): path for path in sessions.rglob("*.jsonl")}


def _copilot(home: Path) -> dict[Key, Path]:
    source, sessions = DISK / "copilot-events", home / ".copilot/session-state"
    _copied(source / "own-1.0.102", sessions)
    _copied(source / "made", sessions)
    return {("copilot", path.parent.name): path for path in sessions.rglob("events.jsonl")}


def _cursor(home: Path) -> dict[Key, Path]:
    source, root = DISK / "cursor-transcript/made", home / ".cursor"
    transcripts = root / "projects/home-dev-proj/agent-transcripts"
    main = _copied(source / "small.jsonl", transcripts / CURSOR_ID / f"{CURSOR_ID}.jsonl")
    _copied(source / "subagent/parent.jsonl", transcripts / "parent/parent.jsonl")
    _copied(source / "subagent/subagents/child.jsonl", transcripts / "parent/subagents/child.jsonl")
    described = {
        "title": "List the files",
        "cwd": "/home/dev/proj",
        "createdAtMs": 1795301000000,
        "updatedAtMs": 1795302000000,
        "lastUsedModel": "sonnet-5",
    }
    _written(root / f"chats/0a1b2c3d/{CURSOR_ID}/meta.json", described)
    _written(root / "chats/0a1b2c3d/listed/meta.json", {**described, "title": "Only listed"})
    return {
        ("cursor", CURSOR_ID): main,
        ("cursor", "parent"): transcripts / "parent/parent.jsonl",
        ("cursor", "child"): transcripts / "parent/subagents/child.jsonl",
        ("cursor", "listed"): root / "chats/0a1b2c3d/listed/meta.json",
    }
