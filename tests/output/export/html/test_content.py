"""Blocks of calls: each kind has its own form, and no block is longer than the page can show."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.output.export.html import page
from agentwatch.output.export.html.content import (
    _FAMILIES,
    CallBody,
    block_nodes,
    coloured,
    element,
    escaped,
    family_named,
    family_of_file,
    kept,
    link,
    markdown_nodes,
    markup,
    output_nodes,
    texts,
)
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
from agentwatch.text.safe import safe_text
from tests.builders.claude_lines import written
from tests.builders.exports.opened import RAW, opened
from tests.builders.lines import completed, init, started, user
from tests.builders.on_disk import cursor_transcript as cursor
from tests.conftest import RECORDINGS, Saver, case, in_zone

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


def test_a_block_has_its_form(recording: Saver) -> None:
    """The nodes of a block show all of it. A run of lines with the same sign is one element, with the signs
    in its text. Of the content before and after, the difference is shown.
    """
    for block, expected in FORMS:
        with case(expected):
            assert markup(block_nodes(block)) == expected
    (diff,) = block_nodes(ChangeBlock(DIFF))
    parts = [(part[1], "".join(texts(part[2:-1])), part[-1][2]) for part in diff[2:]]
    assert parts == [
        ("hunk", "", "@@ -1,3 +1,3 @@"),
        ("same", "1 1", "  one"),
        ("removed", "2  ", "− two"),
        ("added", "  2", "+ 2"),
        ("same", "3 3", "  three"),
    ]
    shown = "".join(texts(block_nodes(ChangeBlock(None, "a\nb\n", "a\nc\n"))))
    assert "− b" in shown
    assert "+ c" in shown
    # The title of a page leads to its address, which is shown.
    shown = markup(
        block_nodes(ReferencesBlock((Reference("T", "https://a.b/", "*x*"), Reference(None, None))))
    )
    assert '<a href="https://a.b/"' in shown
    assert "(https://a.b/)" in shown
    assert "<em>x</em>" in shown
    # Each call begins with its output, its diff, its list or its error. The line of facts has the outcome
    # with its sign, the duration, the limit and the local start.
    for number, wanted in CALLS:
        with case(number):
            assert kinds(body_of(number)) == wanted
    with in_zone("UTC"):
        facts = next(node for node in body_of(6) if node[1] == "facts")
    assert facts[2] == "✗ failed · exit 1 · 8.6 s · limit 2:00 · started 09:14:15"
    # Cursor's own file has no results: the next message ends a call, and may have the same arguments.
    twice = cursor.called(cursor.call("Teleport", to="Mars"))
    shown_texts = [*texts(body_of(1, recording(written(cursor.user("Go"), twice, twice))))]
    assert shown_texts.count("Mars") == 1
    # The command and the output of a call are not among its other fields, nor is the error its output.
    done = {"failure": {"stdout": "one line", "exitCode": 1, "interleavedOutput": "one line"}}
    path = recording(
        init(),
        user(),
        started("shell", "a", command="run it"),
        completed("shell", "a", done, command="run it"),
    )
    shown_texts = [*texts(body_of(1, path))]
    assert shown_texts.count("$ run it") == 1
    assert "run it" not in shown_texts
    assert shown_texts.count("one line") == 1
    # An error whose words the command has is shown.
    done = {"rejected": {"reason": "oops"}}
    path = recording(init(), user(), started("shell", "a", command="oops 3"), completed("shell", "a", done))
    assert "pre.error" in kinds(body_of(1, path))
    # No target stands for the arguments of a tool of an MCP server, so they are not folded. The folded fields
    # end with the id by which the recording names the call.
    arguments = {"name": "srv-find", "args": {"words": "low water"}, "toolName": "find"}
    done = {"success": {"content": [{"text": {"text": "found it"}}]}}
    path = recording(
        init(), user(), started("mcp", "a", **arguments), completed("mcp", "a", done, **arguments)
    )
    nodes = body_of(1, path)
    open_texts = [*texts(node for node in nodes if node[1] != "more")]
    assert any("low water" in text for text in open_texts)
    assert any("found it" in text for text in open_texts)
    more = body_of(6)[-1]
    fields = more[-1]
    assert fields[-2] == ["dt", "", "call_id"]


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


DEMO = RECORDINGS / "demo.ndjson"


def body_of(number: int, path: Any = DEMO) -> list[Any]:
    """Return the nodes of a call."""
    with opened(path, RAW) as session:
        return CallBody(session.feed, session.session.calls[number - 1]).nodes()


def kinds(nodes: list[Any]) -> list[str]:
    """Return the tag and the class of each node."""
    return [f"{node[0]}.{node[1].split(' ')[0]}" if node[1] else node[0] for node in nodes]


CALLS: list[tuple[int, list[str]]] = [
    (1, ["pre.plain", "p.facts", "details.more"]),
    (3, ["div.lines", "p.facts", "details.more"]),
    (6, ["pre.command", "pre.output", "p.facts", "details.more"]),
    (7, ["ul.plan", "p.facts", "details.more"]),
    (8, ["div.diff", "p.facts", "details.more"]),
    (9, ["pre.error", "p.facts", "details.more"]),
]


@given(st.text(alphabet="ab\n", max_size=400), st.integers(2, 300))
def test_head_and_tail_are_parts_of_the_text(text: str, most: int) -> None:
    """Head, left out and tail make up the text, and at most `most` characters are kept."""
    head, left_out, tail = kept(text, most)
    assert len(head) + left_out + len(tail) == len(text)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) <= max(most, 0) or not left_out
    assert (left_out == 0) == (len(text) <= most)


FAMILIES: list[tuple[str | None, str]] = [
    ("src/app.py", "python"),
    ("C:\\src\\App.TS", "curly"),
    ("Dockerfile", "settings"),
    ("notes.md", ""),
    ("a.py/readme", ""),
    ("x" * 10_000, ""),
    ("", ""),
    (None, ""),
]


_TH, _TD = '<th class="right">a</th>', '<td class="right">1</td>'


def html(source: str) -> str:
    """Return Markdown as markup."""
    return markup(markdown_nodes(source))


MARKDOWN: list[tuple[str, str]] = [
    ("a *b* **c** ~~d~~ `e`", "<p>a <em>b</em> <strong>c</strong> <del>d</del> <code>e</code></p>"),
    ("# a\n\n###### b", "<h4>a</h4><h6>b</h6>"),
    ("- a\n- b\n  - c", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"),
    ("- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
    ("4. a\n5. b", '<ol start="4"><li>a</li><li>b</li></ol>'),
    ("> a", "<blockquote><p>a</p></blockquote>"),
    ("```python\nx < 1\n```", '<pre class="code in-python">x &lt; 1</pre>'),
    ("    x", '<pre class="code">x</pre>'),
    ("a  \nb\nc", "<p>a<br>b\nc</p>"),
    ("---", "<hr>"),
    ("| a |\n|--:|\n| 1 |", f"<table><thead><tr>{_TH}</tr></thead><tbody><tr>{_TD}</tr></tbody></table>"),
    ("![alt](http://x.y/p.png)", '<p><span class="image">image: alt (http://x.y/p.png)</span></p>'),
    ("<b onclick=x>a</b>", "<p>&lt;b onclick=x&gt;a&lt;/b&gt;</p>"),
    ("<script>\nalert(1)\n</script>", "<p>&lt;script&gt;\nalert(1)\n&lt;/script&gt;</p>"),
    ("[a](javascript:x)", "<p>[a](javascript:x)</p>"),
    ("&lt;script&gt; &#x202e;", "<p>&lt;script&gt; &lt;U+202E&gt;</p>"),
]


def test_markdown_becomes_elements() -> None:
    """Each construct has its element, under the headings of the page. A link into the agent's file system
    leads nowhere; its address is shown.
    """
    for source, expected in MARKDOWN:
        with case(source):
            assert html(source) == expected
    assert html("[a](src/app.py)") == '<p><span>a<span class="address"> (src/app.py)</span></span></p>'

    # A thousand nested quotes or lists do not make a thousand nested elements; forty lists are shown.
    def depth(nodes: list[object]) -> int:
        return max((1 + depth(node[2:]) for node in nodes if isinstance(node, list)), default=0)

    for source in ("> " * 1000 + "a", "- " * 1000 + "a", "*" * 1000 + "a" + "*" * 1000, "[" * 1000 + "a"):
        assert depth(markdown_nodes(source)) < 120
    assert "deep" in "".join(texts(markdown_nodes("- " * 40 + "deep")))
    # A link of the web leads to its address, which follows its text unless it is its text.
    for address in ADDRESSES:
        with case(address):
            named = markup([link(address, safe_text("here"))])
            shown = escaped(address)
            opening = f'<a href="{shown}" rel="noreferrer noopener" target="_blank">'
            assert named == f'<span>{opening}here</a><span class="address"> ({shown})</span></span>'
            assert markup([link(address, safe_text(address))]) == f"{opening}{shown}</a>"
    # An address that is not of the web, or that hides what it is, does not become a link. The texts of nodes
    # are those that a reader sees, in order.
    for address in OTHER:
        with case(address):
            shown = markup([link(address, safe_text("here"))])
            assert "<a" not in shown or "\u202e" not in shown
            assert "javascript:" not in shown.split("<a", 1)[-1].split(">", 1)[0]
            if "example.org/\u202e" not in address:
                assert "<a" not in shown
                assert "here" in shown
    nodes = [element("p", "x", "a", element("em", "", "b"), "c"), "d"]
    assert "".join(texts(nodes)) == "abcd"
    # An element that the script of the page cannot build is refused. A line break and a rule have no end tag.
    # The detail of a numbered list is its first number.
    with pytest.raises(AssertionError):
        element("script", "", safe_text("alert(1)"))
    assert markup([element("p", "", "a", element("br", ""), "b"), element("hr", "")]) == "<p>a<br>b</p><hr>"
    assert markup([element("ol", "3", element("li", "", "c"))]) == '<ol start="3"><li>c</li></ol>'


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: list[str] = []

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.text += f"[{dict(attrs).get('class')}]"


@given(st.text(alphabet=st.characters()), st.text())
def test_markup_is_read_back_as_the_same_text(foreign: str, detail: str) -> None:
    """Any text between tags and in an attribute is read back as its safe text, and adds no element."""
    page = _Texts()
    page.feed(markup([element("p", f"x{detail}", safe_text(foreign))]))
    page.close()
    assert page.tags == ["p"]
    assert page.text == f"[x{safe_text(detail)}]{safe_text(foreign)}"


ADDRESSES: list[str] = ["https://example.org/a?b=1&c=%20", "http://localhost:8000/", "HTTPS://X.Y"]


OTHER: list[str] = [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "https:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "//example.org/",
    "../../secret",
    "mailto:a@example.org",
    "https://example.org/\u202egnp.exe\x00",
    "https://",
    "https://a b",
    "https://x" + "y" * 3000,
]


OUTPUTS: list[tuple[str, list[object]]] = [
    ("plain\ttext", ["plain    text"]),
    ("\x1b[32mok\x1b[0m.", [["span", "green", "ok"], "."]),
    ("\x1b[1;91mbad\x1b[22m b\x1b[39mc", [["span", "red bold", "bad"], ["span", "red", " b"], "c"]),
    (
        "\x1b[3;4mx\x1b[23my\x1b[24mz",
        [["span", "italic underline", "x"], ["span", "underline", "y"], "z"],
    ),
    ("\x1b[38;5;2ma\x1b[38;5;200mb\x1b[38;2;1;2;3mc", [["span", "green", "a"], "b", "c"]),
    ("\x1b[48;5;2;1ma", [["span", "bold", "a"]]),
    ("\x1b[ma\x1b[99999999999999999999mb", ["a", "b"]),
    ("\x1b[2Jx\x1b]0;t\x07", ["␛[2Jx␛]0;t␇"]),
]


def test_colours_become_classes() -> None:
    """A sequence of colours is left out of the text, any other stays visible."""
    for output, expected in OUTPUTS:
        with case(output):
            assert output_nodes(output) == expected
    # Output with thousands of changes of colour is one text: each change would be an element.
    output = "".join(f"\x1b[3{number % 8}m{number % 10}" for number in range(10_000))
    (only,) = output_nodes(output)
    assert only == "0123456789" * 1000
    # The suffix counts, or the whole name of a file that has none. The first word of a fence becomes a class
    # only if it is known. Each family has its patterns in the script of the page.
    for path, family in FAMILIES:
        with case(path):
            assert family_of_file(path) == family
    assert coloured("code", family_named("python")) == "code in-python"
    assert coloured("code", family_named('x" onclick="y')) == "code"
    body = page.script().partition("const LEXERS = {")[2].partition("\n};")[0]
    assert set(re.findall(r"^  (\w+): lexer", body, re.MULTILINE)) == set(_FAMILIES)
    # Both cuts are at the end of a line, if there is one near.
    head, _, tail = kept("".join(f"line {number}\n" for number in range(2000)), 4000)
    assert head.endswith("\n")
    assert tail.startswith("line ")


@given(st.lists(st.sampled_from(["a", "\n", "\x1b[31m", "\x1b[0m", "\x1b[38;5", "\x1b[38;2;1m", "\x1b[;;m"])))
def test_only_sequences_are_left_out(pieces: list[str]) -> None:
    """The text of any output is its safe text without the sequences of colours."""
    kept = (piece for piece in pieces if not piece.endswith("m"))
    joined = "".join(texts(output_nodes("".join(pieces))))
    if "\x1b[38;5" not in pieces:
        assert joined == safe_text("".join(kept))
