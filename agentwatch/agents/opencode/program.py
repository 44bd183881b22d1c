"""What is known about opencode, beside its formats. Source: the vendor's documentation and code, and folders
that the program has written."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.description_files import name_in
from agentwatch.agents.fields import Fields, mapping, text
from agentwatch.agents.first_use import on_first_use
from agentwatch.agents.program import (
    CHANGES,
    COMMANDS,
    Command,
    Knowledge,
    Mode,
    NamedDatabase,
    Program,
    Resume,
    SessionsAt,
)

if TYPE_CHECKING:
    from agentwatch.sources.stores.lines import Store

_ID = re.compile("ses_[A-Za-z0-9]{8,200}")


def is_database(name: str) -> bool:
    return name.startswith("opencode") and name.endswith(".db")


LATER_SESSIONS = "session_v2"
"""The table of the sessions of opencode 2. It begins with copies of those in `session`."""


def not_known(version: object) -> str:
    return f"this version does not read opencode {name_in(version) or '2'}"


def _is_database_at(path: str) -> bool:
    return is_database(os.path.basename(path))


def _mode_in(fields: Fields) -> str | None:
    """Return the agent of opencode that a prompt is for, in a line of the session itself."""
    info = mapping(fields.get("info"))
    is_main = "agent" not in fields and info.get("role") == "user"
    return text(info, "agent") if is_main else None


# Its sessions are opened here: those of a database, and those of its older folder `storage`.

_database_at = on_first_use("agentwatch.agents.opencode.store:database_at")
_storage_at = on_first_use("agentwatch.agents.opencode.store:storage_at")
_SQLITE = b"SQLite format 3\0"


def _open_database(path: Path, head: bytes) -> Store | None:
    if not head:
        from agentwatch.agents.opening import head_of  # a prompt opens no session

        head = head_of(path.parent)
    if not head.startswith(_SQLITE):
        return None
    store: Store | None = _database_at(path)
    return store


def _open_storage(path: Path, head: bytes) -> Store | None:
    """One session is named as `storage/session/PROJECT/ses_….json`, or as `storage/ses_…`."""
    session: Path | str | None = None
    if head:
        if path.suffix != ".json" or path.parent.parent.name != "session":
            return None
        folder, session = path.parent.parent.parent, path
    elif path.is_dir():
        folder = path
    else:
        folder, session = path.parent, path.name
    if not (folder / "session").is_dir() or not (folder / "message").is_dir():
        return None
    store: Store | None = _storage_at(folder, session)
    return store


PROGRAM = Program(
    name="opencode",
    sessions=(
        SessionsAt(
            "",
            ("$XDG_DATA_HOME/opencode", "~/.local/share/opencode"),
            "agentwatch.agents.opencode.places:data",
        ),
    ),
    file_format="opencode",
    database=NamedDatabase("OPENCODE_DB", "agentwatch.agents.opencode.places:named_database"),
    command=Command(
        names=("opencode",),
        packages=("opencode-ai",),
        servers=("serve", "web"),
        continues=frozenset({"-c", "--continue"}),
        one_prompt=frozenset({"run"}),
        opens=_is_database_at,  # without the database it shows the sessions of a server
    ),
    knowledge=Knowledge(COMMANDS | CHANGES, joins_subagents=True),
    resume=Resume(
        ("opencode", "run", "--format", "json", "{mode}", "--session", "{id}", "--", "{text}"),
        "opencode run --session",
        modes=tuple(Mode(name, "", (f"--agent={name}",), decides=False) for name in ("plan", "build")),
        asking="plan",
        mode_in=_mode_in,
        id=_ID,
    ),
    stores=(_open_database, _open_storage),
)
