"""Markdown as rich lays it out; apart, for its parser takes 20 ms to load and is loaded only if needed."""

from __future__ import annotations

from copy import copy
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement

from agentwatch.safe_text import SafeText


class _PlainHeading(Heading):
    """A heading in its place: rich would centre it, and put the first in a box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PlainHeading,
    }


_PARSER = MarkdownIt().enable("strikethrough").enable("table")  # as rich's own
_EMPTY = _Markdown("", hyperlinks=False)


def markdown_document(source: SafeText) -> Markdown:
    """Return Markdown read by the one parser; no link in it can be followed by a click.

    A parser for each block, as rich has it, is 0.3 MB of patterns in a cycle: 45 of them were alive.
    """
    document = copy(_EMPTY)
    document.markup, document.parsed = source, _PARSER.parse(source)
    return document
