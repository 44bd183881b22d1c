"""Pi beside its formats. Source: the vendor's documentation and code, and folders that it has written."""

from __future__ import annotations

import re

from agentwatch.agents.fields import text
from agentwatch.agents.places import Kind, Spot, any_folder, one_file, owns
from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Program, Resume, SessionsAt
from agentwatch.agents.session_entry import SessionEntry

_FILE = re.compile(r"@.*", re.DOTALL)
"""A prompt that is the name of a file."""


def id_in_stem(stem: str) -> str:
    """Return the id in the name of a session: `TIME_UUID`."""
    return stem.partition("_")[2] or stem


# The files: sessions/--FOLDER--/TIME_UUID.jsonl; in a folder that the user has chosen, TIME_UUID.jsonl.


def sessions() -> Kind:
    return Kind("pi", owns(".jsonl"), _session, below=any_folder(Kind("pi", owns(".jsonl"), _session)))


def _session(spot: Spot) -> list[SessionEntry]:
    return one_file(spot, id_in_stem(spot.name.removesuffix(".jsonl")))


PROGRAM = Program(
    name="pi",
    sessions=(
        SessionsAt(
            "sessions",
            ("$PI_CODING_AGENT_DIR", "~/.pi/agent"),
            sessions,
            "${PI_CODING_AGENT_DIR:-$HOME/.pi/agent}",
        ),
        SessionsAt("", ("$PI_CODING_AGENT_SESSION_DIR",), sessions),
    ),
    file_format="pi-session",
    command=Command(
        names=("pi",),
        packages=("@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"),
        continues=frozenset({"-c", "--continue"}),
        one_prompt=frozenset({"-p", "--print", "json"}),
        several_prompts=frozenset({"rpc"}),
    ),
    knowledge=Knowledge(NO_CALLS, retries_after_ms=2_000),
    id_in=id_in_stem,
    resume=Resume(
        ("pi", "--mode", "json", "--session", "{id}", "-p", "--", "{text}"),
        "pi --session",
        folder_in=lambda fields: text(fields, "cwd") if fields.get("type") == "session" else None,
        misread=_FILE,
    ),
)
"""Pi asks for no permission."""
