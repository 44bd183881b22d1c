"""What is known about Qwen Code, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

from agentwatch.agents.program import CHANGES, COMMANDS, Command, Knowledge, Program, Resume, SessionsAt
from agentwatch.session.events import ToolKind

PROGRAM = Program(
    name="qwen",
    sessions=(
        SessionsAt(
            "projects",
            ("$QWEN_RUNTIME_DIR", "$QWEN_HOME", "~/.qwen"),
            "agentwatch.agents.qwen.places:projects",
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
    ),
    knowledge=Knowledge(COMMANDS | CHANGES | {ToolKind.FETCH, ToolKind.DELEGATE}),
    resume=Resume(
        ("qwen", "--output-format", "stream-json", "--resume", "{id}", "--prompt={text}"), "qwen --resume"
    ),
)
