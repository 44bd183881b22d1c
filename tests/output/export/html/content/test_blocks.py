"""Blocks of calls: each kind has its own form, and no block is longer than the page can show."""

from __future__ import annotations

import pytest

from agentwatch.output.export.html.content import block_nodes, markup, texts
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    FoundFile,
    FoundLine,
    MarkdownBlock,
    MatchesBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    Remark,
    StepsBlock,
    SubagentCall,
    TextBlock,
    TooLargeBlock,
)
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus
from tests.conftest import case

DIFF = "--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


FORMS: list[tuple[Block, str]] = [
    (TextBlock("prompt", "a\nb\n"), '<pre class="plain">a\nb</pre>'),
    (ErrorBlock("no"), '<pre class="error">no</pre>'),
    (OutputBlock("stdout", "out\n"), '<pre class="output">out</pre>'),
    (OutputBlock("stderr", "err"), '<pre class="output stderr">err</pre>'),
    (MarkdownBlock("*a*"), '<div class="prose"><p><em>a</em></p></div>'),
    (FilesBlock(("a", "b")), '<pre class="plain">a\nb</pre>'),
    (BinaryBlock("image/png", 1200), '<p class="note">image/png, 1.2 kB</p>'),
    (TooLargeBlock(20, 4), '<p class="note">20 bytes, starting at byte 4 of the recording</p>'),
    (
        ContentBlock("x\ny\n", 7),
        '<div class="lines"><pre class="numbers">7\n8</pre><pre class="code">x\ny</pre></div>',
    ),
    (
        PlanBlock((PlanEntry("a", PlanStatus.COMPLETED), PlanEntry("b", PlanStatus.PENDING))),
        '<ul class="plan"><li class="completed">✓ a</li><li class="pending">○ b</li></ul>',
    ),
    (
        MatchesBlock((FoundFile("f", (FoundLine("x", 3), FoundLine("y", 4, is_context=True))),)),
        '<div class="found"><p class="path">f</p><pre class="plain">3: x\n4- y</pre></div>',
    ),
    (
        StepsBlock((Remark("*a*"), SubagentCall("Read file", "f", Outcome.FAILED, "no"))),
        '<div class="prose"><p><em>a</em></p></div><p class="step failed">✗ Read file f (no)</p>',
    ),
    (
        FieldsBlock("result", {"a": [1]}),
        '<dl class="fields"><dt>a</dt><dd><pre class="plain">[\n  1\n]</pre></dd></dl>',
    ),
    (ChangeBlock(None, "a", "a"), '<p class="note">no difference</p>'),
]


def test_a_block_has_its_form() -> None:
    """The nodes of a block show all of it."""
    for block, expected in FORMS:
        with case(expected):
            assert markup(block_nodes(block)) == expected


def test_lines_of_a_diff_have_signs_and_numbers() -> None:
    """A run of lines with the same sign is one element, with the signs in its text."""
    (diff,) = block_nodes(ChangeBlock(DIFF))
    parts = [(part[1], "".join(texts(part[2:-1])), part[-1][2]) for part in diff[2:]]
    assert parts == [
        ("hunk", "", "@@ -1,3 +1,3 @@"),
        ("same", "1 1", "  one"),
        ("removed", "2  ", "− two"),
        ("added", "  2", "+ 2"),
        ("same", "3 3", "  three"),
    ]


def test_a_change_without_a_diff_is_compared() -> None:
    """Of the content before and after, the difference is shown."""
    shown = "".join(texts(block_nodes(ChangeBlock(None, "a\nb\n", "a\nc\n"))))
    assert "− b" in shown
    assert "+ c" in shown


def test_a_page_that_was_found_is_a_link() -> None:
    """The title of a page leads to its address, which is shown."""
    shown = markup(
        block_nodes(ReferencesBlock((Reference("T", "https://a.b/", "*x*"), Reference(None, None))))
    )
    assert '<a href="https://a.b/"' in shown
    assert "(https://a.b/)" in shown
    assert "<em>x</em>" in shown


LARGE: list[Block] = [
    OutputBlock("stdout", "x" * 2_000_000),
    ContentBlock("x\n" * 1_000_000),
    MarkdownBlock("a *b*\n\n" * 200_000),
    ChangeBlock("@@ -1,99999 +1,99999 @@\n" + "-a\n+b\n" * 99_999),
    FilesBlock(("path",) * 400_000),
    MatchesBlock((FoundFile("f", (FoundLine("x"),)),) * 100_000),
    StepsBlock((Remark("a"),) * 100_000),
    ReferencesBlock((Reference("a", None),) * 100_000),
    FieldsBlock("result", {f"n{number}": "x" * 100 for number in range(100_000)}),
    FieldsBlock("result", {"a": "x" * 2_000_000}),
    FieldsBlock("result", {f"n{number}": "x" * 100_000 for number in range(100)}),
    StepsBlock((Remark("a" * 100_000),) * 100),
    ErrorBlock("x\n" * 1_000_000),
]


@pytest.mark.system
def test_a_large_block_is_cut_and_says_so() -> None:
    """A block of megabytes, or of a hundred thousand parts, is cut; the page says what is left out."""
    for block in LARGE:
        with case(type(block).__name__):
            shown = [*texts(block_nodes(block))]
            assert sum(map(len, shown)) < 1_200_000
            assert any("left out" in text or "more fields" in text for text in shown)
