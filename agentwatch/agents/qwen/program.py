"""Qwen Code beside its formats. Source: the vendor's documentation and code, and its folders."""

from __future__ import annotations

from agentwatch.agents.fields import Fields, mapping, text
from agentwatch.agents.places import Kind, any_folder, owns, stem_is_id
from agentwatch.agents.program import (
    CHANGES,
    COMMANDS,
    Command,
    Knowledge,
    Mode,
    Program,
    Resume,
    SessionsAt,
    dashed,
)
from agentwatch.session.tool_kind import ToolKind

_MODES = {
    "plan": "it plans, and changes nothing",
    "default": "what needs a permission is refused",
    "auto-edit": "files are edited without a question; what else needs a permission is refused",
    "auto": "a model of the agent decides what runs without a question",
    "yolo": "everything runs without a question",
}


def _mode_in(fields: Fields) -> str | None:
    if fields.get("subtype") == "session_approval_mode":
        return text(mapping(fields.get("systemPayload")), "mode")
    return text(fields, "permission_mode") if fields.get("subtype") == "init" else None


# The files: projects/FOLDER/chats/UUID.jsonl.


def projects() -> Kind:
    chats = Kind("qwen", owns(".jsonl"), stem_is_id)
    return Kind("qwen", below=any_folder(Kind("qwen", below={"chats": chats}.get)))


PROGRAM = Program(
    name="qwen",
    sessions=(
        SessionsAt(
            "projects",
            ("$QWEN_RUNTIME_DIR", "$QWEN_HOME", "~/.qwen"),
            projects,
            "${QWEN_HOME:-$HOME/.qwen}",
        ),
    ),
    file_format="qwen-chat",
    command=Command(
        names=("qwen",),
        packages=("@qwen-code/qwen-code",),
        continues=frozenset({"-c", "--continue"}),
        one_prompt=frozenset({"-p", "--prompt"}),
        several_prompts=frozenset({"--acp", "--experimental-acp", "--input-format"}),
        # `✳︎ Qwen - folder`, `◐︎ Qwen - folder`, unless its settings leave the title alone
        titles={"\u2733": "asks", "\u25d0": "working"},
    ),
    knowledge=Knowledge(COMMANDS | CHANGES | {ToolKind.FETCH, ToolKind.DELEGATE}),
    resume=Resume(
        ("qwen", "--output-format", "stream-json", "{mode}", "--resume", "{id}", "--prompt={text}"),
        "qwen --resume",
        modes=tuple(Mode(name, words, (f"--approval-mode={name}",)) for name, words in _MODES.items()),
        asking="default",
        mode_in=_mode_in,
        folder_in=lambda fields: text(fields, "cwd"),
        keeps=lambda path, cwd: path.parents[1].name == dashed(cwd),
    ),
)
