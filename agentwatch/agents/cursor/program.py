"""What is known about Cursor, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

from pathlib import Path

from agentwatch.agents.program import (
    NO_CALLS,
    Command,
    Hints,
    Knowledge,
    Mode,
    Program,
    Resume,
    SessionsAt,
    dashed,
)

_ROOTS = ("$CURSOR_DATA_DIR", "$CURSOR_CONFIG_DIR", "~/.cursor")
_MODES = (
    Mode("ask", "it answers, and changes nothing", ("--mode=ask",)),
    Mode("plan", "it plans, and changes nothing", ("--mode=plan",)),
    Mode("agent", "", decides=False),
)


def _keeps(path: Path, cwd: str) -> bool:
    """Return whether a transcript lies in the folder that is named after a working directory."""
    folder = next((each.parent for each in path.parents if each.name == "agent-transcripts"), None)
    return folder is None or _words(folder.name) == _words(cwd)


def _words(path: str) -> list[str]:
    return [*filter(None, dashed(path).split("-"))]


PROGRAM = Program(
    name="cursor",
    sessions=(
        SessionsAt(
            "projects",
            _ROOTS,
            "agentwatch.agents.cursor.places:projects",
            "${CURSOR_DATA_DIR:-$HOME/.cursor}",
        ),
        SessionsAt("chats", _ROOTS, "agentwatch.agents.cursor.places:chats"),
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
    hooks="agentwatch.agents.cursor.hooks:HOOKS",
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
)
"""Its lines have no results and no times, and only newer versions write that a turn has ended."""
