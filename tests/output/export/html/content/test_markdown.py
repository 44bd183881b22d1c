"""The assistant's Markdown: its structure becomes elements, its HTML and images become text."""

from __future__ import annotations

from agentwatch.output.export.html.content import markdown_nodes, markup, texts
from tests.conftest import case

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
    """Each construct has its element, under the headings of the page."""
    for source, expected in MARKDOWN:
        with case(source):
            assert html(source) == expected


def test_a_relative_link_is_text() -> None:
    """A link into the agent's file system leads nowhere; its address is shown."""
    assert html("[a](src/app.py)") == '<p><span>a<span class="address"> (src/app.py)</span></span></p>'


def test_deep_nesting_is_bounded() -> None:
    """A thousand nested quotes or lists do not make a thousand nested elements; forty lists are shown."""

    def depth(nodes: list[object]) -> int:
        return max((1 + depth(node[2:]) for node in nodes if isinstance(node, list)), default=0)

    for source in ("> " * 1000 + "a", "- " * 1000 + "a", "*" * 1000 + "a" + "*" * 1000, "[" * 1000 + "a"):
        assert depth(markdown_nodes(source)) < 120
    assert "deep" in "".join(texts(markdown_nodes("- " * 40 + "deep")))
