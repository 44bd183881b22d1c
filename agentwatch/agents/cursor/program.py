"""What is known about Cursor, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

from agentwatch.agents.program import NO_CALLS, Command, Hints, Knowledge, Program, Resume, SessionsAt

_ROOTS = ("$CURSOR_DATA_DIR", "$CURSOR_CONFIG_DIR", "~/.cursor")
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
        ("cursor-agent", "-p", "--output-format", "stream-json", "--resume", "{id}", "--", "{text}"),
        "cursor-agent --resume",
    ),
    published_name="cursor-cli",
)
"""Its lines have no results and no times, and only newer versions write that a turn has ended."""
