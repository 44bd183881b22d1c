"""Blocks of a call as nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice

from agentwatch.analysis.block_text import (
    as_json,
    block_text,
    heading,
)
from agentwatch.analysis.diff_lines import DiffLine, compared, parsed
from agentwatch.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    FoundFile,
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
from agentwatch.exports.html.content.cutting import MOST, kept, share
from agentwatch.exports.html.content.languages import coloured, family_of_file
from agentwatch.exports.html.content.markdown import markdown_nodes
from agentwatch.exports.html.content.nodes import Node, element, link, text
from agentwatch.exports.html.content.shell_output import output_nodes
from agentwatch.text.safe import safe_line
from agentwatch.text.signs import PLAN_SIGNS, SIGNS

_MOST_DIFF_LINES = 5000
_MOST_PARTS = 500
"""Files of a search, steps of a subagent and fields that are shown."""
_MOST_MARKDOWN = 1 << 16
"""Characters that are parsed as Markdown; the rest is shown as it is. `![` repeated takes 0.8 s."""
_MOST_VALUE = 1 << 15
"""Characters of a field's value that are shown. Fields have fewer if there are many."""
_SELF_EVIDENT = (ContentBlock, MarkdownBlock, ChangeBlock, MatchesBlock, BinaryBlock, TooLargeBlock)
_CLASSES = {"+": "added", "-": "removed", "@": "hunk", "f": "file", "\\": "hunk", " ": "same"}


def cut_words(left_out: int) -> Node:
    """Return the line that says how much of a text is left out."""
    return element("p", "cut", f"… {left_out:,} characters left out …")


def preformatted(
    foreign: str,
    name: str,
    made: Callable[[str], list[Node]] | None = None,
    most: int = MOST,
) -> list[Node]:
    """Return a preformatted text, cut in its middle if it is long.

    Args:
        foreign: The text.
        name: The class of the element.
        made: Makes the nodes of a piece; None if a piece is plain text.
        most: The maximum number of characters.
    """
    make = made or (lambda piece: [text(piece)])
    head, left_out, tail = kept(foreign.rstrip("\n"), most)
    if not left_out:
        return [element("pre", name, *make(head))]
    return [element("pre", name, *make(head)), cut_words(left_out), element("pre", name, *make(tail))]


def prose(source: str, most: int = MOST) -> list[Node]:
    """Return Markdown as nodes, cut in its middle if it has more than `most` characters."""
    head, left_out, tail = kept(source, most)
    nodes = markdown_nodes(head[:_MOST_MARKDOWN])
    if rest := head[_MOST_MARKDOWN:]:
        nodes.append(element("pre", "plain", text(rest)))
    if left_out:
        nodes += [cut_words(left_out), element("pre", "plain", text(tail))]
    return nodes


def block_nodes(block: Block, path: str | None = None) -> list[Node]:
    """Return the nodes of a block.

    Args:
        block: The block.
        path: The file that it is about, whose name determines the language.
    """
    match block:
        case ErrorBlock():
            return preformatted(block.text, "error")
        case OutputBlock():
            stream = "output stderr" if block.stream == "stderr" else "output"
            return preformatted(block.text, stream, output_nodes)
        case ContentBlock():
            return _code(block, path)
        case MarkdownBlock():
            return [element("div", "prose", *prose(block.text))]
        case ChangeBlock(diff=str(diff)):
            return _diff(*parsed(diff, _MOST_DIFF_LINES), path)
        case ChangeBlock():
            return _diff(*compared(block.before or "", block.after or "", _MOST_DIFF_LINES), path)
        case MatchesBlock():
            return _limited([*_found_files(block)], len(block.files), "files")
        case PlanBlock():
            return [_plan(block)]
        case StepsBlock():
            return _limited([*_steps(block)], len(block.steps), "steps")
        case ReferencesBlock():
            return _limited([*_references(block)], len(block.references), "results")
        case FieldsBlock():
            return [fields_list(block.fields)]
        case TextBlock() | FilesBlock():
            return preformatted(block_text(block), "plain")
        case BinaryBlock() | TooLargeBlock():
            return [element("p", "note", text(block_text(block)))]


def title(block: Block) -> str:
    """Return what a block is about; empty if that is clear from its content."""
    return "" if isinstance(block, _SELF_EVIDENT) else heading(block)


def fields_list(fields: Mapping[str, object]) -> Node:
    """Return the names and values of fields as a list of terms."""
    items: list[Node] = []
    most = min(share(len(fields)), _MOST_VALUE)
    for name, value in islice(fields.items(), _MOST_PARTS):
        items += [element("dt", "", safe_line(name[:most])), element("dd", "", *_value(value, most))]
    if (more := len(fields) - _MOST_PARTS) > 0:
        items.append(element("dt", "", f"… {more:,} more fields"))
    return element("dl", "fields", *items)


def _value(value: object, most: int) -> list[Node]:
    shown = value if isinstance(value, str) else as_json(value, indent=2)
    head, left_out, tail = kept(shown, most)
    if "\n" not in shown and not left_out:
        return [text(shown)]
    more = [cut_words(left_out), element("pre", "plain", text(tail))] if left_out else []
    return [element("pre", "plain", text(head)), *more]


def _limited(nodes: list[Node], count: int, noun: str) -> list[Node]:
    """Return nodes, and a line that says how many of `count` are missing."""
    more = count - _MOST_PARTS
    return [*nodes, element("p", "cut", f"… {more:,} more {noun} left out")] if more > 0 else nodes


def _code(block: ContentBlock, path: str | None) -> list[Node]:
    """Return the content of a file, with the numbers of its lines beside it."""
    head, left_out, tail = kept(block.text.rstrip("\n"))
    name = coloured("code", family_of_file(path))
    nodes = [_numbered(head, block.first_line, name)]
    if left_out:
        cut_lines = block.text.count("\n", 0, len(head) + left_out)
        nodes += [cut_words(left_out), _numbered(tail, block.first_line + cut_lines, name)]
    return nodes


def _numbered(foreign: str, first: int, name: str) -> Node:
    shown = text(foreign).removesuffix("\n")
    numbers = "\n".join(map(str, range(first, first + shown.count("\n") + 1)))
    return element("div", "lines", element("pre", "numbers", numbers), element("pre", name, shown))


def _diff(lines: Sequence[DiffLine], left_out: int, path: str | None) -> list[Node]:
    """Return a diff: one element for each run of lines with the same sign, and their signs in the text."""
    if not lines:
        return [element("p", "note", "no difference")]
    width = max((len(str(number)) for line in lines for number in (line.old, line.new) if number), default=0)
    parts = []
    for sign, run in groupby(lines, key=lambda line: line.sign):
        same = [*run]
        name = _CLASSES.get(sign, "same")
        numbers = "\n".join(f"{line.old or '':>{width}} {line.new or '':>{width}}" for line in same)
        lead = {"+": "+ ", "-": "− ", " ": "  "}.get(sign, "")
        shown = "\n".join(f"{lead}{line.text}" for line in same)
        gutter = [element("pre", "numbers", numbers)] if width and name not in {"hunk", "file"} else []
        parts.append(element("div", name, *gutter, element("pre", "", text(shown))))
    nodes = [element("div", coloured("diff", family_of_file(path)), *parts)]
    if left_out:
        nodes.append(element("p", "cut", f"… {left_out:,} more lines left out"))
    return nodes


def _found_files(block: MatchesBlock) -> Iterator[Node]:
    most = share(len(block.files))
    return (_found_file(file, most) for file in block.files[:_MOST_PARTS])


def _found_file(file: FoundFile, most: int) -> Node:
    """Return the lines that a search found in a file: `12:` for a match, `12-` for context."""
    lines = [
        f"{'' if line.number is None else line.number}{'-' if line.is_context else ':'} "
        f"{line.text.rstrip()}{'…' if line.is_cut else ''}"
        for line in file.lines
    ]
    name = element("p", "path", safe_line(file.path or "?"))
    return element(
        "div", "found", name, *(preformatted("\n".join(lines), "plain", most=most) if lines else [])
    )


def _plan(block: PlanBlock) -> Node:
    items = (
        element("li", entry.status.value, f"{PLAN_SIGNS[entry.status]} {safe_line(entry.text)}")
        for entry in block.entries
    )
    return element("ul", "plan", *items)


def _steps(block: StepsBlock) -> Iterator[Node]:
    """Yield what a subagent wrote and did."""
    most = share(len(block.steps))
    for step in block.steps[:_MOST_PARTS]:
        if isinstance(step, SubagentCall):
            words = " ".join(filter(None, (step.phrase, step.target, step.note and f"({step.note.strip()})")))
            sign = SIGNS[step.outcome]
            yield element("p", f"step {step.outcome.value}", f"{sign} {safe_line(words)}")
        else:
            yield _remark(step, most)


def _remark(step: Remark, most: int) -> Node:
    if step.is_thought:
        return element("div", "thought", *preformatted(step.text.strip("\n"), "plain", most=most))
    return element("div", "prose", *prose(step.text, most))


def _references(block: ReferencesBlock) -> Iterator[Node]:
    most = share(len(block.references))
    return (_reference(page, most) for page in block.references[:_MOST_PARTS])


def _reference(page: Reference, most: int) -> Node:
    name = safe_line(page.title or page.url or "")
    heading = link(page.url, name) if page.url else element("strong", "", name)
    body = [element("div", "prose", *prose(page.text, most))] if page.text.strip() else []
    return element("div", "reference", element("p", "", heading), *body)
