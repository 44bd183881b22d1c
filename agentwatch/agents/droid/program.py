"""What is known about Droid, beside its formats.

Source: folders that version 0.215 has written.
"""

from __future__ import annotations

from agentwatch.agents.program import CHANGES, COMMANDS, Command, Knowledge, Program, SessionsAt

PROGRAM = Program(
    name="droid",
    sessions=(
        SessionsAt("sessions", ("~/.factory",), "agentwatch.agents.droid.places:sessions", "$HOME/.factory"),
    ),
    file_format="droid-session",
    command=Command(names=("droid",)),
    knowledge=Knowledge(COMMANDS | CHANGES),
    no_resume="droid exec --session-id of version 0.215 ended without an answer when it was tried",
)
