"""A browser for all tests of a folder, and functions that open the page of a recording in it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentwatch.output.export.html.page import EXPORTER
from tests.builders.exports.opened import RAW, written
from tests.harness.browser import page as pages
from tests.harness.browser.chromium import Chromium, started
from tests.harness.browser.page import Page

READY = "document.documentElement.dataset.ready"
Opener = Callable[..., Page]
"""The type of the fixture `opened`: a function that exports a recording and opens its page."""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    with started() as browser:
        yield browser


@pytest.fixture
def page(chromium: Chromium) -> Iterator[Page]:
    """An empty page of it, at a desk."""
    with pages.opened(chromium) as page:
        page.set_size(1280, 900)
        yield page


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Opener:
    """Return a function that exports a recording, and opens its page."""

    def open_page(recording: Path, fragment: str = "", *, scripts: bool = True) -> Page:
        path = tmp_path / "page.html"
        path.write_bytes(written(EXPORTER, recording, RAW))
        page.set_scripts(run=scripts)
        page.open(path, fragment)
        if scripts:
            page.wait_for(READY)
        return page

    return open_page
