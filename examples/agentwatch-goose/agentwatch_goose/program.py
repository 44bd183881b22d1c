"""What is known about Goose, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Program, SessionsAt

PROGRAM = Program(
    name="goose",
    sessions=(
        SessionsAt(
            "sessions",
            ("$GOOSE_PATH_ROOT/data", "$XDG_DATA_HOME/goose", "~/.local/share/goose"),
            "agentwatch_goose.places:sessions",
        ),
    ),
    command=Command(names=("goose",)),
    knowledge=Knowledge(NO_CALLS, has_calls=False, has_ends=False),
)
