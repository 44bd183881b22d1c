"""The assistant's Markdown as nodes. Raw HTML in it is text, and an image is its alt text and address."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from agentwatch.exports.html.content.languages import coloured, family_named
from agentwatch.exports.html.content.nodes import Node, element, link, text
from agentwatch.text.safe import safe_line, safe_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_BLOCKS = {
    "blockquote_open": "blockquote",
    "bullet_list_open": "ul",
    "list_item_open": "li",
    "ordered_list_open": "ol",
    "paragraph_open": "p",
    "table_open": "table",
    "tbody_open": "tbody",
    "td_open": "td",
    "th_open": "th",
    "thead_open": "thead",
    "tr_open": "tr",
}
_INLINE = {"em_open": "em", "s_open": "del", "strong_open": "strong"}
_MOST_LEVEL = 6
_LEVELS_ABOVE = 3
"""The headings of the page above those of a text: its title, that of the transcript, that of the entry."""
_MOST_FIRST = 999_999_999
_MOST_NESTED = 100
"""Levels of elements. orjson writes at most 254 levels of lists."""
_TRANSPARENT = ""
"""The tag of an element that becomes its children: a paragraph of a tight list, or one nested too deeply."""


@cache
def _parser() -> MarkdownIt:
    """Return the parser, with the extensions that the screen has. It takes 20 ms to import."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MOST_NESTED})
    return parser.enable(["strikethrough", "table"])


def markdown_nodes(source: str) -> list[Node]:
    """Return Markdown as nodes.

    Example:
        >>> markdown_nodes("**now**")
        [['p', '', ['strong', '', 'now']]]
    """
    return _nodes(_parser().parse(safe_text(source)))


def _nodes(tokens: Iterable[Token]) -> list[Node]:
    """Return the nodes of a list of tokens, which open and close elements."""
    stack: list[Node] = [["div", ""]]
    links: list[str] = []
    for token in tokens:
        kind = token.type
        if kind == "inline":
            stack[-1].extend(_nodes(token.children or ()))
        elif kind == "link_open":
            links.append(str(token.attrs.get("href", "")))
            stack.append(["span", ""])
        elif kind == "link_close":
            children = stack.pop()[2:]
            stack[-1].append(link(links.pop(), *children))
        elif token.nesting > 0:
            stack.append(_opened(token) if len(stack) < _MOST_NESTED else [_TRANSPARENT, ""])
        elif token.nesting < 0:
            closed = stack.pop()
            if closed[0] == _TRANSPARENT:
                stack[-1].extend(closed[2:])
            else:
                stack[-1].append(closed)
        elif (node := _single(token)) != "":
            stack[-1].append(node)
    found: list[Node] = stack[0][2:]
    return found


def _opened(token: Token) -> Node:
    """Return an element without its children."""
    if token.hidden:
        return [_TRANSPARENT, ""]
    if token.type == "heading_open":
        return ["h" + str(min(int(token.tag[1:]) + _LEVELS_ABOVE, _MOST_LEVEL)), ""]
    if token.type == "ordered_list_open":
        first = token.attrs.get("start", 1)
        return ["ol", str(first) if isinstance(first, int) and first <= _MOST_FIRST else ""]
    if token.type in {"td_open", "th_open"}:
        align = str(token.attrs.get("style", "")).removeprefix("text-align:")
        return [_BLOCKS[token.type], align if align in {"center", "right"} else ""]
    return [_BLOCKS.get(token.type) or _INLINE.get(token.type) or "span", ""]


def _single(token: Token) -> Node:
    """Return the node of a token that has no end. An entity has become a character by now."""
    match token.type:
        case "fence" | "code_block":
            family = family_named(token.info.strip().partition(" ")[0])
            return element("pre", coloured("code", family), text(token.content.rstrip("\n")))
        case "code_inline":
            return element("code", "", safe_line(token.content))
        case "hr":
            return element("hr", "")
        case "hardbreak":
            return element("br", "")
        case "softbreak":
            return text("\n")
        case "image":
            address = safe_line(str(token.attrs.get("src", "")))
            return element("span", "image", f"image: {safe_line(token.content)} ({address})")
    return text(token.content)
