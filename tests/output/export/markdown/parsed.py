"""Reads Markdown as a page does, with a parser that accepts HTML."""

import re
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")


def tokens(text: str) -> list[Token]:
    """Return the blocks of a document, and within them the pieces of lines."""
    return _PARSER.parse(text)


def html_of(text: str) -> list[str]:
    """Return every piece of raw HTML in a document: that of blocks, then that of lines."""
    blocks = [token.content.strip() for token in tokens(text) if token.type == "html_block"]
    children = [child for token in tokens(text) for child in token.children or ()]
    return blocks + [child.content for child in children if child.type == "html_inline"]


def text_of(text: str) -> str:
    """Return the text that a reader of a document sees, without its code."""
    pieces = _Pieces()
    pieces.feed(_PARSER.render(text))
    return "".join(pieces.found)


def folds(text: str) -> list[str]:
    """Return the HTML blocks at the top level of a document: beginnings and ends of what is folded."""
    found = [token for token in tokens(text) if token.type == "html_block"]
    assert all(token.level == 0 for token in found)
    return [token.content.strip() for token in found]


def assert_balanced(text: str) -> list[str]:
    """Check that each fold of a document is ended before the next begins, and return the summaries."""
    blocks = folds(text)
    summaries = []
    for begin, end in zip(blocks[::2], blocks[1::2], strict=True):
        found = re.fullmatch(r"<details(?: open)?>\n<summary>([^\n]*)</summary>", begin)
        assert found, begin
        assert end == "</details>"
        summaries.append(found[1])
    return summaries


class _Pieces(HTMLParser):
    """Collects the text of a page outside of code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._codes = 0

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        """Note the beginning of code."""
        self._codes += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        """Note the end of code."""
        self._codes -= tag == "code"

    def handle_data(self, data: str) -> None:
        if not self._codes:
            self.found.append(data)
