"""The text of a block: what the detail shows of it, what a search finds in it, what is copied."""

from __future__ import annotations

import json
from collections.abc import Iterator

from agentwatch.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    FoundLine,
    MatchesBlock,
    OutputBlock,
    PlanBlock,
    Remark,
    StepsBlock,
    SubagentCall,
    TextBlock,
    TooLargeBlock,
)
from agentwatch.events import Outcome, PlanStatus

PLAN_SIGNS = {
    PlanStatus.PENDING: "○",
    PlanStatus.IN_PROGRESS: "◐",
    PlanStatus.COMPLETED: "✓",
    PlanStatus.CANCELLED: "✗",
}
THOUGHT_SIGN = "~"
MESSAGE_SIGN = "›"
STEP_SIGNS = {Outcome.SUCCEEDED: "✓", Outcome.FAILED: "✗", Outcome.REJECTED: "⊘"}
UNKNOWN_SIGN = "◌"


def block_text(block: Block) -> str:
    """Return the text of a block; `FieldsBlock` gives one line per field.

    The text is foreign and not yet safe for a terminal.
    """
    match block:
        case TextBlock() | ErrorBlock() | OutputBlock() | ContentBlock():
            return block.text
        case ChangeBlock():
            return block.diff or block.after or ""
        case FilesBlock():
            return "\n".join(block.paths)
        case MatchesBlock():
            return "\n".join(_match_lines(block))
        case PlanBlock():
            return "\n".join(f"{PLAN_SIGNS[entry.status]} {_one_line(entry.text)}" for entry in block.entries)
        case StepsBlock():
            return "\n".join(map(_step_text, block.steps))
        case FieldsBlock():
            return "\n".join(f"{key}: {_value_text(value)}" for key, value in block.fields.items())
        case TooLargeBlock():
            return f"{block.size} bytes, starting at byte {block.offset} of the recording"


def as_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON for a reader, with all characters unescaped."""
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    except RecursionError:
        return "nested too deeply to be shown"


def _value_text(value: object) -> str:
    return value if isinstance(value, str) else as_json(value, indent=2)


def _match_lines(block: MatchesBlock) -> Iterator[str]:
    """Yield each file's name and its lines as ripgrep prints them: `12:` for a match, `12-` for context."""
    for file in block.files:
        yield file.path or "?"
        yield from map(_found_line, file.lines)


def _found_line(line: FoundLine) -> str:
    number = "" if line.number is None else line.number
    return f"{number}{'-' if line.is_context else ':'}{_one_line(line.text)}{'…' if line.is_cut else ''}"


def _step_text(step: Remark | SubagentCall) -> str:
    if isinstance(step, Remark):
        sign = THOUGHT_SIGN if step.is_thought else MESSAGE_SIGN
        return f"{sign} " + step.text.strip().replace("\n", "\n  ")
    words = [step.phrase, step.target, step.note and f"({step.note.strip()})"]
    line = _one_line(" ".join(word for word in words if word))
    return f"{STEP_SIGNS.get(step.outcome, UNKNOWN_SIGN)} {line}"


def _one_line(text: str) -> str:
    return text.rstrip("\r\n").replace("\n", "␊")
