"""The page of every recording works in a browser, and does nothing but show the session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.exports.attacks import ATTACKS, MIXED, attacked, run_with
from tests.builders.formats.samples import OF_A_FORMAT
from tests.conftest import RECORDINGS, Saver
from tests.exports.html.browser.conftest import Opener
from tests.exports.html.browser.inert import check_inert, check_still_there
from tests.harness.browser.page import Page

MOST_CALLS = 8
OF_EACH = {name: data for _, data, name in sorted(OF_A_FORMAT, key=lambda each: -min(len(each[1]), 60_000))}
"""A short sample of each format."""
COUNT = "Number(document.getElementById('calls').getAttribute('aria-rowcount'))"


def tour(page: Page) -> None:
    """Open calls and thoughts, search, filter, wrap and print, by the keys of the page."""
    calls = min(int(page.evaluate(COUNT)), MOST_CALLS)
    for _ in range(calls):
        page.press("J")
        page.wait_for("!document.querySelector('[aria-busy]')")
        check_inert(page)
    page.press("t", "w", "g", "G", "e", "/", *"pwned", "Enter")
    page.wait_for("!document.querySelector('[aria-busy]')")
    check_inert(page)
    page.press("Escape", "f", *"constructor", "Enter", "Escape", "?", "Escape")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    check_inert(page)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    check_inert(page)


@pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*.ndjson")), ids=lambda path: path.stem)
def test_every_recording_is_shown(opened: Opener, path: Path) -> None:
    """No page complains, asks for anything or has an element of the agent, whatever is opened in it."""
    tour(opened(path))


@pytest.mark.parametrize("name", OF_EACH)
def test_every_format_is_shown(opened: Opener, recording: Saver, name: str) -> None:
    """The same holds for the page of each agent."""
    tour(opened(recording(OF_EACH[name])))


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS)
def test_a_text_in_every_field_does_nothing(opened: Opener, recording: Saver, text: str) -> None:
    """A hostile text in any field of a session is shown as text, with scripts and without."""
    path = recording(*run_with(text))
    page = opened(path)
    assert page.evaluate(COUNT) >= 6
    tour(page)
    check_still_there(page)
    page = opened(path, scripts=False)
    check_inert(page)
    check_still_there(page)


@pytest.mark.parametrize("name", OF_EACH)
def test_hostile_lines_of_every_format_do_nothing(opened: Opener, recording: Saver, name: str) -> None:
    """All texts at once, in each field of a recording of each agent, do nothing."""
    page = opened(recording(*attacked(OF_EACH[name], MIXED)))
    tour(page)
    check_still_there(page)
