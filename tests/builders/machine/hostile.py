"""A machine whose sessions have foreign texts wherever a list may show one, each text with its mark."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from agentwatch.sources.proc import Proc
from tests.builders.lines import init, result, user
from tests.builders.machine.made import id_of
from tests.builders.packed import mark
from tests.catalog.started_agents import started

NAMED = "abcdefgh"
"""The places of `hostile_files`: the title of Claude Code, a prompt, a branch, the name of a folder, the name
of Copilot, the titles of Cursor and of opencode, the name of a recording of our own."""
SAID = "jk"
"""The places of `hostile_records`: a name that the user has given, and the pane of tmux."""
_AT = "2026-11-21T23:00:00.000Z"
_AT_MS = 1_795_302_000_000


def hostile_files(home: Path, recordings: Path, texts: Sequence[str]) -> None:
    """Write a session for each text in each place of `NAMED`, except what cannot be part of a path."""
    titles, prompts, branches, folders, copilot, cursor, opencode, own = (
        mark(place, texts) for place in NAMED
    )
    for number in range(len(texts)):
        cwd = "/" + folders[number].replace("/", "_").replace("\0", "")
        _claude(home, number * 3, cwd, [{"type": "ai-title", "aiTitle": titles[number]}])
        _claude(home, number * 3 + 1, "/w", [], prompts[number])
        _claude(home, number * 3 + 2, "/w", [], branch=branches[number])
        folder = home / ".copilot/session-state" / id_of(number)
        described = {"id": folder.name, "name": copilot[number], "cwd": cwd, "branch": branches[number]}
        _put(folder / "workspace.yaml", "".join(f"{k}: {json.dumps(v)}\n" for k, v in described.items()))
        _put(folder / "events.jsonl", "")
        title = {"title": cursor[number], "cwd": cwd, "createdAtMs": _AT_MS, "lastUsedModel": cursor[number]}
        _put(home / f".cursor/chats/0a/{id_of(number)}/meta.json", json.dumps(title))
        storage = home / ".local/share/opencode/storage/session/p"
        title = {"id": f"ses_{number}", "title": opencode[number], "directory": cwd, "time": {}}
        _put(storage / f"ses_{number}.json", json.dumps(title))
        stem = recordings / f"20261101-120000-{number:06}.ndjson"
        stem.parent.mkdir(parents=True, exist_ok=True)
        stem.write_bytes(init() + user("x") + result("x"))
        _put(stem.with_suffix(".json"), json.dumps({"name": own[number], "cwd": cwd}))


@contextmanager
def hostile_records(home: Path, texts: Sequence[str]) -> Iterator[None]:
    """Run a process of Claude Code for each text in the places of `SAID`, each with its record."""
    names, panes = (mark(place, texts) for place in SAID)
    with ExitStack() as processes:
        for number, (name, pane) in enumerate(zip(names, panes, strict=True)):
            pid = processes.enter_context(started(["claude"], home)).pid
            stat = Proc().stat(pid)
            record = {
                "pid": pid,
                "procStart": str(stat.began if stat else 0),
                "sessionId": f"live-{number}",
                "status": "waiting",
                "waitingFor": pane,
                "statusUpdatedAt": _AT_MS,
                "name": name,
                "nameSource": "user",
                "tmux": pane,
                "cwd": f"/{pane}",
            }
            _put(home / f".claude/sessions/{pid}.json", json.dumps(record))
        yield


def _claude(
    home: Path, number: int, cwd: str, more: list[dict[str, Any]], prompt: str = "x", branch: str = "main"
) -> None:
    session_id = id_of(number)
    common = {"sessionId": session_id, "cwd": cwd, "gitBranch": branch, "timestamp": _AT, "uuid": "u1"}
    line = {"type": "user", **common, "message": {"role": "user", "content": prompt}}
    text = "".join(json.dumps(each) + "\n" for each in (line, *more))
    _put(home / f".claude/projects/-w/{session_id}.jsonl", text)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
