"""The page of every recording works in a browser, and does nothing but show the session."""

from pathlib import Path

import pytest

from tests.builders.captures import OURS
from tests.builders.exports.attacks import ATTACKS, MIXED, attacked, run_with
from tests.builders.formats.samples import of_a_format
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.browser.page import Page
from tests.output.export.html.browser.conftest import Opener
from tests.output.export.html.browser.inert import check_inert, check_still_there

MOST_CALLS = 8
TOGETHER = 12
"""How many runs, each with another text, are on one page."""
COUNT = "Number(document.getElementById('calls').getAttribute('aria-rowcount'))"


def of_each() -> dict[str, bytes]:
    """Return a short sample of each format."""
    found = sorted(of_a_format(OURS), key=lambda each: -len(each[1]))
    return {name: data for _, data, name in found}


def tour(page: Page, most_calls: int = MOST_CALLS) -> None:
    """Open calls and thoughts, search, filter, wrap and print, by the keys of the page."""
    for _ in range(min(int(page.evaluate(COUNT)), most_calls)):
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


@pytest.mark.system
@pytest.mark.slow
def test_a_recording_is_shown(opened: Opener) -> None:
    """The page of the demo does not complain, asks for nothing and has no element of the agent."""
    tour(opened(RECORDINGS / "demo.ndjson"))


@pytest.mark.system
def test_every_recording_is_shown(opened: Opener, recording: Saver) -> None:
    """No page complains, asks for anything or has an element of the agent, whatever is opened in it."""
    paths = sorted(RECORDINGS.glob("*.ndjson"))
    assert paths
    for path in paths:
        with case(path):
            tour(opened(path))
    # The same holds for the page of each agent.
    for name, data in of_each().items():
        with case(name):
            tour(opened(recording(data)))


@pytest.mark.system
def test_a_text_in_every_field_does_nothing(opened: Opener, recording: Saver) -> None:
    """A hostile text in any field of a run is shown as text, with scripts and without."""
    # All hostile texts in each field of a session are shown as text, with scripts and without.
    check_attack(opened, recording(*run_with(MIXED)))
    for first in range(0, len(ATTACKS), TOGETHER):
        names = [*ATTACKS][first : first + TOGETHER]
        with case(names):
            lines = [line for name in names for line in run_with(ATTACKS[name])]
            check_attack(opened, recording(*lines), len(names))
    # All texts at once, in each field of a recording of each agent, do nothing.
    for name, data in of_each().items():
        with case(name):
            page = opened(recording(*attacked(data, MIXED)))
            tour(page)
            check_still_there(page)


def check_attack(opened: Opener, path: Path, runs: int = 1) -> None:
    """Check that the page of a recording with hostile texts shows them, and does nothing."""
    page = opened(path)
    calls = page.evaluate(COUNT)
    assert calls >= 6 * runs
    tour(page, calls)
    check_still_there(page)
    page = opened(path, scripts=False)
    check_inert(page)
    check_still_there(page)
