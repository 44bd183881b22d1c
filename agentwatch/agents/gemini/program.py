"""What is known about the Gemini CLI, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Program, SessionsAt

if TYPE_CHECKING:
    from agentwatch.sources.stores.store import Store


def _gemini_json(path: Path, head: bytes) -> Store | None:
    """Open a chat of the Gemini CLI that is one JSON document."""
    if path.suffix != ".json":
        return None
    from agentwatch.agents.gemini.json_chat import open_gemini_json

    return open_gemini_json(path, head)


PROGRAM = Program(
    name="gemini",
    sessions=(
        SessionsAt(
            "tmp",
            ("$GEMINI_CLI_HOME/.gemini", "~/.gemini"),
            "agentwatch.agents.gemini.places:chats",
            "${GEMINI_CLI_HOME:-$HOME}/.gemini",
        ),
    ),
    file_format="gemini-chat",
    command=Command(
        names=("gemini",),
        packages=("@google/gemini-cli",),
        one_prompt=frozenset({"-p", "--prompt"}),
        several_prompts=frozenset({"--acp", "--experimental-acp"}),
    ),
    knowledge=Knowledge(NO_CALLS, has_calls=False, ends_in_silence=True),
    hooks="agentwatch.agents.gemini.hooks:HOOKS",
    stores=(_gemini_json,),
    published_name="gemini-cli",
)
"""It writes a call only when all calls of its step have ended."""
