"""The text of a block, which the detail pane shows, the search reads and the clipboard receives."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    FoundLine,
    MarkdownBlock,
    MatchesBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    Remark,
    StepsBlock,
    SubagentCall,
    TextBlock,
    TooLargeBlock,
)
from agentwatch.session.call import Call, Place
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.safe import SafeText, exact_line, exact_text
from agentwatch.text.signs import MESSAGE_SIGN, PLAN_SIGNS, SIGNS, THOUGHT_SIGN

_TITLES: dict[type[Block], str] = {
    ErrorBlock: "error",
    FilesBlock: "files",
    ReferencesBlock: "results",
    MatchesBlock: "matches",
    PlanBlock: "to-do list",
    StepsBlock: "steps",
    BinaryBlock: "binary",
    TooLargeBlock: "too large to show",
}
_MOST_LINE = 20_000


def named_places(call: Call) -> Iterator[tuple[str, Place]]:
    """Yield the lines that have the arguments and the result of a call; a line with both is yielded once."""
    arguments, result = call.arguments_place, call.result_place
    if arguments is not None and arguments != call.ended:
        yield "arguments", arguments
    if result is not None:
        yield "arguments and result" if arguments in (None, result) else "result", result


def block_text(block: Block) -> str:
    """Return the text of a block.

    The text comes from the agent: pass it through `exact_text` before it is drawn.

    Example:
        >>> block_text(FieldsBlock("arguments", {"path": "app.py", "limit": 40}))
        'path: app.py\\nlimit: 40'
    """
    match block:
        case TextBlock() | ErrorBlock() | ContentBlock() | MarkdownBlock():
            return block.text
        case OutputBlock():
            return printed(block.text)
        case ReferencesBlock():
            return "\n\n".join(map(_reference_text, block.references))
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
        case BinaryBlock():
            size = "size unknown" if block.size is None else byte_size(block.size)
            return f"{_one_line(block.media_type)}, {size}"
        case TooLargeBlock():
            return f"{block.size:,} bytes, starting at byte {block.offset:,} of the recording"


def printed(text: str) -> str:
    """Return what a command printed; on a terminal CR LF ends a line."""
    return text.replace("\r\n", "\n")


def block_title(block: Block) -> str:
    match block:
        case TextBlock() | FieldsBlock():
            return block.name
        case OutputBlock():
            return block.stream
        case ChangeBlock():
            return "diff" if block.diff else "content after the change"
    return _TITLES.get(type(block), "content")


def heading(block: Block) -> SafeText:
    """Return the title of a block that is drawn: with the number of its parts, `3 files`, `1 result`."""
    match block:
        case ChangeBlock(diff=None | ""):
            return SafeText("change")
        case FilesBlock():
            return SafeText(plural(len(block.paths), "file"))
        case ReferencesBlock():
            return SafeText(plural(len(block.references), "result"))
    return exact_line(block_title(block))


def whole_text(block: Block) -> str:
    """Return the text of a block; of a change without a diff, also the content before it."""
    if isinstance(block, ChangeBlock) and not block.diff and block.before is not None:
        return f"{block.after or ''}\n── content before the change\n{block.before}"
    return block_text(block)


def bounded(text: str, most: int) -> tuple[list[SafeText], int]:
    """Return the first lines of a text, in which nothing is hidden. A very long line is cut; a note at its
    end says how much is missing. Also return the number of lines that were left out."""
    end = -1
    for _ in range(most):
        end = text.find("\n", end + 1)
        if end < 0:
            break
    rest = "" if end < 0 else text[end + 1 :].rstrip("\n")
    if not rest:
        return [cut_line(line) for line in exact_text(text).rstrip("\n").split("\n")], 0
    kept = exact_text(text[: end + 1]).removesuffix("\n")
    return [cut_line(line) for line in kept.split("\n")], rest.count("\n") + 1


def cut_line(line: str) -> SafeText:
    if len(line) <= _MOST_LINE:
        return SafeText(line)
    return SafeText(f"{line[:_MOST_LINE]} … {len(line) - _MOST_LINE:,} more characters in this line")


def as_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON for a reader: characters beyond ASCII are not escaped."""
    try:
        if not isinstance(value, dict | list):
            indent = None  # a number takes 3 µs with it, and half of that without
        return json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    except RecursionError:
        return "nested too deeply to be shown"


def _value_text(value: object) -> str:
    return value if isinstance(value, str) else as_json(value, indent=2)


def _match_lines(block: MatchesBlock) -> Iterator[str]:
    """Yield each file's path, then its lines as ripgrep prints them: `12:` for a match, `12-` for context."""
    for file in block.files:
        yield file.path or "?"
        yield from map(_found_line, file.lines)


def _found_line(line: FoundLine) -> str:
    number = "" if line.number is None else line.number
    return f"{number}{'-' if line.is_context else ':'}{_one_line(line.text)}{'…' if line.is_cut else ''}"


def _reference_text(reference: Reference) -> str:
    parts = (_one_line(reference.title or ""), _one_line(reference.url or ""), reference.text.strip())
    return "\n".join(part for part in parts if part)


def _step_text(step: Remark | SubagentCall) -> str:
    if isinstance(step, Remark):
        sign = THOUGHT_SIGN if step.is_thought else MESSAGE_SIGN
        return f"{sign} " + step.text.strip().replace("\n", "\n  ")
    words = [step.phrase, step.target, step.note and f"({step.note.strip()})"]
    line = _one_line(" ".join(word for word in words if word))
    return f"{SIGNS[step.outcome]} {line}"


def _one_line(text: str) -> str:
    return text.rstrip("\r\n").replace("\n", "␊")


def field_text(block: Block, name: str) -> str | None:
    if isinstance(block, TextBlock):
        return block.text if block.name == name else None
    value = block.fields.get(name) if isinstance(block, FieldsBlock) else None
    return value if isinstance(value, str) and value else None


def error_reasons(call: Call, result: Sequence[Block], shown: AbstractSet[str]) -> Iterator[str]:
    """Yield the reasons of a failure, unless they are the exit code or the output, or a part of what is
    shown. `shown` gets each of them when it is shown."""
    output = "\n".join(block.text for block in result if isinstance(block, OutputBlock))
    reasons = [block.text for block in result if isinstance(block, ErrorBlock)]
    for reason in [*reasons, call.error or ""]:
        known = reason.strip()
        known = known.removesuffix("…") or known  # the session cuts the error of a call
        if not reason or reason == f"exit {call.exit_code}" or reason in shown or known in output:
            continue
        if not any(known in each for each in reasons if each in shown):
            yield reason


def as_printed(block: Block) -> Block:
    """Return a block of a command's result: a result that is only a text does not say that it was printed."""
    return OutputBlock("stdout", block.text) if isinstance(block, ContentBlock) else block
