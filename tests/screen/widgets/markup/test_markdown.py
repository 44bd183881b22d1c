"""Markdown is split into blocks that can be rendered separately, and its output cannot act."""

import sys
import threading
import time
import unicodedata
from random import Random

import pytest
from rich.style import Style
from textual.strip import Strip

from agentwatch.screen.widgets import markdown, syntax
from agentwatch.screen.widgets.markdown import MarkdownRenderer, split_blocks
from agentwatch.text.safe import safe_text
from tests.conftest import case

STYLE_NAMES = ("heading", "code", "link", "quote", "accent", "rule")
STYLES = {name: Style(meta={"style": name}) for name in STYLE_NAMES}


def style(name: str) -> Style:
    """Return a style that contains its own name."""
    return STYLES.get(name, Style())


@pytest.fixture
def renderer() -> MarkdownRenderer:
    """A renderer whose styles contain their names."""
    return MarkdownRenderer(style, "github-dark")


def texts(strips: list[Strip]) -> list[str]:
    """Return the lines as text, without trailing blanks."""
    return [strip.text.rstrip() for strip in strips]


def styles(strips: list[Strip]) -> dict[str, str]:
    """Return the text drawn in each style."""
    found: dict[str, str] = {}
    for strip in strips:
        for segment in strip:
            name = segment.style.meta.get("style") if segment.style and segment.style._meta else None
            if name:
                found[name] = found.get(name, "") + segment.text
    return found


BLOCKS = [
    ("", []),
    ("\n \n\n", []),
    ("one\ntwo\n\nthree", [("one\ntwo\n\n", False), ("three", False)]),
    ("one\n\n\n\ntwo\n", [("one\n\n\n\n", False), ("two\n", False)]),
    (
        "- a\n\n  more of a\n\n  - nested\n\nafter",
        [("- a\n\n  more of a\n\n  - nested\n\n", False), ("after", False)],
    ),
    ("text\n```py\nx\n\ny\n```\nmore", [("text\n", False), ("```py\nx\n\ny\n```\n", True), ("more", False)]),
    ("```\nnever closed\n\nstill", [("```\nnever closed\n\nstill", True)]),
    ("````\n```\n````\n", [("````\n```\n````\n", True)]),
    ("~~~\n```\n~~~\nz", [("~~~\n```\n~~~\n", True), ("z", False)]),
    ("```\na\n```   \nz", [("```\na\n```   \n", True), ("z", False)]),
    ("use ```x``` here", [("use ```x``` here", False)]),
    ("```x``` begins the line", [("```x``` begins the line", False)]),
    ("- a\n\n  ```\n  inside\n  ```\n", [("- a\n\n  ```\n  inside\n  ```\n", False)]),
    ("a\r\n\r\n```\r\nb\r\n```\r\nc", [("a\r\n\r\n", False), ("```\r\nb\r\n```\r\n", True), ("c", False)]),
]


def test_blocks() -> None:
    """A code fence is one block; others end at a blank line before an unindented one. No text is lost."""
    # A code fence is one block; other blocks end at a blank line followed by an unindented line.
    for source, expected in BLOCKS:
        with case(source):
            assert [(source[start:end], fence) for start, end, fence in split_blocks(source)] == expected
    # Every character that is not blank belongs to a block.
    for source in [source for source, _ in BLOCKS]:
        with case(source):
            held = "".join(source[start:end] for start, end, _ in split_blocks(source))
            assert held.split() == source.split()
    # Text longer than 16,384 characters is split, at a line end where possible; no character is lost.
    for source in ("x" * 100_000, "word\n" * 20_000, "a" * 16_000 + "\n" + "b" * 40_000):
        with case(ascii(source[:60])):
            blocks = split_blocks(source)
            assert all(end - start <= 16_384 for start, end, _ in blocks)
            assert "".join(source[start:end] for start, end, _ in blocks) == source
            assert split_blocks(source + "y")[:-1] == blocks[:-1]


def test_markdown_is_rendered(renderer: MarkdownRenderer) -> None:
    """Headings, lists, tables, quotes, links and paragraphs have their layout and their styles."""
    # A heading is aligned left, without its `#` signs and without a frame.
    strips = renderer.markdown(safe_text("# One"), 40)
    assert texts(strips) == ["One"]
    assert styles(strips) == {"heading": "One"}
    # Each list item has its bullet or number, and nested items are indented.
    bullets = texts(renderer.markdown(safe_text("- a\n- b\n  - c"), 40))
    assert [line.split() for line in bullets] == [["•", "a"], ["•", "b"], ["•", "c"]]
    indents = [len(line) - len(line.lstrip()) for line in bullets]
    assert indents[0] == indents[1] < indents[2]
    numbers = texts(renderer.markdown(safe_text("3. a\n4. b"), 40))
    assert [line.split() for line in numbers] == [["3", "a"], ["4", "b"]]
    # The cells of a table column are aligned, with wide characters counted as two columns.
    strips = renderer.markdown(safe_text("| 港 | b |\n|---|---|\n| 東京 | x |\n| a | y |"), 40)
    rows = [row for row in texts(strips) if row.strip("─ ")]
    assert [row.split() for row in rows] == [["港", "b"], ["東京", "x"], ["a", "y"]]
    columns = {
        sum(2 if unicodedata.east_asian_width(char) == "W" else 1 for char in row[: row.index(cell)])
        for row, cell in zip(rows, "bxy", strict=True)
    }
    assert len(columns) == 1
    # A table of more than 1,024 characters stays one block, so that its columns have one width.
    rows = [f"| {number} | {'word ' * (number % 5)}|\n" for number in range(100)]
    source = "".join(["| number | words |\n", "|---|---|\n", *rows])
    assert 1024 < len(source) < 4096
    assert split_blocks(source) == [(0, len(source), False)]
    shown = texts(renderer.markdown(safe_text(source), 60))
    assert len([line for line in shown if line.lstrip()[:1].isdigit()]) == 100
    assert "|" not in "".join(shown)
    # Code, quotes and links have the styles of the style sheet.
    strips = renderer.markdown(safe_text("`f(x)` and [here](https://example.org)\n\n> said"), 60)
    found = styles(strips)
    assert found["code"] == "f(x)"
    assert "here" in found["link"]
    assert "said" in found["quote"]
    # The target of a link is shown beside its text.
    assert "https://evil.example" in "".join(
        texts(renderer.markdown(safe_text("[bank](https://evil.example)"), 60))
    )
    # A paragraph between blank lines is wrapped as it is, and two paragraphs stay apart.
    assert texts(renderer.markdown(safe_text("\n\none\ntwo\n\n"), 40)) == ["one two"]
    assert texts(renderer.markdown(safe_text("\none\n \t\ntwo\n"), 40)) == ["one", "", "two"]


PIECES = (
    *(
        "one",
        "two,",
        "(three)",
        "東京",
        "e\u0301",
        "a-b",
        "-",
        "+",
        "=",
        "3.",
        "x" * 30,
        "\n",
        "\n- ",
        "`code`",
    ),
    *("`of a call`", "`f(*x)`", "`<b>`", "`&amp;`", "`\\`", "``two``", "`", "` a `", "`a  b`", "snake_case"),
    *("**bold**", "\n\n", "\n  ", "\n    ", "\\", "~", "# ", "[x]", "<a `b>`", "  \n"),
)


def cells(strips: list[Strip]) -> list[list[tuple[str, str]]]:
    """Return each character that is drawn with the name of its style."""
    return [
        [
            (char, (segment.style.meta.get("style", "") if segment.style and segment.style._meta else ""))
            for segment in strip
            for char in segment.text
            if not char.isspace()
        ]
        for strip in strips
    ]


@pytest.mark.system
def test_text_without_a_parser_is_as_with_one(
    renderer: MarkdownRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paragraphs and lists whose only markup is code are drawn as rich draws them, but for runs of blanks."""
    chance, is_plain = Random(7), markdown._is_plain
    for _ in range(3000):
        known = PIECES[: chance.choice((12, 20, len(PIECES)))]
        width, blanks = chance.choice(
            ((12, " "), (20, " "), (99, ""))
        )  # rich folds long words in its own way
        pieces = [chance.choice(known) + chance.choice((blanks, " ")) for _ in range(chance.randint(1, 9))]
        source = chance.choice(("one ", "- ")) + "".join(pieces)
        with case(f"{source!a} in {width}"):
            monkeypatch.setattr(markdown, "_is_plain", is_plain)
            drawn = renderer.markdown(safe_text(source), width)
            monkeypatch.setattr(markdown, "_is_plain", lambda _: False)
            expected = renderer.markdown(safe_text(source), width)
            assert cells(drawn) == cells(expected)
            assert [line.split() for line in texts(drawn)] == [line.split() for line in texts(expected)]


def test_text_with_code_needs_no_parser(renderer: MarkdownRenderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list and its code are wrapped below the first word of an item, without the parser."""
    monkeypatch.setitem(sys.modules, "agentwatch.screen.widgets.markdown_document", None)
    strips = renderer.markdown(safe_text("- run `make all` in\n  the folder\n- done\n"), 16)
    assert texts(strips) == [" • run make all", "   in the folder", " • done"]
    assert styles(strips) == {"accent": " •     • ", "code": "make all"}
    assert [strip.cell_length for strip in strips] == [15, 16, 7]
    with pytest.raises(ImportError):
        renderer.markdown(safe_text("`a **b` c**"), 16)


def test_code_is_shown_as_it_is(renderer: MarkdownRenderer) -> None:
    """Code keeps its indentation, and wraps without losing text; nothing is wider than the pane."""
    # A code block shows its lines with their indentation and without the fence, closed or not.
    for source in ("```python\nif x:\n\n    y()\n```\n", "```python\nif x:\n\n    y()"):
        with case(ascii(source[:60])):
            assert texts(renderer.code(safe_text(source), 30)) == [" if x:", "", "     y()"]
    # A long line of code wraps without losing text; a sign is before each row that continues it.
    strips = renderer.code(safe_text("```\n" + "0123456789" * 9 + "\n```"), 42)
    assert len(strips) > 1
    assert all(strip.cell_length <= 42 for strip in strips)
    rows = [text.strip() for text in texts(strips)]
    assert [row[:2] for row in rows] == ["01", "↳ ", "↳ "]
    assert "".join(rows).replace("↳ ", "") == "0123456789" * 9
    # No rendered line is wider than the pane.
    source = "# " + "head " * 20 + "\n\n" + "東京" * 40 + "\n\n- " + "item " * 20 + "\n\n> " + "quote " * 20
    strips = renderer.markdown(safe_text(source), 24)
    assert max(strip.cell_length for strip in strips) <= 24


ENTITIES = ["&#x202e;", "&#27;", "&#x1b;[31m", "&#155;", "&#x200b;", "&#7;", "&#xFEFF;", "&#x2028;"]


def test_nothing_in_a_text_can_act(renderer: MarkdownRenderer) -> None:
    """An entity is made safe like a character written directly, and no link has a target to follow."""
    # A character written as an HTML entity is made safe like one written directly.
    for entity in ENTITIES:
        for source in (
            "A{}B",
            "# A{}B",
            "- A{}B",
            "> A{}B",
            "| A{}B | c |\n|---|---|\n| d | A{}B |",
            "[A{}B](http://e)",
        ):
            with case(f"{entity!r}, {source!r}"):
                strips = renderer.markdown(safe_text(source.replace("{}", entity)), 60)
                shown = "".join(strip.text for strip in strips)
                assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")]
                assert "A" in shown
                assert "B" in shown
    # No rendered link has a target that a terminal or the app would follow.
    for source in (
        "[x](javascript:alert)",
        "[x](https://evil.example 'title')",
        "<https://evil.example>",
        "![x](file:///etc/passwd)",
        "[x][1]\n\n[1]: http://evil.example",
        "[link=file:///etc/passwd]x[/link]",
    ):
        with case(ascii(source[:60])):
            strips = renderer.markdown(safe_text(source), 60)
            assert any(texts(strips))
            for strip in strips:
                for segment in strip:
                    assert segment.style is None or segment.style.link is None
                    assert (
                        not segment.style or not segment.style._meta or set(segment.style.meta) <= {"style"}
                    )


@pytest.mark.costs
def test_repeated_characters_are_rendered_in_linear_time(renderer: MarkdownRenderer) -> None:
    """Blank lines, marks and spaces take no more than 1 ms for each 10 characters; usual text takes 20 µs."""
    for unit in ("\n", " \n", "\n\n ", "`", "``` ", "*", "[", "1", "- ", "|"):
        with case(ascii(unit[:60])):
            source = unit * (4_000 // len(unit)) + "`"
            began = time.process_time()
            for start, end, is_code in split_blocks(source):
                block = safe_text(source[start:end])
                _ = renderer.code(block, 80) if is_code else renderer.markdown(block, 80)
            assert time.process_time() - began < 0.4


FENCES = (
    "```python\ndef f():\n\treturn 1  \n\n\n    # end\n```",
    "```python\n\n\nx = 1\n```",
    '```json\n{"a": [1, 2]}\n```',
    "```sh\necho a long line that is cut at the end of the pane\tand a tab || exit 1\n```",
    "```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+\u6771\u4eac\r\n```",
    "```nolanguage\n\tx\n```",
    "```rust\n```",
)


def test_a_fence_is_plain_until_its_language_is_loaded(renderer: MarkdownRenderer) -> None:
    """The language is loaded in a thread, and then the pane is drawn again; no line moves by it."""
    for source in FENCES:
        with case(source):
            redrawn = threading.Event()
            late = MarkdownRenderer(style, "github-dark", redrawn.set)
            syntax._language.cache_clear()
            fence = safe_text(source)
            plain = late.code(fence, 40)
            assert {segment.style.color for strip in plain for segment in strip if segment.style} <= {None}
            assert redrawn.wait(20)
            coloured = late.code(fence, 40)
            assert coloured == renderer.code(fence, 40)
            assert [strip.text for strip in plain] == [strip.text for strip in coloured]
