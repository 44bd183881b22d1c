"""What is known about Tern, beside its format: where it keeps its sessions, and how its process looks."""

from __future__ import annotations

from agentwatch.agents.places import Kind, owns, stem_is_id
from agentwatch.agents.program import Command, Program, SessionsAt


def sessions() -> Kind:
    """Return the kind of the folder `sessions`: each session is a file ID.jsonl."""
    return Kind("tern", owns(".jsonl"), stem_is_id)


PROGRAM = Program(
    name="tern",
    sessions=(SessionsAt("sessions", ("$TERN_HOME", "~/.tern"), "agentwatch_tern.program:sessions"),),
    file_format="tern",
    command=Command(names=("tern",)),
)
