"""What is known about the Gemini CLI, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Mode, Program, Resume, SessionsAt

if TYPE_CHECKING:
    from agentwatch.sources.stores.store import Store


def _gemini_json(path: Path, head: bytes) -> Store | None:
    """Open a chat of the Gemini CLI that is one JSON document."""
    if path.suffix not in (".json", ".jsonl") or b'"messages"' not in head:
        return None
    from agentwatch.agents.gemini.json_chat import open_gemini_json

    return open_gemini_json(path, head)


_FIRST = ("Now ", "Now, ", "Next, ", "First, ", "Then, ")
_ANNOUNCING = (
    *("I will ", "I'll ", "I\u2019ll ", "I must ", "I need to "),
    *("I am going to ", "I'm going to ", "I\u2019m going to ", "Let me "),
)
_SENTENCE_ENDS = (". ", "! ", "? ", "\n")


def _announces(answer: str) -> bool:
    """Return whether the last sentence of an answer announces a call.

    The instructions of the agent demand such a sentence before each call: "Explain Before Acting".
    """
    answer = answer.strip()
    begin = max(answer.rfind(end) + len(end) if end in answer else 0 for end in _SENTENCE_ENDS)
    sentence = answer[begin:].lstrip("*-# ")
    for word in _FIRST:
        sentence = sentence.removeprefix(word)
    if sentence.endswith("?") or sentence.startswith("Let me know"):
        return False
    return sentence.startswith(_ANNOUNCING) or sentence.endswith(":")


def _keeps(path: Path, cwd: str) -> bool:
    """Return whether a session is in the folder of a working directory, as far as the folder's name says it.

    It is the hash of the directory in older versions. The file beside it that names the directory lies where
    the agent may write.
    """
    from hashlib import sha256  # takes 2 ms to import

    slug = path.parents[1].name
    return len(slug) != 2 * sha256().digest_size or slug == sha256(os.fsencode(cwd)).hexdigest()


_MODES = {
    "plan": "it plans, and changes nothing",
    "default": "what needs a permission is refused",
    "auto_edit": "files are edited without a question; what else needs a permission is refused",
    "yolo": "everything runs without a question",
}
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
    knowledge=Knowledge(
        NO_CALLS,
        has_calls=False,
        ends_in_silence=True,
        announces=_announces,
        never_asks=frozenset({"-y", "--yolo", "--approval-mode=yolo", "yolo"}),
    ),
    hooks="agentwatch.agents.gemini.hooks:HOOKS",
    stores=(_gemini_json,),
    resume=Resume(
        ("gemini", "--output-format", "stream-json", "{mode}", "--resume", "{id}", "--prompt={text}"),
        "gemini --resume",
        modes=tuple(Mode(name, words, (f"--approval-mode={name}",)) for name, words in _MODES.items()),
        asking="default",
        keeps=_keeps,
    ),
    published_name="gemini-cli",
)
"""It writes a call only when all calls of its step have ended."""
