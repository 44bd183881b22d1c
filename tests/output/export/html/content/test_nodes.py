"""Nodes: the elements of the contents, and the one place that escapes text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.output.export.html.content import element, escaped, link, markup, text, texts
from agentwatch.text.safe import safe_text
from tests.conftest import case


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: list[str] = []

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.text += f"[{dict(attrs).get('class')}]"


@given(st.text(alphabet=st.characters()), st.text())
def test_markup_is_read_back_as_the_same_text(foreign: str, detail: str) -> None:
    """Any text between tags and in an attribute is read back as its safe text, and adds no element."""
    page = _Texts()
    page.feed(markup([element("p", f"x{detail}", text(foreign))]))
    page.close()
    assert page.tags == ["p"]
    assert page.text == f"[x{safe_text(detail)}]{safe_text(foreign)}"


def test_only_known_elements_exist() -> None:
    """An element that the script of the page cannot build is refused."""
    with pytest.raises(AssertionError):
        element("script", "", text("alert(1)"))


def test_an_element_without_content_has_no_end() -> None:
    """A line break and a rule have no end tag."""
    assert markup([element("p", "", "a", element("br", ""), "b"), element("hr", "")]) == "<p>a<br>b</p><hr>"


def test_the_first_number_of_a_list_is_kept() -> None:
    """The detail of a numbered list is its first number."""
    assert markup([element("ol", "3", element("li", "", "c"))]) == '<ol start="3"><li>c</li></ol>'


ADDRESSES: list[str] = ["https://example.org/a?b=1&c=%20", "http://localhost:8000/", "HTTPS://X.Y"]


def test_a_link_shows_its_address() -> None:
    """A link of the web leads to its address, which follows its text unless it is its text."""
    for address in ADDRESSES:
        with case(address):
            named = markup([link(address, text("here"))])
            shown = escaped(address)
            opening = f'<a href="{shown}" rel="noreferrer noopener" target="_blank">'
            assert named == f'<span>{opening}here</a><span class="address"> ({shown})</span></span>'
            assert markup([link(address, text(address))]) == f"{opening}{shown}</a>"


OTHER: list[str] = [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "https:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "//example.org/",
    "../../secret",
    "mailto:a@example.org",
    "https://example.org/\u202egnp.exe\x00",
    "https://",
    "https://a b",
    "https://x" + "y" * 3000,
]


def test_another_address_is_text() -> None:
    """An address that is not of the web, or that hides what it is, does not become a link."""
    for address in OTHER:
        with case(address):
            shown = markup([link(address, text("here"))])
            assert "<a" not in shown or "\u202e" not in shown
            assert "javascript:" not in shown.split("<a", 1)[-1].split(">", 1)[0]
            if "example.org/\u202e" not in address:
                assert "<a" not in shown
                assert "here" in shown


def test_texts_are_those_of_all_elements() -> None:
    """The texts of nodes are those that a reader sees, in order."""
    nodes = [element("p", "x", "a", element("em", "", "b"), "c"), "d"]
    assert "".join(texts(nodes)) == "abcd"
