"""The browser of the tests sees what a page does: its errors, requests and violations of its policy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import case
from tests.harness.browser import chromium
from tests.harness.browser.chromium import ProtocolError, started
from tests.harness.browser.page import Page, opened
from tests.output.export.html.browser.inert import check_inert

POLICY = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
COMPLAINTS = {
    "<script>throw new Error('odd')</script>": "odd",
    "<script>console.error('odd')</script>": "odd",
    f"{POLICY}<script>window.pwned = 1</script>": "policy: script-src-elem inline",
    f"{POLICY}<p style='color:red'>": "policy: style-src-attr inline",
    f"{POLICY}<img src=https://a.example/x.png>": "policy: img-src https://a.example/x.png",
    "<img src=missing.png>": "ERR_FILE_NOT_FOUND",
}


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with started() as browser, opened(browser) as page:
        yield page


def shown(page: Page, folder: Path, markup: str) -> Page:
    """Open a page with this markup."""
    path = folder / "page.html"
    path.write_text(f"<!doctype html><title>t</title>{markup}")
    page.open(path)
    return page


@pytest.mark.system
def test_complaints_and_requests_are_seen(page: Page, tmp_path: Path) -> None:
    """Errors of scripts, of the policy and of loading are complaints, and such a page is not inert.

    Each address that the page asks for is noted, but not its own. A page that does nothing is not accused.
    """
    for markup, words in COMPLAINTS.items():
        with case(markup):
            complaints = shown(page, tmp_path, markup).complaints()
            assert any(words in each for each in complaints), complaints
            with pytest.raises(AssertionError):
                check_inert(page)
    for markup in ("<img src=x.png>", "<link rel=stylesheet href=https://a.example/a.css>"):
        with case(markup):
            assert shown(page, tmp_path, markup).requests() != []
            harmless = shown(page, tmp_path, "<h1>x</h1>")
            assert harmless.requests() == harmless.complaints() == []


@pytest.mark.system
def test_keys_reach_the_page(page: Page, tmp_path: Path) -> None:
    """Characters, named keys and keys with shift arrive as a keyboard sends them."""
    listing = "<input autofocus><script>keys=[];onkeydown=(e)=>keys.push(`${e.shiftKey}${e.key}`)</script>"
    shown(page, tmp_path, listing)
    page.press("a", "J", "Enter", "Shift+Tab", "Escape", "/")
    assert page.evaluate("keys") == ["falsea", "trueJ", "falseEnter", "trueTab", "falseEscape", "false/"]


@pytest.mark.system
def test_scripts_can_be_forbidden(page: Page, tmp_path: Path) -> None:
    """Without scripts, what is for readers without scripts is shown."""
    page.set_scripts(run=False)
    try:
        shown(page, tmp_path, "<noscript><h2>none</h2></noscript><script>document.title='ran'</script>")
        assert [(node.role, node.name) for node in page.tree()][:2] == [
            ("RootWebArea", "t"),
            ("heading", "none"),
        ]
    finally:
        page.set_scripts(run=True)


@pytest.mark.system
def test_a_wait_ends(page: Page, tmp_path: Path) -> None:
    """A condition that does not come true fails the test in time."""
    shown(page, tmp_path, "<p>x")
    with pytest.raises(AssertionError, match=r"document\.title"):
        page.wait_for("document.title === 'never'", 0.05)
    with pytest.raises(ProtocolError, match="wasn't found"):
        page.send("Page.doesNotExist")


def test_a_missing_browser_fails_only_where_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Chromium, tests are skipped; with AGENTWATCH_CHROMIUM=required they fail."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("AGENTWATCH_CHROMIUM", raising=False)
    with pytest.raises(pytest.skip.Exception):
        chromium.needed()
    monkeypatch.setenv("AGENTWATCH_CHROMIUM", "required")
    with pytest.raises(pytest.fail.Exception):
        chromium.needed()
