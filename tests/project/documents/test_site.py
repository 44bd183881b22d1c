"""The site of the documents is built offline, loads nothing from elsewhere, and has no broken link."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.system

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
"""The attributes whose addresses a browser loads; `link` loads too, and `a` only when it is followed."""
_ELSEWHERE = re.compile(r"(?:[a-z]+:)?//|data:text", re.IGNORECASE)
_CSS_LOADS = re.compile(r"@import[^;]{0,200}|url\(\s*['\"]?([^)'\"]{0,200})")


class Page(HTMLParser):
    """What a page of the site loads, links to and names."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.images_without_words: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the attributes of an element that matter."""
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        if tag in LOADED and LOADED[tag] in given:
            self.loaded.append(given[LOADED[tag]])
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(given.get("href", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "img" and not given.get("alt"):
            self.images_without_words.append(given.get("src", ""))
        self.loaded += _in_css(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Note what a stylesheet in the page loads."""
        if self.cdata_elem == "style":
            self.loaded += _in_css(data)


class Site(NamedTuple):
    """The site that was built."""

    folder: Path
    pages: dict[Path, Page]
    printed: str


def _in_css(text: str) -> Iterator[str]:
    for found in _CSS_LOADS.finditer(text):
        address = found[1] if found[1] is not None else found[0]
        if not address.startswith(("data:image/", "#")):
            yield address


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site, built by the command that the README names from a copy of the sources."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("site", ".cache"))
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "-f", "docs/zensical.toml"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    made = folder / "docs" / "site"
    pages = {path.relative_to(made): Page(path) for path in made.rglob("*.html")}
    return Site(made, pages, built.stdout + built.stderr)


def test_what_a_page_loads_is_in_the_site(site: Site) -> None:
    """The build warns of nothing. Each script, style, font and image is a file of the site, and has words."""
    assert "No issues found" in site.printed, site.printed
    loaded = [(page, address) for page in site.pages.values() for address in page.loaded]
    named = [(page, address) for page, address in loaded if not address.startswith(("data:", "#"))]
    assert len(named) > 100
    assert [(str(page.path), each) for page, each in named if not target(site, page, each).is_file()] == []
    addresses = [(page.path, address) for page, address in loaded]
    for sheet in site.folder.rglob("*.css"):
        addresses += [(sheet, address) for address in _in_css(sheet.read_text())]
    for picture in site.folder.rglob("*.svg"):
        text = picture.read_text()
        addresses += [(picture, address) for address in _in_css(text)]
        addresses += [(picture, address) for address in re.findall(r"(?:href|src)=\"([^\"]*)\"", text)]
    assert [each for each in addresses if _ELSEWHERE.match(each[1].strip())] == []
    assert [(name, each) for name, page in site.pages.items() for each in page.images_without_words] == []


def test_every_page_is_linked_and_rendered(site: Site) -> None:
    """Each link within the site leads to a page of it, and to a place of that page."""
    wrong = []
    for name, page in site.pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, place = link.partition("#")
            found = target(site, page, path) if path else page.path
            if found.is_dir():
                found /= "index.html"
            names = site.pages[found.relative_to(site.folder)].names if found.suffix == ".html" else set()
            if not found.is_file() or (place and unquote(place) not in names | {"__skip"}):
                wrong.append((str(name), link))
    assert wrong == []
    # Every list, table and heading of a page is rendered, not shown as Markdown.
    assert len(site.pages) > 20
    for page in site.pages.values():
        text = re.sub(r"<pre\b.*?</pre>", "", page.path.read_text(), flags=re.DOTALL)
        assert "\\|" not in text, page.path
        prose = re.sub(r"<code\b.*?</code>", "", text, flags=re.DOTALL)
        typed = re.findall(r"^(?:<p>)?(?:[-*] |\|[ -]|#+ |> |=== |!!! |::: ).*", prose, re.MULTILINE)
        assert typed == [], page.path
    # The navigation has each page of the documents once, and only those.
    sources = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    named = re.findall(r'"([^"]+\.md)"', (ROOT / "docs" / "zensical.toml").read_text())
    assert sorted(path.as_posix() for path in sources) == sorted(named)
    assert {Path(name).with_suffix(".html") for name in named} | {Path("404.html")} == site.pages.keys()


def target(site: Site, page: Page, address: str) -> Path:
    """Return the file to which an address of a page leads."""
    path = unquote(address.partition("?")[0].partition("#")[0])
    if path.startswith("/"):
        return site.folder / path.lstrip("/")
    return (page.path.parent / path).resolve()
