"""The bodies of a Markdown document: code between fences, and the Markdown of the agent; both may be cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.exports.markdown.escapes import harmless
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, safe_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_RUNS = re.compile("`+")
_LEAST_FENCE = 3


class Bounds(NamedTuple):
    """How much is kept of a text."""

    head: int
    """The number of lines at its beginning."""
    tail: int
    """The number of lines at its end."""
    characters: int
    """The number of characters of each line."""


OF_BODIES = Bounds(40, 40, 400)
"""Of what a call was given and returned: a body takes at most 32 kB, a half of a comment on GitHub."""
OF_TEXTS = Bounds(300, 100, 4000)
"""Of what the agent wrote. A paragraph is one line."""


class Pieces(NamedTuple):
    """A text that may be cut in its middle."""

    head: SafeText
    tail: SafeText
    """Empty unless lines are left out."""
    left_out: int
    """The number of lines between the two."""

    def note(self) -> str:
        """Return a line of Markdown with the number of lines that are left out."""
        return f"*… {plural(self.left_out, 'line')} left out …*"


def pieces(text: str, bounds: Bounds) -> Pieces:
    """Return the lines at the beginning and at the end of a text, made safe."""
    lines = text.strip("\n").split("\n")
    left_out = len(lines) - bounds.head - bounds.tail
    if left_out <= 1:  # the note takes a line too
        return Pieces(_safe(lines, bounds), SafeText(""), 0)
    tail = lines[len(lines) - bounds.tail :] if bounds.tail else []
    return Pieces(_safe(lines[: bounds.head], bounds), _safe(tail, bounds), left_out)


def fenced(text: str, language: str = "text", bounds: Bounds = OF_BODIES) -> Iterator[str]:
    """Yield the lines of a code block, or of two if the text is cut.

    The fence is longer than the longest run of its character in the text.
    """
    head, tail, left_out = cut = pieces(text, bounds)
    yield from _block(head, language)
    if left_out:
        yield from ("", cut.note(), "")
        if tail:
            yield from _block(tail, language)


def markdown(text: str, bounds: Bounds = OF_TEXTS) -> Iterator[str]:
    """Yield the lines of a text of the agent, which is Markdown. It ends what it begins."""
    head, tail, left_out = cut = pieces(text, bounds)
    yield from _harmless_blocks(head)
    if left_out:
        yield from ("", cut.note(), "")
        yield from _harmless_blocks(tail)


def quoted(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines as a quotation, whose blocks end with it."""
    for line in lines:
        yield f"> {line}" if line else ">"


def _safe(lines: list[str], bounds: Bounds) -> SafeText:
    return SafeText("\n".join(_safe_line(line, bounds.characters) for line in lines))


def _safe_line(line: str, most: int) -> str:
    more = len(line) - most
    line = "\t".join(map(safe_text, line[:most].removesuffix("\r").split("\t")))
    return f"{line}… {plural(more, 'more character')}" if more > 0 else line


def _block(text: SafeText, language: str) -> Iterator[str]:
    longest = max(map(len, _RUNS.findall(text)), default=0)
    fence = "`" * max(longest + 1, _LEAST_FENCE)
    yield f"{fence}{language}"
    yield text
    yield fence


def _harmless_blocks(text: SafeText) -> Iterator[str]:
    """Yield the lines of a text in Markdown: code between fences as it is, the rest made harmless."""
    lines = text.split("\n")
    shown = 0
    open_fence = ""
    for token in _parser().parse(f"{text}\n"):
        if token.type != "fence" or token.map is None:
            continue
        start, end = token.map
        yield harmless(SafeText("\n".join(lines[shown : start + 1])))
        shown = min(end, len(lines))
        yield from lines[start + 1 : shown]
        is_closed = token.content.count("\n") == end - start - 2
        open_fence = "" if is_closed or token.level else token.markup
    if shown < len(lines):
        yield harmless(SafeText("\n".join(lines[shown:])))
    elif open_fence:
        yield open_fence


@cache
def _parser() -> MarkdownIt:
    """Return a parser of blocks. It treats as a paragraph what is one after `harmless`."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return parser.disable(["inline", "text_join", "html_block", "reference"])
