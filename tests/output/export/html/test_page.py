"""The page of a session: whole for every recording, inert, and with a policy that allows only itself."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from agentwatch.analysis.moments import Asked, CallEnd, Share
from agentwatch.output.export.exported import Wanted
from agentwatch.output.export.exporters import Choices
from agentwatch.output.export.html import page
from agentwatch.output.export.html.content import TAGS, texts
from agentwatch.output.export.html.page import EXPORTER
from agentwatch.text.safe import page_text
from tests.builders.captures import Captures
from tests.builders.exports.opened import RAW, WHOLE, every_recording, opened, written
from tests.builders.lines import DONE, completed, final, init, result, segment, started, thought, user
from tests.builders.payloads import PAYLOADS
from tests.conftest import RECORDINGS, Saver, case, in_zone
from tests.output.export.html.parsed import Page, check_inert, check_nodes

DEMO = RECORDINGS / "demo.ndjson"
MARKUP = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1) x='",
    "</style></noscript></title><iframe src=//evil.example>",
    "&lt;b&gt; &#60;script&#62;",
    "\u2028\u2029 ${alert(1)} `x`",
    "[a](javascript:alert(1)) ![b](https://evil.example/p.png) <https://ok.example/?a=\"'<>>",
    "[c](data:text/html,x) [d](vbscript:x) [e](file:///etc/passwd) [f](https://evil.example/\"onclick='x')",
    "half \ud83d a pair \udc00",
)
"""Texts that try to leave the element, the script or the attribute that they are written into."""


def page_of(path: Path, wanted: Wanted = WHOLE) -> Page:
    return Page(written(EXPORTER, path, wanted))


def run_with(text: str) -> tuple[bytes, ...]:
    """Return a run with a text in every field that the page shows."""
    return (
        init(cwd=f"/home/{text}", model=text),
        user(text),
        thought(text),
        segment(f"{text}\n\n- {text}\n\n| {text} |\n|---|\n\n```{text}\n{text}\n```"),
        started("shell", "a", command=text),
        completed("shell", "a", {"success": {"stdout": text, "stderr": text, "exitCode": 0}}, command=text),
        started("edit", "b", path=text),
        completed("edit", "b", {"success": {"diffString": f"-{text}\n+{text}", "path": text}}, path=text),
        started("mcp", "c", name=text, args={text: [text]}),
        completed("mcp", "c", {"error": {"error": text}}, name=text, args={text: text}),
        started(f"odd{text}", "d", any=text),
        final(text),
        result(text),
    )


@pytest.mark.system
@pytest.mark.slow
def test_every_recording_is_a_page(captures: Captures) -> None:
    """Each call and each text of each agent is a row, in order; contents are nodes, and the page is inert."""
    for path in every_recording(captures):
        with case(path), opened(path, RAW) as session:
            transcript = session.session.transcript
            expected = [(str(entry.kind), entry.call and entry.call.number) for entry in transcript]
            page = Page(b"".join(EXPORTER.write(session, Choices())))
            rows = page.rows()
            assert [(row["k"], row.get("n")) for row in rows] == expected
            check_inert(page)
            chunks = page.chunks()
            for row in rows:
                if "c" in row:
                    check_nodes(chunks[row["c"]][row["s"]])


def test_an_exit_code_is_stronger_than_the_last_result(recording: Saver) -> None:
    """The heading of the last turn is that of the page: the exit code contradicts its result."""
    path = recording(init(), segment("One."), result("One."), user(), segment("Two."), result("Two."))
    path.with_suffix(".json").write_text('{"command": ["a"], "pid": 1, "started_ms": 1, "exit_code": 3}')
    rows = [(row["o"], row["w"]) for row in page_of(path).rows() if row["k"] == "result"]
    assert rows == [("succeeded", "succeeded"), ("failed", "exit 3 · result says ✓")]


def test_the_page_is_the_same_each_time_and_has_its_policy() -> None:
    """A page depends on nothing but its recording. The policy names the hashes of the script and of the
    stylesheet, which are the bytes in the page.
    """
    assert written(EXPORTER, DEMO) == written(EXPORTER, DEMO)
    page = page_of(DEMO)
    head = [element for element in page.elements if element.tag not in {"html", "head"}]
    assert head[0].attributes["http-equiv"] == "Content-Security-Policy"
    policy = dict(part.split(" ", 1) for part in (head[0].attributes["content"] or "").split("; "))

    def hash_of(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert policy == {
        "default-src": "'none'",
        "script-src": hash_of(page.script),
        "style-src": hash_of(page.style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    # A row has the milliseconds since the first line at which it began and ended.
    (meta,) = page.data("meta")
    calls = [row for row in page.rows() if row["k"] == "call"]
    assert isinstance(meta["first"], int)
    assert all(0 <= call["b"] <= call["e"] < 71_000 for call in calls)
    # The header, the table of calls and the whole transcript are in the markup, with links to each call.
    shown = visible(page)
    assert "✓ succeeded 1:10" in shown
    assert "14 calls✗ 1 failed⊘ 1 rejected" in shown
    assert "assert 0.4 == 0.6" in shown
    targets = {element.attributes.get("href") for element in page.elements if element.tag == "a"}
    places = {element.attributes.get("id") for element in page.elements if element.tag == "details"}
    assert {f"#{number}" for number in range(1, 15)} <= targets
    assert {str(number) for number in range(1, 15)} <= places
    # A redacted page names the report, a raw one says that nothing is redacted. The header names the local
    # times of a part and the words of a filter; calls keep their numbers.
    with opened(DEMO) as session:
        assert session.report is not None
        words = session.report.words()
    assert f"redacted: {words}" in visible(page_of(DEMO))
    assert "not redacted" in visible(page_of(DEMO, RAW))
    wanted = Wanted(Asked(CallEnd(5), CallEnd(9)), "shell")
    with in_zone("UTC"):
        page = page_of(DEMO, wanted)
    assert [row["n"] for row in page.rows()] == [6]
    assert "a part: from 09:14:" in visible(page)
    assert "only calls that match “shell”" in visible(page)
    assert "1 call✗ 1 failed" in visible(page)


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.system)])
def test_no_text_leaves_its_place(recording: Saver, step: int) -> None:
    """A hostile text in any field adds no element, no attribute and no script, and no control character."""
    harmless = Page(written(EXPORTER, recording(*run_with("harmless")), RAW))
    for text in (*MARKUP, *[*PAYLOADS.values()][::step]):
        with case(ascii(text)):
            data = written(EXPORTER, recording(*run_with(text)), RAW)
            page = Page(data)
            check_inert(page)
            assert [element for element, _ in page.raw] == [element for element, _ in harmless.raw]
            assert page.script == harmless.script
            shown = data.decode()
            assert shown == page_text(shown)
            for row in page.rows():
                check_nodes(page.content(row))


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Save the demo as a session of more than 2 MB, by blanks in its first line."""
    path = tmp_path / "large.ndjson"
    path.write_bytes(DEMO.read_bytes().replace(b"\n", b" " * 2_000_000 + b"\n", 1))
    return path


def test_the_contents_are_the_same_whether_they_are_compressed_or_not(large: Path) -> None:
    """The page of a large session has its contents compressed; the script reads the same lines."""
    for is_large in (False, True):
        with case(is_large):
            page = page_of(large if is_large else DEMO)
            types = {
                element.attributes.get("type") for element, _ in page.raw if element.attributes.get("id")
            }
            assert types == {"text/plain" if is_large else "application/x-ndjson"}
            joined = "".join(texts(node for row in page.rows() for node in page.content(row)))
            assert "assert 0.4 == 0.6" in joined
            assert "from datetime import datetime, timedelta" in joined
    # The contents of calls are left out of the markup of a large session, its final answer is not.
    shown = visible(page_of(large))
    assert "assert 0.4 == 0.6" not in shown
    assert "#13✓ succeededshellpytest -q17 passed7.0 s" in shown
    assert "Final answer" in shown
    assert "not only those before" in shown or "low water" in shown


def visible(page: Page) -> str:
    """Return the text of a page on one line."""
    return re.sub(r"\s+", " ", page.text)


def test_a_call_that_runs_is_running(recording: Saver, tmp_path: Path) -> None:
    """A part that ends before the end of a call shows the call and the session as running."""
    call = started("shell", "a", command="sleep 9")
    path = recording(init(), user(), call, segment("x" * 2000), completed("shell", "a", DONE), result())
    page = page_of(path, Wanted(Asked(None, Share(50_000)), is_raw=True))
    (row,) = [row for row in page.rows() if row["k"] == "call"]
    assert row["o"] == "running"
    assert "◐ running" in visible(page)
    assert "a part: from the start until" in visible(page)
    # The bytes of the recording that are exported grow up to its size.
    calls = (started("shell", f"c{number}", command="c") for number in range(50))
    lines = (init(), user(), *calls, result())
    seen: list[tuple[int, int]] = []
    with opened(recording(*lines), RAW) as session:
        for _ in EXPORTER.write(session, Choices(progress=lambda done, total: seen.append((done, total)))):
            pass
        size = session.timeline.size
    assert len(seen) >= 50
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {size}
    # The head and the tail of a long output are in the page, with the number of characters between them.
    output = "first\n" + "x" * 99 + "\n"
    output = output + ("y" * 99 + "\n") * 9_999 + "last"
    answer: dict[str, Any] = {"success": {"stdout": output, "exitCode": 0}}
    path = recording(init(), user(), started("shell", "a", command="c"), completed("shell", "a", answer))
    page = page_of(path, RAW)
    (row,) = [row for row in page.rows() if row["k"] == "call"]
    shown = list(texts(page.content(row)))
    (words,) = [text for text in shown if text.endswith("characters left out …")]
    left_out = int(words.split()[1].replace(",", ""))
    head = next(text for text in shown if text.startswith("first"))
    tail = next(text for text in shown if text.endswith("last"))
    assert len(head) + left_out + len(tail) == len(output)
    assert len(head) + len(tail) <= 1 << 18
    # The largest piece of a large session is a chunk: the page is never whole in memory.
    noise = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(4000)]

    def many_calls() -> Iterable[bytes]:
        for number in range(40):
            text = "\n".join(noise[number * 50 :][:2000])
            yield started("shell", f"c{number}", command=f"run {number}")
            done = {"success": {"stdout": text, "exitCode": 0}}
            yield completed("shell", f"c{number}", done, command=f"run {number}")

    with opened(recording(init(), user(), *many_calls(), result()), RAW) as session:
        sizes = [len(piece) for piece in EXPORTER.write(session, Choices())]
    assert sum(sizes) > 2_000_000
    assert max(sizes) < 1_500_000
    # A recording whose name is not text is exported.
    odd = tmp_path / b"odd\xff<b>.ndjson".decode("utf-8", "surrogateescape")
    odd.write_bytes(json.dumps({"type": "system"}).encode() + b"\n" + DEMO.read_bytes())
    check_inert(page_of(odd, RAW))


_PAIR = re.compile(r"light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
_VARIABLE = re.compile(r"--([a-z]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
_LEAST = 4.5
"""The contrast of text that WCAG 2.2 asks for (1.4.3)."""
NAMED = {name: (light, dark) for name, light, dark in _VARIABLE.findall(page.style())}
GROUNDS = ("ground", "panel", "chosen")
TEXTS = ("text", "muted", "accent", "succeeded", "failed", "rejected", "running")
TINTED = (("text", "muted"), ("added", "removed"))
MARKED = (("text",), ("found", "current"))
CODE = ["comment", "string", "number", "word"]
ANSI = ["red", "green", "yellow", "blue", "magenta", "cyan"]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def colours_of(selector: str) -> tuple[str, str]:
    """Return the light and the dark colour of a rule."""
    rule = page.style().partition(f"\n{selector} {{")[2].partition("}")[0]
    found = _PAIR.search(rule)
    assert found is not None, selector
    return found[1], found[2]


PAIRS: list[tuple[str, str]] = [*product(TEXTS, GROUNDS), *product(*TINTED), *product(*MARKED)]


def test_a_text_can_be_read_on_its_ground() -> None:
    """The contrast is at least 4.5, in both schemes."""
    for text, ground in PAIRS:
        with case(f"{text} on {ground}"):
            for scheme in (0, 1):
                assert contrast(NAMED[text][scheme], NAMED[ground][scheme]) >= _LEAST
    # Code is also shown in a diff, on the grounds of added and of removed lines.
    for name in CODE:
        with case(name):
            for scheme, colour in enumerate(colours_of(f"::highlight({name})")):
                for ground in ("panel", "ground", "added", "removed"):
                    assert contrast(colour, NAMED[ground][scheme]) >= _LEAST
    # The shades of the terminal's colours are those that can be read on the ground of the output.
    for name in ANSI:
        with case(name):
            for scheme, colour in enumerate(colours_of(f".{name}")):
                assert contrast(colour, NAMED["panel"][scheme]) >= _LEAST
    # The folder has the parts of the script and of the stylesheet, and nothing else. The script builds
    # elements and texts only, and neither it nor the stylesheet names a resource. The script and the
    # stylesheet name no server. The script builds the tags that the exporter writes, and no others.
    named = {*(f"{name}.js" for name in page.SCRIPTS), *(f"{name}.css" for name in page.STYLES)}
    assert {path.name for path in FILES} == named
    for word in FORBIDDEN:
        with case(word):
            assert word not in page.script()
            assert word not in page.style()
    assert re.findall(r"""["'(]\s*(?:https?:)?//\w""", page.script() + page.style()) == []
    (found,) = re.findall(r"const TAGS = new Set\(\(([^;]*)\)\.split", page.script(), re.DOTALL)
    assert set("".join(re.findall(r'"([^"]*)"', found)).split()) == TAGS
    # No part of the script or of the stylesheet is read as markup.
    assert "</" not in page.script()
    assert "<!--" not in page.script()
    assert "<" not in page.style()


FOLDER = page._FOLDER
FILES = sorted(FOLDER.iterdir())
FORBIDDEN = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "setHTML",
    "parseFromString",
    "createContextualFragment",
    "document.write",
    "eval(",
    "Function(",
    "fetch(",
    "XMLHttpRequest",
    "WebSocket",
    "import(",
    "sendBeacon",
    "new Image",
    "@import",
    "url(",
    "localStorage",
    "document.cookie",
    'setTimeout("',
    "javascript:",
)
