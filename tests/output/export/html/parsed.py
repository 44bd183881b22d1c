"""Reads an exported page as a browser does, and returns what it is made of."""

import base64
import gzip
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, NamedTuple

from agentwatch.output.export.html.content import TAGS

OWN_TAGS = TAGS | {
    "body",
    "h1",
    "h2",
    "head",
    "header",
    "html",
    "link",
    "main",
    "meta",
    "noscript",
    "script",
    "section",
    "style",
    "time",
    "title",
}
"""The elements that a page may have before its script runs."""
ATTRIBUTES = {
    "aria-label",
    "charset",
    "class",
    "content",
    "data-filter",
    "href",
    "http-equiv",
    "id",
    "lang",
    "name",
    "rel",
    "role",
    "start",
    "target",
    "type",
}
"""Their attributes: none of them runs, loads or styles anything."""
_EMPTY = {"br", "hr", "link", "meta"}


class Element(NamedTuple):
    """A start tag."""

    tag: str
    attributes: dict[str, str | None]


class Page(HTMLParser):
    """The elements of a page, the texts of its scripts and styles, and its visible text."""

    def __init__(self, data: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.raw: list[tuple[Element, str]] = []
        """The scripts and styles with their texts."""
        self.text = ""
        self.open: list[str] = []
        """The elements that are open; empty at the end of a page whose elements are balanced."""
        self.others: list[str] = []
        """Comments and declarations."""
        self.feed(data.decode("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        assert len(attrs) == len(dict(attrs)), f"{tag} has an attribute twice"
        element = Element(tag, dict(attrs))
        self.elements.append(element)
        if tag not in _EMPTY:
            self.open.append(tag)
        if tag in {"script", "style"}:
            self.raw.append((element, ""))

    def handle_endtag(self, tag: str) -> None:
        """Note the end of an element, which must be the innermost that is open."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note text."""
        if self.open and self.open[-1] in {"script", "style"}:
            element, before = self.raw[-1]
            self.raw[-1] = element, before + data
        else:
            self.text += data

    def handle_comment(self, data: str) -> None:
        """Note a comment; a page has none."""
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        """Note the declaration."""
        self.others.append(decl)

    @property
    def script(self) -> str:
        (found,) = [text for element, text in self.raw if element == Element("script", {})]
        return found

    @property
    def style(self) -> str:
        (found,) = [text for element, text in self.raw if element.tag == "style"]
        return found

    def data(self, name: str) -> list[Any]:
        """Return the values of the data scripts of a class."""
        return [json.loads(text) for element, text in self.raw if element.attributes.get("class") == name]

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the page, in order."""
        return [row for piece in self.data("rows") for row in piece]

    def chunks(self) -> dict[int, list[Any]]:
        """Return the contents by the number of their chunk, as the script reads them."""
        return {number: [json.loads(line) for line in data.split("\n")] for number, data in self._chunks()}

    def content(self, row: dict[str, Any]) -> list[Any]:
        found: list[Any] = self.chunks()[row["c"]][row["s"]] if "c" in row else []
        return found

    def _chunks(self) -> Iterator[tuple[int, str]]:
        for element, text in self.raw:
            name = element.attributes.get("id") or ""
            if name.startswith("chunk-"):
                is_packed = element.attributes["type"] == "text/plain"
                data = gzip.decompress(base64.b64decode(text, validate=True)).decode() if is_packed else text
                yield int(name.removeprefix("chunk-")), data


def check_inert(page: Page) -> None:
    """Check that a page has only elements and attributes of its own, and that nothing of it is loaded."""
    assert {element.tag for element in page.elements} <= OWN_TAGS
    assert {name for element in page.elements for name in element.attributes} <= ATTRIBUTES
    assert page.others == ["doctype html"]
    assert page.open == []
    for element in page.elements:
        href = element.attributes.get("href")
        if element.tag == "a":
            assert href is not None
            assert href.startswith(("http://", "https://", "#"))
        elif element.tag == "link":
            assert element.attributes == {"rel": "icon", "href": "data:,"}
        else:
            assert href is None


def check_nodes(nodes: list[Any]) -> None:
    """Check that contents consist of nodes as the script builds them."""
    for node in nodes:
        if isinstance(node, str):
            continue
        tag, detail, *children = node
        assert tag in TAGS
        assert isinstance(detail, str)
        assert tag != "a" or detail.startswith(("http://", "https://"))
        check_nodes(children)
