"""Nodes: the content of the page, as data that becomes markup here and DOM nodes in the page's script.

A node is a text or a list `[tag, detail, *children]`. The detail is the class of the element; of a link its
address, of a numbered list its first number. Only the tags in `TAGS` exist. The script builds the same
elements from the same lists, and has the same tags.

This is the only module that writes markup, so it is the only one that escapes text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from agentwatch.text.safe import SafeText, safe_line, safe_text

Node = Any
"""A `SafeText`, or a list of a tag, a detail and nodes, for which mypy has no type."""

TAGS = frozenset(
    (
        "a",
        "blockquote",
        "br",
        "code",
        "dd",
        "del",
        "details",
        "div",
        "dl",
        "dt",
        "em",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "span",
        "strong",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    )
)
_EMPTY = frozenset(("br", "hr"))
_ADDRESS = re.compile(r"https?://[^\s\x00-\x1f\x7f]{1,2000}\Z", re.IGNORECASE)
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escaped(text: str) -> str:
    """Return text as it is written into markup, between tags or as the value of an attribute.

    Example:
        >>> escaped('<b a="1">')
        '&lt;b a=&quot;1&quot;&gt;'
    """
    return safe_text(text).translate(_ESCAPES)


def element(tag: str, detail: str, *children: Node) -> Node:
    """Return an element; `detail` is its class, and must not come from the recording."""
    assert tag in TAGS
    return [tag, detail, *children]


def link(address: str, *children: Node) -> Node:
    """Return a link. An address that is not of the web becomes text after the children."""
    shown = safe_line(address.strip())
    if _ADDRESS.match(shown) is None:
        return element("span", "", *children, *([element("span", "address", f" ({shown})")] if shown else []))
    if "".join(texts(children)).strip() == shown:
        return ["a", shown, *children]
    return element("span", "", ["a", shown, *children], element("span", "address", f" ({shown})"))


def text(foreign: str) -> SafeText:
    """Return foreign text as a node."""
    return safe_text(foreign)


def texts(nodes: Iterable[Node]) -> Iterator[str]:
    """Yield the texts in nodes, in order."""
    for node in nodes:
        if isinstance(node, str):
            yield node
        else:
            yield from texts(node[2:])


def markup(nodes: Iterable[Node]) -> str:
    """Return nodes as HTML.

    Example:
        >>> markup([element("p", "note", text("1 < 2"))])
        '<p class="note">1 &lt; 2</p>'
    """
    return "".join(_pieces(nodes))


def _pieces(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield escaped(node)
            continue
        tag, detail, *children = node
        yield f"<{tag}{_attribute(tag, detail)}>"
        if tag not in _EMPTY:
            yield from _pieces(children)
            yield f"</{tag}>"


def _attribute(tag: str, detail: str) -> str:
    if tag == "a":
        return f' href="{escaped(detail)}" rel="noreferrer noopener" target="_blank"'
    if not detail:
        return ""
    return f' {"start" if tag == "ol" else "class"}="{escaped(detail)}"'
