"""Foreign text made safe: nothing acts on a terminal, and nothing is removed without a sign."""

import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from agentwatch.text.safe import (
    PLAIN,
    SafeText,
    columns,
    cut,
    cut_middle,
    exact_line,
    exact_text,
    fitting,
    page_line,
    page_text,
    safe_line,
    safe_text,
    signs_in,
    title_line,
)
from tests.builders.lines import ANY_TEXT, PROPERTY
from tests.builders.payloads import MARKED
from tests.conftest import case

ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f"  # C0 except the line end, DEL, C1
    "\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # bidi, zero-width
    "\u180e\U000e0000-\U000e007f\ud800-\udfff]"  # tags, surrogates
)
MARK = re.compile("PWN[A-Z1]+|UFdORUQ|VE1VWA")
NASTY = st.text(
    st.sampled_from(
        "\x00\x07\x08\t\n\r\x1b\x7f\x85\x9b\xad\u0300\u200b\u200d\u202e\u2066\ufe0f\ufeff\ud800\udc00"
    )
    | st.sampled_from("a日👩🏽🔬\U000e0041é[/]"),
    max_size=30,
)


SIGNS: list[tuple[str, str]] = [
    ("plain text, é 日本 한국 🦀", "plain text, é 日本 한국 🦀"),
    ("\x1b[31m", "␛[31m"),
    ("\x00\x07\x08\x1f", "␀␇␈␟"),
    ("\x7f", "␡"),
    ("\x80\x9b\x9f", "<80><9B><9F>"),
    ("\x85", "<85>"),
    ("a\tb", "a    b"),
    ("a\r\nb", "a\nb"),
    ("a\rb", "a␍b"),
    ("a\nb", "a\nb"),
    ("\u202e\u2066\u200f\u061c", "<U+202E><U+2066><U+200F><U+061C>"),
    ("\u200b\u2060\ufeff\xad", "<U+200B><U+2060><U+FEFF><U+00AD>"),
    ("\u2028\u2029", "<U+2028><U+2029>"),
    ("\U000e0041", "<U+E0041>"),
    ("\ue000\uffff", "<U+E000><U+FFFF>"),
    ("\u3164\u115f", "<U+3164><U+115F>"),
    ("\ud83d|\ude00", "\ufffd|\ufffd"),
    ("a\u0301", "a\u0301"),
    ("a" + "\u0301" * 8, "a" + "\u0301" * 8),
    ("a" + "\u0301" * 9, "a" + "\u0301" * 8 + "…"),
    ("👩\u200d🔬", "👩🔬"),
    ("👍🏽", "👍"),
    ("☁\ufe0f", "☁"),
    ("a\u200db", "a<U+200D>b"),
    ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
    ("\u0dc1\u0dca\u200d\u0dbb\u0dd3", "\u0dc1\u0dca\u200d\u0dbb\u0dd3"),
    (
        "\u0645\u200c\u200c\u062e \u200c\u062e a\u200c\u062e",
        "\u0645<U+200C><U+200C>\u062e <U+200C>\u062e a<U+200C>\u062e",
    ),
    ("\u0dca\u200d\u0dca", "\u0dca<U+200D>\u0dca"),
    ("\xa0\u3000", "\xa0\u3000"),
    ("[/x] [@click=app.quit]", "[/x] [@click=app.quit]"),
]


def test_a_browser_gets_joined_emoji() -> None:
    """Only for a browser the joiner between emoji stays, however often the text is made safe; elsewhere it
    is shown, and nothing else is let through."""
    for text, shown in (
        ("👨\u200d👩\u200d👧 x", "👨\u200d👩\u200d👧 x"),
        ("👩🏽\u200d🔬 ❤\ufe0f\u200d🔥", "👩\u200d🔬 ❤\u200d🔥"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        ("a\u200db 👩\u200d \u200d👩", "a<U+200D>b 👩<U+200D> <U+200D>👩"),
        ("👩\u200d\x1b[31m\u202e", "👩<U+200D>␛[31m<U+202E>"),
    ):
        with case(ascii(text)):
            assert page_text(text) == page_line(text) == page_text(page_text(text)) == shown
    assert page_line("a\nb") == "a␊b"


def test_a_title_is_one_line() -> None:
    """Its line ends and the blanks around them are one blank; what could act on a terminal is shown."""
    assert title_line("Mend the mill.\r\n\n\t All of it.\n") == "Mend the mill. All of it."
    assert title_line("a  b\x1b[31m") == "a  b␛[31m"


def test_acting_characters_become_visible_signs() -> None:
    """Controls and invisible characters become signs, in a line also line ends; no more than eight marks are
    piled up, and no attack acts. Wide characters have two columns.
    """
    for text, safe in SIGNS:
        with case(ascii(text)):
            assert safe_text(text) == safe
    assert safe_line("a\nb\r\nc\rd\u2028e") == "a␊b␊c␍d<U+2028>e"
    emoji = "\u0301\ufe0f", "\u0301\U0001f3fd", "\u0301\ufe0e\u0302"
    for marks in ("\u0301", *emoji, "\u05b0", "\u0e38", "\u093c"):
        with case(ascii(marks)):
            safe = safe_text("a" + marks * 50)
            pile = "".join("m" if unicodedata.category(char) == "Mn" else char for char in safe)
            assert "m" * 9 not in pile
    for name, text in MARKED.items():
        for safe in (safe_text(text), safe_line(text)):
            with case(name):
                assert not ACTS.search(safe)
                assert MARK.findall(safe) == MARK.findall(text)
    assert columns(safe_line("abc")) == 3
    assert columns(safe_line("日本é🦀e\u0301ｶ")) == 2 + 2 + 1 + 2 + 1 + 1


@PROPERTY
@given(ANY_TEXT | NASTY)
def test_safe_text_contains_nothing_that_acts(text: str) -> None:
    """Safe text has no control but line ends, direction mark, zero-width character or surrogate, and is safe
    already.
    """
    assert not ACTS.search(safe_text(text))
    assert not ACTS.search(safe_line(text))
    assert "\n" not in safe_line(text)
    assert len(safe_line(text).splitlines()) <= 1
    safe_text(text).encode()
    assert safe_text(safe_text(text)) == safe_text(text)
    assert safe_line(safe_line(text)) == safe_line(text)
    exact = exact_text(text)
    assert not ACTS.search(exact)
    assert safe_text(exact) == exact_text(exact) == exact


EXACT: list[tuple[str, str]] = [
    ("plain text, é 日本 한국 🦀", "plain text, é 日本 한국 🦀"),
    ("rm \U0001f1fa\U0001f1f8", "rm <U+1F1FA><U+1F1F8>"),
    ("a\r\nb\rc\td", "a␍\nb␍c    d"),
    ("☁\ufe0f 👍🏽 👩\u200d🔬", "☁<U+FE0F> 👍<U+1F3FD> 👩<U+200D>🔬"),
    ("\u0645\u06cc\u200c\u062e \xa0\u3000\u2800", "\u0645\u06cc<U+200C>\u062e <U+00A0><U+3000><U+2800>"),
    ("d(`" + "\U000e0101" * 43 + "`)", "d(`<43 × variation selector>`)"),
    (
        "\ufe00" * 3 + "\U000e0041" * 4 + "\u200b\u2060" * 2,
        "<U+FE00>" * 3 + "<4 × tag><4 × invisible character>",
    ),
    ("<U+202E>" * 5, "<U+202E>" * 5),
    ("a" + "\u0301" * 20, "a" + "\u0301" * 8 + "<12 × combining mark>"),
    ("\x1b[31m\x9b\ud800", "␛[31m<9B>\ufffd"),
]


def test_exact_text_hides_no_character() -> None:
    """Each character that `safe_text` removes, redraws or draws as a blank is named, and found as a sign. A
    run of them is counted. Other text stays.
    """
    for text, exact in EXACT:
        with case(ascii(text)):
            assert exact_text(text) == exact
            assert exact_line(text) == exact.replace("\n", "␊")
    hidden = 0
    blocks = (0x80, 0x400), (0x1100, 0x1810), (0x2000, 0x3400), (0xD800, 0x10000), (0x1F000, 0x1FA00)
    codes = (code for block in (*blocks, (0xE0000, 0xE0200)) for code in range(*block))
    for char in map(chr, codes):
        shown = safe_text(char)
        is_blank = unicodedata.category(char) == "Zs" or char == "\u2800"
        if shown != char or is_blank:
            exact = exact_line(f"a{char}b")
            assert signs_in(exact) == [(1, len(exact) - 1)], ascii(char)
            hidden += len(shown) < 2
        elif columns(shown):
            assert exact_text(char) == char, ascii(char)
    assert hidden == 261 + 26 + 17 + 2048  # removed, redrawn, blanks, halves of surrogate pairs


@PROPERTY
@given(st.text(st.characters(categories=("L", "N", "P"))))
def test_letters_digits_and_punctuation_are_unchanged(text: str) -> None:
    """Visible letters, digits and punctuation are unchanged."""
    visible = "".join(char for char in text if char not in "\u115f\u1160\u3164\uffa0")
    assert safe_text(visible) == visible


@PROPERTY
@example("日x", 2)
@given(ANY_TEXT | NASTY | st.text("日e\u0301x", max_size=40), st.integers(1, 30))
def test_a_cut_never_exceeds_its_limit(text: str, limit: int) -> None:
    """A cut text fits its limit and is a prefix with an ellipsis; a text that fits is not cut."""
    line = safe_line(text)
    shown = cut(line, limit)
    assert columns(shown) <= limit
    if columns(line) <= limit:
        assert shown == line
    else:
        assert shown.endswith("…")
        assert line.startswith(shown[:-1])
        assert columns(shown) >= limit - 1


@PROPERTY
@given(st.text(st.sampled_from("ab é✓漢🙏\u0301\u1161—"), max_size=14), st.integers(0, 15), st.integers(0, 9))
def test_a_fitting_piece_is_the_longest(text: str, start: int, width: int) -> None:
    """The piece has at most `width` columns and the next character does not fit, except a single one."""
    safe = SafeText(text)
    end = fitting(safe, start, width)
    if start >= len(text):
        assert end in (start, len(text))
        return
    assert end > start
    assert end == start + 1 or columns(SafeText(text[start:end])) <= width
    assert end == len(text) or columns(SafeText(text[start : end + 1])) > width


def test_a_path_is_cut_at_whole_folders() -> None:
    """A long path loses folders in its middle first, and characters of the file name last."""
    for limit, shown in (
        (40, "agentwatch/screen/parser/tokens.py"),
        (33, "agentwatch/…/parser/tokens.py"),
        (29, "agentwatch/…/parser/tokens.py"),
        (28, "…/screen/parser/tokens.py"),
        (24, "agentwatch/…/tokens.py"),
        (21, "…/parser/tokens.py"),
        (13, "…/tokens.py"),
        (8, "…kens.py"),
        (1, "…"),
    ):
        with case(f"{limit}, {shown}"):
            assert cut_middle(SafeText("agentwatch/screen/parser/tokens.py"), limit) == shown


def test_a_plain_character_is_shown_as_it_is_in_one_column() -> None:
    """Each character of a plain line is safe and one column wide, whatever is beside it."""
    plain = [char for char in map(chr, range(0x10FFFF)) if PLAIN.fullmatch(char)]
    assert len(plain) > 800
    for char in plain:
        with case(char):
            assert (safe_line(f"{char}\0"), columns(SafeText(f"{char}日"))) == (f"{char}␀", 3)
