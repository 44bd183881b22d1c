"""Checks that a page does nothing but show a session."""

import re

from tests.harness.browser.page import Page

ELEMENTS = {
    *("html", "head", "title", "meta", "link", "style", "script", "noscript", "body"),
    *("header", "main", "nav", "section", "article", "aside", "footer", "search", "form", "dialog", "div"),
    *(
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "pre",
        "blockquote",
        "hr",
        "br",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
    ),
    *(
        "table",
        "caption",
        "colgroup",
        "col",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
        "td",
        "details",
        "summary",
    ),
    *(
        "a",
        "b",
        "i",
        "s",
        "u",
        "em",
        "strong",
        "small",
        "sub",
        "sup",
        "del",
        "mark",
        "code",
        "kbd",
        "span",
        "time",
    ),
    *("button", "input", "label", "canvas"),
}
"""What a page may consist of. No text of a session makes an image, a frame or a form."""
_SEEN = """(() => {
    const all = [...document.querySelectorAll("*")];
    const ids = all.map((each) => each.id).filter(Boolean);
    const loading = "[href], [src], [action], [srcset], [xlink\\\\:href]";
    const addressOf = (each) => each.getAttribute("href") ?? each.getAttribute("src");
    return {
        names: [...new Set(all.map((each) => each.localName))],
        handlers: all.flatMap((each) => each.getAttributeNames().filter((name) => /^on/i.test(name))),
        links: [...document.querySelectorAll(loading)].map(
            (each) => [each.localName, addressOf(each), each.getAttribute("rel")]),
        pwned: typeof window.pwned,
        polluted: ({}).polluted !== undefined || Object.keys(Object.prototype).length > 0,
        forms: [...document.forms].filter((form) => form.hasAttribute("action")).length,
        scripts: document.querySelectorAll("script:not([type])").length,
        styleSheets: document.querySelectorAll("style").length,
        twice: ids.length - new Set(ids).size,
    };
})()"""
_LINK = re.compile(r"https?://|#\d+$|#transcript$|#main$")


def check_inert(page: Page) -> None:
    """Check that a page asks for nothing, runs only its own script, and has no element of the agent."""
    complaints, requests, seen = page.complaints(), page.requests(), page.evaluate(_SEEN)
    assert not complaints, complaints
    assert not requests, requests
    assert set(seen["names"]) <= ELEMENTS, set(seen["names"]) - ELEMENTS
    assert seen["pwned"] == "undefined"
    assert not seen["polluted"]
    assert (seen["handlers"], seen["forms"], seen["scripts"], seen["styleSheets"]) == ([], 0, 1, 1)
    assert seen["twice"] == 0
    for name, address, relation in seen["links"]:
        if name == "link":
            assert (address, relation) == ("data:,", "icon")
            continue
        assert name == "a"
        assert _LINK.match(address), address
        if address.startswith("http"):
            assert relation == "noreferrer noopener"
    assert "childFrames" not in page.send("Page.getFrameTree")["frameTree"]


def check_still_there(page: Page) -> None:
    """Check that the page has opened no other page, and is the one that was opened."""
    targets = page.browser.send("Target.getTargets")["targetInfos"]
    addresses = [
        each["url"] for each in targets if each["type"] == "page" and each["targetId"] == page.target
    ]
    assert [address.partition("#")[0] for address in addresses] == [page.address]
    assert all("evil.example" not in each["url"] for each in targets)
