"""Foreign text in Markdown is text: it is no HTML, loads nothing and notifies nobody."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from agentwatch.output.export.markdown import escaped, harmless, markdown
from agentwatch.text.safe import safe_text
from tests.conftest import case
from tests.output.export.markdown.parsed import html_of, text_of, tokens

PIECES = st.sampled_from(
    (
        *("<", ">", "`", "``", "```", "~~~", "\\", "&", "&lt;", "&#64;", "@ada", "#12", "GH-7", "|", "\n"),
        *("\n\n", "    ", "- ", "> ", "1. ", "![a](", "](", "](javascript:alert(1))", "]: ", "[x]", "*", "_"),
        *("<script>", "<!--", "</details>", "<b ", 'x="', "https://a.example/", "a b", "\t", "$$", "\ud800"),
        *("https://", "http://a_b/"),
    )
)
TEXTS = st.lists(PIECES, max_size=24).map("".join)
ADDRESS = re.compile(r"https?://(?!a_b)[A-Za-z0-9][^\s<]*")
"""An address that GitHub makes a link of: it does so only if the host has no other signs."""
NOTIFIES = re.compile(r"(?:^|\W)@\w|(?:^|\W)#\d|GH-\d")


def shown(text: str) -> str:
    """Return the document that a text of the agent becomes."""
    return "\n".join(markdown(text))


ACTING: list[tuple[str, str]] = [
    ("a < b && c", "a &lt; b &amp;&amp; c"),
    ("use `x<y>` here", "use <code>x&#60;y&#62;</code> here"),
    ("use `plain` here", "use `plain` here"),
    ("``a ` <`` <b>", "<code>a &#96; &#60;</code> &lt;b>"),
    ("one ` < and <i>", "one ` &lt; and &lt;i>"),
    (r"\` @ada `", r"\` @&#8203;ada `"),
    ("ask @ada in #12, see GH-7", "ask @&#8203;ada in #&#8203;12, see GH-&#8203;7"),
    ("mail a@b.example", "mail a@&#8203;b.example"),
    ("`@property`", "<code>@property</code>"),
    ("![dot](https://t.example/x.png)", r"!\[dot](https://t.example/x.png)"),
    ("[a](https://x.example/@b#1)", "[a](https://x.example/@b#1)"),
    ("[a](javascript:b)", r"[a]\(javascript:b)"),
    ("[a](</etc/passwd>)", r"[a]\(&lt;/etc/passwd>)"),
    ("[a]: javascript:b", r"[a]\: javascript:b"),
    ("[a]: https://x.example", "[a]: https://x.example"),
    ("see https://x.example/?a=1&b=2.", "see https://x.example/?a=1&b=2."),
    ("see https://x.example?@b, https://@ada", "see https://x.example?@b, https://@&#8203;ada"),
    ("(http://a_b/#1)", "(http://a_b/#&#8203;1)"),
    ("https://x.example/?a&amp;b#1", "https://x.example/?a&amp;b#1"),
    ("https://x.example/&lt;@ada", "https://x.example/&amp;lt;@&#8203;ada"),
    (r"\<b>", "&lt;b>"),
    (r"\\<b>", r"\\&lt;b>"),
    (r"\\\@ada", r"\\\@&#8203;ada"),
    (r"```<```\```", r"<code>&#60;</code>\```"),
    ("``` a `<`", "&#96;&#96;&#96; a <code>&#60;</code>"),
]


def test_what_could_act_is_text() -> None:
    """HTML, images, links that are not http or https, mentions and references are shown as text."""
    for text, expected in ACTING:
        with case(text):
            assert harmless(safe_text(text)) == expected
    # A reader of a cell sees the text, apart from the spaces of no width.
    words = "a|b <i> `c` *d* @e #1 [f](g) &lt; C# \\"
    table = f"| a |\n|---|\n| {escaped(words)} |"
    assert words in text_of(table).replace("\u200b", "")


@given(TEXTS)
def test_no_text_of_the_agent_is_html(text: str) -> None:
    """A page finds no HTML in a text, apart from the code that is written by this program, and no image."""
    document = shown(text)
    assert set(html_of(document)) <= {"<code>", "</code>"}
    assert not any(child.type == "image" for token in tokens(document) for child in token.children or ())


@given(TEXTS)
def test_no_text_of_the_agent_links_but_to_the_web(text: str) -> None:
    """Each link of a text leads to an http or https address."""
    found = tokens(f"{shown(text)}\n\n[a](https://a.example)")
    children = [child for token in found for child in token.children or ()]
    addresses = [str(child.attrs["href"]) for child in children if child.type == "link_open"]
    assert addresses
    for address in addresses:
        assert re.match("https?://", address)


@given(TEXTS)
@example(r"```<```\```")
@example("https://@ada http://a_b/#1")
@example("https://a.example/&lt;@ada")
def test_no_text_notifies_anybody(text: str) -> None:
    """Outside of code and addresses, no sign of a mention or of a reference touches its name."""
    seen = ADDRESS.sub("", text_of(shown(text)))
    assert not NOTIFIES.search(seen), seen


@given(TEXTS)
@example("```<`<`")
@example("> - ```` a<b `<` ```")
def test_a_text_ends_what_it_begins(text: str) -> None:
    """What follows a text is a block of its own, whatever the text has begun."""
    last = tokens(f"{shown(text)}\n\n</details>\n\nAfter it.")[-4:]
    assert [(token.type, token.level, token.content.strip()) for token in last] == [
        ("html_block", 0, "</details>"),
        ("paragraph_open", 0, ""),
        ("inline", 1, "After it."),
        ("paragraph_close", 0, ""),
    ]


@given(st.text())
def test_an_escaped_text_has_no_markup(text: str) -> None:
    """In a cell and in a summary, a text is one line without signs of Markdown or of HTML."""
    assert not set(escaped(text)) & set("\n<>|`*_[]~\\\"'")
