"""Markdown documents for rich; a separate module because its parser takes 20 ms to import."""

from __future__ import annotations

from copy import copy
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement

from agentwatch.text.safe import SafeText


class _PlainHeading(Heading):
    """A left-aligned heading; rich would centre it, and draw a box around the first level."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PlainHeading,
    }


_PARSER = MarkdownIt().enable("strikethrough").enable("table")  # the same extensions as in rich
_EMPTY = _Markdown("", hyperlinks=False)


def markdown_document(source: SafeText) -> Markdown:
    """Return Markdown parsed by a shared parser; its links cannot be clicked. rich creates one for each
    document, 0.3 MB of patterns in a reference cycle, and 45 of them were alive."""
    document = copy(_EMPTY)
    document.markup, document.parsed = source, _PARSER.parse(source)
    return document
