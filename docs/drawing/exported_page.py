"""Draws the pictures of the exported page: PNG files of what Chromium shows of the bundled demo."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from agentwatch.base.files import resource
from tests.harness.browser.chromium import needed, started
from tests.harness.browser.page import opened

_READY = "document.documentElement.dataset.ready"
_CALL_IS_SHOWN = "document.querySelector('article.selected .body:not([aria-busy])')?.firstChild"


class Picture(NamedTuple):
    """A picture: the size of the window in CSS pixels, the colours, and the call that is open."""

    size: tuple[int, int]
    colours: str
    call: int | None = None


PICTURES = {
    "page-1440x900": Picture((1440, 900), "dark", 8),
    "page-phone": Picture((390, 844), "light"),
}


def has_chromium() -> bool:
    """Return whether the pictures can be drawn here."""
    try:
        return bool(needed())
    except pytest.skip.Exception:
        return False


def draw(name: str, path: Path) -> None:
    """Export the demo, open it in a headless Chromium, and save what is in sight as a PNG file."""
    picture = PICTURES[name]
    with tempfile.TemporaryDirectory() as folder, started() as browser, opened(browser) as page:
        html = Path(folder) / "demo.html"
        recording = resource("recordings") / "demo.ndjson"
        command = ["export", str(recording), "--to", "html", "-o", str(html)]
        subprocess.run([sys.executable, "-m", "agentwatch", *command], stderr=subprocess.DEVNULL, check=True)
        page.set_size(*picture.size)
        page.set_colours(picture.colours)
        page.open(html, "" if picture.call is None else f"#{picture.call}")
        page.wait_for(_READY)
        if picture.call is not None:
            page.wait_for(_CALL_IS_SHOWN)
        page.picture(path)
