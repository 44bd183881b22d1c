"""The blocks of a line as pairs of a short name and a text."""

from agentwatch.agents import Decoder
from agentwatch.analysis.block_text import block_text
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    MarkdownBlock,
    MatchesBlock,
    OutputBlock,
    PlanBlock,
    ReferencesBlock,
    StepsBlock,
    TextBlock,
)
from tests.builders.lines import init

NAMES: dict[type[Block], str] = {
    ErrorBlock: "error",
    ContentBlock: "content",
    MarkdownBlock: "markdown",
    ReferencesBlock: "references",
    FilesBlock: "files",
    MatchesBlock: "matches",
    PlanBlock: "plan",
    StepsBlock: "steps",
}


def name_of(block: Block) -> str:
    match block:
        case TextBlock() | FieldsBlock():
            return block.name
        case OutputBlock():
            return block.stream
        case ChangeBlock():
            return "diff" if block.diff else "change"
    return NAMES[type(block)]


def blocks(line: bytes, *before: bytes) -> list[tuple[str, str]]:
    """Return the name and the text of each block of a line in a Cursor recording."""
    decoder = Decoder()
    for known in before or (init(),):
        decoder.decode(known)
    return [(name_of(block), block_text(block)) for block in decoder.blocks(line.removesuffix(b"\n"))]
