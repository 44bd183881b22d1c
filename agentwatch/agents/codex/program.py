"""What is known about Codex, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

import os

from agentwatch.agents.program import CHANGES, COMMANDS, Command, Knowledge, Program, Reports, SessionsAt

_UUID = 36
"""The characters of a UUID."""
_ROOTS = ("$CODEX_HOME", "~/.codex")


def id_in_stem(stem: str) -> str:
    """Return the id in the name of a rollout: `rollout-TIME-UUID`."""
    return stem[-_UUID:]


def _is_of_session(path: str) -> bool:
    is_lock = path.endswith(".lock") and "/thread-writer-locks/" in path
    return is_lock or os.path.basename(path).startswith("rollout-")


PROGRAM = Program(
    name="codex",
    sessions=(
        SessionsAt(
            "sessions", _ROOTS, "agentwatch.agents.codex.places:sessions", "${CODEX_HOME:-$HOME/.codex}"
        ),
        SessionsAt("archived_sessions", _ROOTS, "agentwatch.agents.codex.places:archive"),
    ),
    file_format="codex-rollout",
    command=Command(
        names=("codex",),
        packages=("@openai/codex",),
        releases=("codex-x86_64-", "codex-aarch64-"),  # codex-x86_64-unknown-linux-musl
        servers=("app-server", "mcp-server"),
        daemon=frozenset({"--listen", "--managed-daemon"}),
        one_prompt=frozenset({"exec", "e", "review"}),
        folder_options=("-C", "--cd"),
        opens=_is_of_session,
        opens_each=True,
    ),
    knowledge=Knowledge(COMMANDS | CHANGES),
    reports=Reports("sessions", "thread-writer-locks", "agentwatch.agents.codex.reported:CodexLocks"),
    hooks="agentwatch.agents.codex.hooks:HOOKS",
    id_in=id_in_stem,
)
