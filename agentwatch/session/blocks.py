"""Blocks: the arguments and the result of a tool call, as data for the detail pane.

A decoder produces the blocks of one line. `agentwatch.analysis.block_text` converts them to text, and
`agentwatch.screen.panes.detail` draws them.
"""

from collections.abc import Mapping
from typing import NamedTuple

from agentwatch.session.events import Outcome, PlanEntry


class TextBlock(NamedTuple):
    """A text that is shown whole: an argument of several lines, the description of a command."""

    name: str
    """The title: the name of the argument, or what the text is about."""
    text: str


class ErrorBlock(NamedTuple):
    """Why a call failed, in the agent's words."""

    text: str


class OutputBlock(NamedTuple):
    """What a command printed."""

    stream: str
    """`stdout` or `stderr`."""
    text: str


class ContentBlock(NamedTuple):
    """The content of a file, or other text that a tool returned."""

    text: str
    first_line: int = 1


class MarkdownBlock(NamedTuple):
    """A text in Markdown: the page that a call fetched."""

    text: str


class Reference(NamedTuple):
    """A page that a web search found."""

    title: str | None
    url: str | None
    text: str = ""
    """The part of the page that matched, in Markdown; empty if the result does not contain it."""


class ReferencesBlock(NamedTuple):
    """The pages that a web search found, best first."""

    references: tuple[Reference, ...]


class ChangeBlock(NamedTuple):
    """What a call did to a file: a unified diff, the content before and after, or both."""

    diff: str | None
    before: str | None = None
    """The whole content before the change; None if the line does not contain it."""
    after: str | None = None


class FilesBlock(NamedTuple):
    """A list of files."""

    paths: tuple[str, ...]


class FoundLine(NamedTuple):
    """A line found by a search."""

    text: str
    number: int | None = None
    is_context: bool = False
    """The line surrounds a match and does not contain one."""
    is_cut: bool = False
    """The agent shortened the line."""


class FoundFile(NamedTuple):
    """The lines that a search found in one file."""

    path: str | None
    lines: tuple[FoundLine, ...]


class MatchesBlock(NamedTuple):
    """The files and lines that a search found."""

    files: tuple[FoundFile, ...]


class PlanBlock(NamedTuple):
    """A to-do list."""

    entries: tuple[PlanEntry, ...]


class Remark(NamedTuple):
    """A subagent's message or thought."""

    text: str
    is_thought: bool = False


class SubagentCall(NamedTuple):
    """A tool call that a subagent made."""

    phrase: str
    target: str | None
    outcome: Outcome
    note: str | None = None
    """The error or the result in a few words."""


class StepsBlock(NamedTuple):
    """What a subagent wrote and did, in order."""

    steps: tuple[Remark | SubagentCall, ...]


class FieldsBlock(NamedTuple):
    """The remaining fields of the arguments or of the result."""

    name: str
    """`arguments` or `result`."""
    fields: Mapping[str, object]


class BinaryBlock(NamedTuple):
    """An image or another result that is not text. Only its type and size are shown."""

    media_type: str
    """`image/png`, or `binary` if the agent gives no type."""
    size: int | None
    """The size in bytes; None if unknown."""


class TooLargeBlock(NamedTuple):
    """A line that is too large to be shown."""

    size: int
    """The size in bytes."""
    offset: int
    """The position of the line in the recording, in bytes."""


Block = (
    TextBlock
    | ErrorBlock
    | OutputBlock
    | ContentBlock
    | MarkdownBlock
    | ReferencesBlock
    | ChangeBlock
    | FilesBlock
    | MatchesBlock
    | PlanBlock
    | StepsBlock
    | FieldsBlock
    | BinaryBlock
    | TooLargeBlock
)
