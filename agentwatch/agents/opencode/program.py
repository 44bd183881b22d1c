"""What is known about opencode, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

import os
import re

from agentwatch.agents.described import name_in
from agentwatch.agents.fields import Fields, mapping, text
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
    on_first_use,
)

_ID = re.compile("ses_[A-Za-z0-9]{8,200}")


def is_database(name: str) -> bool:
    """Return whether a file has the name of a database of opencode."""
    return name.startswith("opencode") and name.endswith(".db")


LATER_SESSIONS = "session_v2"
"""The table of the sessions of opencode 2. It begins with copies of those in `session`."""


def not_known(version: object) -> str:
    """Return that the sessions of a version of opencode cannot be read; the version is foreign."""
    return f"this version does not read opencode {name_in(version) or '2'}"


def _is_database_at(path: str) -> bool:
    return is_database(os.path.basename(path))


def _mode_in(fields: Fields) -> str | None:
    """Return the agent of opencode that a prompt is for, in a line of the session itself."""
    info = mapping(fields.get("info"))
    is_main = "agent" not in fields and info.get("role") == "user"
    return text(info, "agent") if is_main else None


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
    stores=(
        on_first_use("agentwatch.agents.opencode.opening:open_database"),
        on_first_use("agentwatch.agents.opencode.opening:open_storage"),
    ),
)
