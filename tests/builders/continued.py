"""Sessions that can be continued, and programs in the place of agents that note how they were started."""

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from agentwatch.agents.program import dashed
from tests.builders import claude_lines as claude
from tests.builders.codex.lines import BEGAN_MS, file_name, meta
from tests.builders.on_disk import transcript

ID, THREAD = str(uuid4()), str(uuid4())
"""The ids of the sessions. No other run of the tests has them: processes of all runs are seen."""


def claude_session(cwd: str, session_id: str = ID, *, name: str | None = None, **more: Any) -> Path:
    """Write a session of Claude Code in the mode `plan` that has ended, and return its file."""
    path = Path.home() / ".claude" / "projects" / dashed(cwd) / f"{name or session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    given: dict[str, Any] = {"sessionId": session_id, "cwd": cwd}
    prompt = transcript.user("Fix the tests.", "u1", **given, **{"permissionMode": "plan", **more})
    lines = [prompt, transcript.ended(uuid="a1", **given)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def turn(sandbox: str) -> dict[str, Any]:
    """Return the line with which a turn of Codex begins."""
    return {"type": "turn_context", "payload": {"sandbox_policy": {"type": sandbox}}}


def codex_session(cwd: str, *, sandbox: str = "", **more: object) -> Path:
    """Write a thread of Codex, with a turn in a sandbox if it is named, and return its file."""
    path = Path.home() / ".codex" / "sessions" / "2026" / "11" / "24" / file_name(BEGAN_MS, THREAD)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [meta(THREAD, BEGAN_MS, cwd=cwd, **more), *([turn(sandbox)] if sandbox else [])]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def allow(folder: Path, monkeypatch: pytest.MonkeyPatch, *acts: str) -> None:
    """Switch acts on."""
    path = folder / "config.toml"
    path.write_text("[act]\n" + "".join(f"{act} = true\n" for act in acts))
    monkeypatch.setenv("AGENTWATCH_CONFIG", str(path))


class Program:
    """A program in PATH that notes its folder and its arguments, and prints given lines."""

    def __init__(self, folder: Path, name: str, printed: str = "", code: int = 0, does: str = "") -> None:
        self.noted = folder / f"{name}.noted"
        folder.mkdir(exist_ok=True)
        self.path = folder / name
        note = f'printf "%s\\0" "$PWD" "$(pwd -P)" "$@" > {shlex.quote(str(self.noted))}'
        self.path.write_text(f"#!/bin/sh\n{note}\n{does}\ncat <<'END'\n{printed}\nEND\nexit {code}\n")
        self.path.chmod(0o755)

    @property
    def started(self) -> Sequence[str] | None:
        """The variable PWD, the folder and the arguments of its start; None if it was not started."""
        if not self.noted.exists():
            return None
        return [os.fsdecode(word) for word in self.noted.read_bytes().split(b"\0")[:-1]]


def stream(session_id: str = ID, cwd: str = "/w", mode: str | None = "plan") -> str:
    """Return the stream of a run of Claude Code."""
    own = {"session_id": session_id}
    lines = (
        claude.init(cwd=cwd, permissionMode=mode, **own),
        claude.say("done", **own),
        claude.result("done", **own),
    )
    return "\n".join(map(json.dumps, lines))
