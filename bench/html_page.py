"""How fast is the exported page of a large session, and how much memory does it take in a browser?

A child runs `agentwatch export --to html --raw`. The page is opened from the disk in a headless Chromium,
by the driver of the tests. Measured there, in real time: until the page is ready; until a call that was
chosen by its link shows its content, the slowest of six; until a search of all contents has ended. Memory is
measured after that: the JavaScript heap after collecting garbage, and all processes of the browser. Without
Chromium only the export is measured.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from measure import AGENTWATCH, HERE, command_line, head, megabytes, row, run, session

sys.path.insert(0, str(HERE.parent))

from tests.harness.browser.chromium import needed, started
from tests.harness.browser.page import Page, opened

_MIXES = ("typical", "calls", "deltas")
_READY = "document.documentElement.dataset.ready"
_STATUS = "document.querySelector('form[role=search] [role=status]').textContent"
_CALLS = "Number(document.getElementById('calls').getAttribute('aria-rowcount'))"
_OPENED = """new Promise((resolve) => {
    const began = performance.now();
    location.hash = "#%d";
    const check = () => {
        const body = document.querySelector('article[data-call="%d"] .body');
        if (body && body.firstChild && !body.hasAttribute("aria-busy")) resolve(performance.now() - began);
        else requestAnimationFrame(check);
    };
    requestAnimationFrame(check);
})"""
_FOUND = """new Promise((resolve) => {
    const field = document.getElementById("find"), began = performance.now();
    STATUS = "";
    field.focus();
    field.value = %r;
    field.dispatchEvent(new Event("input"));
    const check = () => {
        if (/place|nothing/.test(STATUS) && !STATUS.includes("%%")) resolve(performance.now() - began);
        else setTimeout(check, 5);
    };
    setTimeout(check, 5);
})""".replace("STATUS", _STATUS)
_WORDS = {"a word that is nowhere": "nowherezzz", "a frequent word": "return"}
_SHARES = (0.99, 0.5, 0.01, 0.8, 0.3, 0.65)


def main() -> None:
    """Measure each mix."""
    parser = command_line(__doc__)
    parser.add_argument("--megabytes", type=float, default=100.0)
    given = parser.parse_args()
    size = 2.0 if given.smoke else given.megabytes
    given.folder.mkdir(parents=True, exist_ok=True)
    head(
        "mix",
        "recording",
        "page",
        "export",
        "CPU",
        "memory",
        "ready",
        "a call",
        *_WORDS,
        "heap",
        "elements",
        "browser",
    )
    for mix in _MIXES[:1] if given.smoke else _MIXES:
        path, _ = session(given.folder, mix, megabytes=size)
        page = given.folder / f"{path.stem}.html"
        cost = run([*AGENTWATCH, "export", str(path), "--to", "html", "--raw", "--force", "-o", str(page)])
        cells = [mix, megabytes(path.stat().st_size), megabytes(page.stat().st_size)]
        cells += [f"{cost.wall:.1f} s", f"{cost.cpu:.1f} s", megabytes(cost.peak_bytes)]
        row(*cells, *_in_browser(page))


def _in_browser(path: Path) -> list[str]:
    """Return the figures of a page in a browser, as cells of the table."""
    try:
        needed()
    except pytest.skip.Exception:
        return ["no Chromium"] * (5 + len(_WORDS))
    with started() as browser, opened(browser) as page:
        page.set_size(1280, 900)
        began = time.perf_counter()
        page.open(path)
        page.wait_for(_READY)
        ready = time.perf_counter() - began
        calls = page.evaluate(_CALLS)
        slowest = max(
            (_ms(page, _OPENED % ((max(int(calls * share), 1),) * 2)) for share in _SHARES), default=0
        )
        found = [f"{_ms(page, _FOUND % words) / 1000:.1f} s" for words in _WORDS.values()]
        figures = page.figures()
        elements = page.evaluate("document.querySelectorAll('*').length")
        return [
            f"{ready:.2f} s",
            f"{slowest:.0f} ms",
            *found,
            megabytes(figures["JSHeapUsedSize"]),
            f"{elements:,}",
            megabytes(browser.resident_bytes()),
        ]


def _ms(page: Page, expression: str) -> float:
    milliseconds: float = page.evaluate(expression)
    return milliseconds


if __name__ == "__main__":
    main()
