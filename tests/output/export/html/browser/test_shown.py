"""What the page shows: by keyboard, to a screen reader, without scripts, on paper and on a phone."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.builders.lines import completed, final, init, result, started, user
from tests.conftest import RECORDINGS, Saver
from tests.harness.browser.page import Node, Page
from tests.output.export.html.browser.conftest import Opener
from tests.output.export.html.browser.inert import check_inert

pytestmark = pytest.mark.system

DEMO = RECORDINGS / "demo.ndjson"
TITLE = "test_nearest_low_just_past in tests/test_nearest.py fails"
FILLED = "!document.querySelector('[aria-busy]')"
OPEN = """[...document.querySelectorAll("article[data-call] .line[aria-expanded=true]")].map(
    (each) => Number(each.closest("article").dataset.call))"""
SIXTH = "document.querySelector('[data-call=\"6\"]')"
FOUND = "document.querySelector('form[role=search] [role=status]').textContent"
FOCUSED = "document.activeElement.closest('article')?.dataset.call ?? document.activeElement.id"


def named(page: Page, role: str) -> list[Node]:
    """Return the nodes of a role in the accessibility tree."""
    return [node for node in page.tree() if node.role == role]


def test_a_link_to_a_call_opens_it(opened: Opener) -> None:
    """`page.html#6` shows the sixth call, open and in sight."""
    page = opened(DEMO, "#6")
    page.wait_for(FILLED)
    assert page.evaluate(OPEN) == [6]
    top, bottom = page.evaluate(f"(({{top, bottom}}) => [top, bottom])({SIXTH}.getBoundingClientRect())")
    assert top < 900
    assert bottom > 0
    assert "1 failed, 8 passed in 8.17s" in page.evaluate(f"{SIXTH}.innerText")
    # If the fragment of the address changes, the other call is opened.
    page.evaluate("location.hash = '#13'")
    page.wait_for(f"{OPEN}.includes(13)")
    assert page.evaluate(FOCUSED) == "13"
    # A number that no call has, and other words, open nothing.
    for fragment in ("#99", "#0", "#x", "#6x", "#__proto__"):
        page = opened(DEMO, fragment)
        assert page.evaluate(OPEN) == []
        assert page.complaints() == []


def test_the_keys_of_the_screen_work(opened: Opener) -> None:
    """Calls, failures, entries, the search and the filter are reached by the keys of the screen."""
    page = opened(DEMO)
    page.press("J", "J", "K")
    assert (page.evaluate(OPEN), page.evaluate("location.hash")) == ([1], "#1")
    page.press("e")
    page.wait_for(f"{OPEN}.includes(6)")
    page.press("/", *"timedelta", "Enter")
    page.wait_for(f"{FOUND}.includes(' of ')")
    first = page.evaluate(FOUND)
    page.press("Escape", "/", *"timedelta", "Enter", "Enter")
    page.wait_for(f"{FOUND} !== {first!r}")
    page.press("Escape", "f", *"failed", "Enter")
    page.wait_for("document.querySelector('#calls').getAttribute('aria-rowcount') === '1'")
    page.press("Escape", "f", "Escape")
    page.wait_for("document.querySelector('#calls').getAttribute('aria-rowcount') === '14'")
    check_inert(page)
    # `?` opens a dialog with the keys, which takes the focus; esc closes it and returns the focus.
    page = opened(DEMO)
    page.press("J", "?")
    dialog = named(page, "dialog")
    assert [node.name for node in dialog] == ["Keys"]
    keys = page.evaluate("[...document.querySelectorAll('dialog kbd')].map((each) => each.textContent)")
    assert {"j", "k", "J", "K", "e", "E", "/", "n", "N", "f", "?", "enter", "esc"} <= set(keys)
    page.press("Escape")
    assert page.evaluate("document.querySelector('dialog[open]') === null")
    assert page.evaluate(FOCUSED) == "1"


def test_the_page_is_used_by_keyboard_alone(opened: Opener) -> None:
    """Tab reaches everything that acts, and each has a visible focus; Enter opens a call and folds it."""
    page = opened(DEMO)
    seen: list[str] = []
    for _ in range(20):
        page.press("Tab")
        name = page.evaluate(
            "(({ariaLabel, textContent, id}) => ariaLabel || id || textContent)(document.activeElement)"
        )
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none" or page.evaluate("document.activeElement === document.body"), name
        seen.append(name)
    assert seen[0] == "Skip to the transcript"
    wanted = ("Search everything", "Next match", "Next failure", "Thinking", "Wrap", "Keys", "Calls")
    places = [next((at for at, name in enumerate(seen) if each in name), -1) for each in wanted]
    assert -1 not in places, seen
    assert places == sorted(places)
    page.press("J")
    page.press("Enter")
    page.wait_for(f"{OPEN}.length === 0")
    page.press("Enter")
    page.wait_for(f"{OPEN}.length === 1")


def test_a_screen_reader_finds_the_parts_of_the_page(opened: Opener) -> None:
    """Landmarks, headings, buttons with their states, and rows with their places have roles and names."""
    page = opened(DEMO)
    tree = [*page.tree()]
    roles = {node.role for node in tree}
    assert {"banner", "main", "navigation", "search", "region", "feed", "grid", "toolbar", "image"} <= roles
    assert next(node.name for node in tree if node.role == "heading").startswith(TITLE)
    strip = next(node.name for node in tree if node.role == "image")
    assert strip.startswith("Time strip: 14 calls over 1:08, 1 failed")
    for node in tree:
        if node.role in ("button", "link", "searchbox", "navigation", "region", "grid", "feed", "image"):
            assert node.name, node
    rows = [node for node in tree if node.role == "row" and "selected" in node.properties]
    assert len(rows) == 14
    articles = [node.name for node in tree if node.role == "article"]
    assert {"Prompt", "Thinking", "Answer", "Call 6, failed", "Call 9, rejected"} <= set(articles)
    calls = [node for node in tree if node.role == "button" and node.name.startswith("#")]
    assert [node.properties["expanded"] for node in calls] == [False] * len(calls)
    page.press("J")
    page.wait_for(FILLED)
    calls = [node for node in named(page, "button") if node.name.startswith("#1 ")]
    assert [node.properties["expanded"] for node in calls] == [True]


@pytest.mark.parametrize("path", [DEMO, RECORDINGS / "two-runs.ndjson"], ids=lambda path: path.stem)
def test_the_page_is_read_without_scripts(opened: Opener, path: Path) -> None:
    """Without scripts, the header, the table of calls and the final answer are there."""
    page = opened(path, scripts=False)
    tree = [*page.tree()]
    assert [node.name for node in tree if node.role == "heading" and node.properties["level"] == 1]
    links = [node.name for node in tree if node.role == "link" and re.fullmatch(r"#\d+", node.name)]
    assert links == [f"#{number}" for number in range(1, len(links) + 1)]
    assert len(links) == (14 if path == DEMO else 2)
    text = page.evaluate("document.body.innerText")
    assert "To keep it from coming back:" in text or path != DEMO
    check_inert(page)


def test_the_page_is_printed(opened: Opener, tmp_path: Path) -> None:
    """On paper stand the header, every call with what it returned, and the answers."""
    if shutil.which("pdftotext") is None:
        pytest.skip("poppler-utils is not installed")
    page = opened(DEMO)
    (tmp_path / "page.pdf").write_bytes(page.pdf())
    done = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, check=True
    )
    text = done.stdout.decode()
    assert text.startswith(TITLE)
    assert "14 calls · ✗ 1 failed · ⊘ 1 rejected" in text
    assert [int(number) for number in re.findall(r"^[ \f]*. #(\d+) ", text, re.MULTILINE)] == [*range(1, 15)]
    assert "1 failed, 8 passed in 8.17s" in text
    assert "Mended: 17 tests pass" in text
    assert "return min(candidates, key=lambda tide: (tide.time - when).seconds)" in text
    assert "low = nearest_low(DAY, datetime(2026, 5, 3, 1, 32))" in text
    assert "Search everything" not in text
    page.wait_for("!document.querySelector('.entry .line[aria-expanded=true]')")
    check_inert(page)


def wide(recording: Saver) -> Path:
    """Save a run whose words are far longer than a phone is wide."""
    word = "x" * 400
    return recording(
        init(cwd=f"/{word}", model=word),
        user(f"{word} {'many words ' * 60}"),
        started("shell", "a", command=f"echo {word}"),
        completed(
            "shell", "a", {"failure": {"exitCode": 1, "stdout": f"{word}\n" * 3}}, command=f"echo {word}"
        ),
        started("read", "b", path=f"/{word}/{word}"),
        completed(
            "read", "b", {"success": {"content": f"{word}\n", "totalLines": 1}}, path=f"/{word}/{word}"
        ),
        final(
            f"# {word}\n\n| {word} | b |\n|---|---|\n| {word} | {word} |\n\n```\n{word}\n```\n\nhttps://{word}.example/"
        ),
        result(None),
    )


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_does_not_scroll_sideways(
    opened: Opener, recording: Saver, width: int, scripts: bool
) -> None:
    """On a phone the page is as wide as the window, whatever is opened in it."""
    for path in (DEMO, wide(recording)):
        page = opened(path, scripts=scripts)
        page.set_size(width, 800, is_phone=True)
        page = opened(path, "#1", scripts=scripts)
        if scripts:
            page.wait_for(FILLED)
            page.press("J", "t")
            page.wait_for(FILLED)
        assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width], path


def test_the_list_has_room_for_results(opened: Opener, page: Page) -> None:
    """In a window of 1,100 px and less, the list of calls shows how many tests failed."""
    for width in (1100, 970):
        page.set_size(width, 900)
        opened(DEMO)
        words, needs, has = page.evaluate("""(() => {
            const cell = [...document.querySelectorAll(".row .result")]
                .find((each) => /^✗/.test(each.innerText))
            const range = document.createRange()
            range.setStart(cell.firstChild, 0)
            range.setEnd(cell.firstChild, "✗ 1 failed".length)
            return [range.toString(), range.getBoundingClientRect().width, cell.clientWidth]
        })()""")
        assert words == "✗ 1 failed"
        assert has >= needs > 0, width


def test_the_colours_follow_the_reader(opened: Opener, page: Page) -> None:
    """The page is dark where dark colours are preferred, until the reader switches."""
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    page.set_colours("dark")
    opened(DEMO)
    dark = page.evaluate(ground)
    page.set_colours("light")
    light = page.evaluate(ground)
    assert dark != light
    button = "[...document.querySelectorAll('button')].find((each) => /colours/.test(each.ariaLabel))"
    page.evaluate(f"{button}.click()")
    assert page.evaluate(ground) == dark


def test_the_list_of_calls_is_clicked(opened: Opener, recording: Saver) -> None:
    """A click on a row of the list opens the call in the transcript."""
    page = opened(DEMO)
    page.click("#row-8")
    page.wait_for(f"{OPEN}.includes(8)")
    assert page.evaluate("document.querySelector('#row-8').getAttribute('aria-selected')") == "true"
    # The name of a member that every object of JavaScript has is a word like any other.
    lines = (
        init(),
        user(),
        started("read", path="/src/constructor.ts"),
        completed("read", result={"success": {}}),
    )
    page = opened(recording(*lines, result(None)))
    for word, count in (("constructor", 1), ("valueof", 0), ("src/con", 1)):
        page.press("f", *word, "Enter")
        page.wait_for(f"document.querySelector('#calls').getAttribute('aria-rowcount') === '{count}'")
        page.press("f", "Escape", "Escape")
    assert page.complaints() == []
