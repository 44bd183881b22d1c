"""What is known about Codex, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.program import (
    CHANGES,
    COMMANDS,
    Command,
    Knowledge,
    Program,
    Reports,
    Resume,
    SessionsAt,
)

if TYPE_CHECKING:
    from agentwatch.sources.stores.store import Store

_UUID = 36
"""The characters of a UUID."""
_ROOTS = ("$CODEX_HOME", "~/.codex")
_STDIN = re.compile("-")
"""A prompt that is read from stdin."""
_RECEIPT = re.compile(r"Queued message [\w-]{1,100} for thread ([\w-]{1,100})")


def id_in_stem(stem: str) -> str:
    """Return the id of the thread in the name of a rollout.

    It is `rollout-TIME-THREAD`; a later one of the same thread is `rollout-TIME-THREAD_ROLLOUT`.
    """
    is_later = stem[-_UUID - 1 : -_UUID] == "_"
    return stem[-2 * _UUID - 1 : -_UUID - 1] if is_later else stem[-_UUID:]


def thread_in_name(name: str) -> str:
    """Return the id of the thread in the name of a file."""
    return id_in_stem(name.removesuffix(".zst").removesuffix(".jsonl"))


def is_later_segment(name: str) -> bool:
    """Return whether a file is named as one of the later rollouts of its thread."""
    stem = name.removesuffix(".zst").removesuffix(".jsonl")
    return name.startswith("rollout-") and stem[-_UUID - 1 : -_UUID] == "_"


def _segments(path: Path, head: bytes) -> Store | None:
    """Open a thread that has several rollouts, by its newest."""
    if path.suffix != ".jsonl" or not head.startswith(b"{") or not is_later_segment(path.name):
        return None
    from agentwatch.agents.codex.segments import open_segments

    return open_segments(path)


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
    knowledge=Knowledge(
        COMMANDS | CHANGES,
        interrupt="Codex exits without a final event, so its running calls stay unfinished.",
    ),
    reports=Reports(
        *("sessions", "thread-writer-locks", "agentwatch.agents.codex.reported:CodexReports"),
        server="A report of the server of Codex, which a terminal with options such as -c does not use.",
    ),
    hooks="agentwatch.agents.codex.hooks:HOOKS",
    stores=(_segments,),
    id_in=id_in_stem,
    resume=Resume(
        ("codex", "exec", "resume", "{id}", "--json", "--", "{text}"),
        "codex exec resume",
        misread=_STDIN,
        queue=("codex", "queue", "--thread={id}", "--message={text}"),
        receipt=_RECEIPT,
    ),
)
