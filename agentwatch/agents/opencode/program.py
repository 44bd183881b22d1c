"""What is known about opencode, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

import os
import re

from agentwatch.agents.program import (
    CHANGES,
    COMMANDS,
    Command,
    Knowledge,
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


def _is_database_at(path: str) -> bool:
    return is_database(os.path.basename(path))


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
    knowledge=Knowledge(COMMANDS | CHANGES),
    resume=Resume(
        ("opencode", "run", "--format", "json", "--session", "{id}", "--", "{text}"),
        "opencode run --session",
        id=_ID,
    ),
    stores=(
        on_first_use("agentwatch.agents.opencode.opening:open_database"),
        on_first_use("agentwatch.agents.opencode.opening:open_storage"),
    ),
)
