"""Command output keeps its colours, and no other escape sequence has an effect."""

from hypothesis import example, given
from hypothesis import strategies as st
from rich.color import Color
from rich.style import Style

from agentwatch.screen.panes.detail.from_blocks import shell_section
from agentwatch.screen.panes.detail.sections import Section
from agentwatch.text.safe import exact_text, safe_text
from tests.builders.lines import PROPERTY
from tests.conftest import case

GROUND = Style(color="#e0e0e0", bgcolor="#101010")


def style_of(name: str) -> Style:
    """Return an empty style for any name."""
    del name
    return Style()


def laid_out(output: str, most: int = 100) -> tuple[Section, int]:
    """Return an output as a section, and the number of its rows."""
    section, _ = shell_section(output, "plain", GROUND, most)
    return section, section.lay_out(200)


def pieces(output: str) -> list[list[tuple[str, Style]]]:
    """Return the pieces of each row of an output, with their styles."""
    section, rows = laid_out(output)
    return [[(s.text, s.style or Style()) for s in section.row(row, style_of)] for row in range(rows)]


def test_only_whitelisted_sequences_are_applied() -> None:
    """Colours and text styles that can be read are applied; any other sequence is shown as safe text."""
    # The 16, 256 and true colours, bold, dim, italic, underline, reverse and their resets are applied.
    for codes, style in (
        ("31", Style(color=Color.from_ansi(1))),
        ("97", Style(color=Color.from_ansi(15))),
        ("97;41", Style(color=Color.from_ansi(15), bgcolor=Color.from_ansi(1))),
        ("30;107", Style(color=Color.from_ansi(0), bgcolor=Color.from_ansi(15))),
        ("38;5;208", Style(color=Color.from_ansi(208))),
        ("38;2;250;120;0", Style(color=Color.from_rgb(250, 120, 0))),
        ("97;48;5;22", Style(color=Color.from_ansi(15), bgcolor=Color.from_ansi(22))),
        ("1;3;4", Style(bold=True, italic=True, underline=True)),
        ("2", Style(dim=True)),
        ("7", Style(reverse=True)),
        ("31;7;27", Style(color=Color.from_ansi(1), reverse=False)),
        ("31;7;39", Style(reverse=True)),
        ("1;2;22", Style(bold=False, dim=False)),
        ("3;23;4;24", Style(italic=False, underline=False)),
        ("31;39", Style()),
        ("41;97;49;39", Style()),
        ("31;0", Style()),
    ):
        with case(codes):
            [[*before, last]] = pieces(f"a\x1b[{codes}mb")
            assert "".join(text for text, _ in [*before, last]) == "ab"
            shown = {name: value for name, value in vars_of(last[1]).items() if value}
            assert shown == {name: value for name, value in vars_of(style).items() if value}
    # A sequence with anything outside the whitelist is shown as safe text and changes no style.
    for escape in (
        *("\x1b[5m", "\x1b[8m", "\x1b[31;8m", "\x1b[38;5;300m", "\x1b[38;5m", "\x1b[38;2;1;2m"),
        *(
            "\x1b[2J",
            "\x1b[H",
            "\x1b]0;t\x07",
            "\x1b[?25l",
            "\x1b[31",
            "\x1b[3:1m",
            "\x1b",
            "\x9b31m",
            "\x1b[99m",
        ),
        *("\x1b[" + "1;" * 40 + "m", "\x1b[>4m", "\x1b[٣١m"),
    ):
        with case(ascii(escape[:60])):
            [[(text, style)]] = pieces(f"a{escape}b")
            assert text == safe_text(f"a{escape}b")
            assert style == Style()
            [row] = pieces(f"\x1b[32mok\x1b[0m a{escape}b")
            assert "".join(text for text, _ in row) == "ok " + safe_text(f"a{escape}b")
    # Text that could not be read on its background is shown in the colours of the pane.
    for codes in ("38;2;16;16;16", "38;5;233", "31;41", "38;2;250;0;0;48;2;240;9;9", "47"):
        with case(codes):
            assert pieces(f"\x1b[{codes}mrm -rf ~") == [[("rm -rf ~", Style())]]
    # Bright black, unreadable on many backgrounds, is drawn in the theme's muted colour.
    [section, _] = shell_section("a\x1b[90mb", "plain", GROUND, 100)
    section.lay_out(80)
    muted = {"muted": Style(color="#a0a0a0")}
    [*_, drawn] = section.row(0, lambda name: muted.get(name, Style()))
    assert drawn.text == "b"
    assert drawn.style is not None
    assert drawn.style.color == Color.parse("#a0a0a0")
    # Combining marks split by colour codes count towards their limit; such a line loses its colours.
    piled = "e" + "\x1b[31m\u0301\x1b[32m\u0301" * 30
    [[(text, style)]] = pieces(piled)
    assert text == exact_text("e" + "\u0301" * 60)
    assert style == Style()


def vars_of(style: Style) -> dict[str, object]:
    """Return the attributes of a style by name."""
    names = ("color", "bgcolor", "bold", "dim", "italic", "underline", "reverse", "conceal", "blink")
    return {name: getattr(style, name) for name in names}


def test_coloured_lines_wrap_and_are_limited() -> None:
    """A colour continues over line ends; lines wrap by their visible width, or are counted."""
    # A colour continues over line ends until it is reset, even if its first line is not drawn.
    section, rows = laid_out("\x1b[1;31mred\nstill red\x1b[0m plain\nplain")
    assert rows == 3
    shown = [
        [(s.text, s.style == Style() or s.style is None) for s in section.row(row, style_of)]
        for row in (2, 1)
    ]
    assert shown == [[("plain", True)], [("still red", False), (" plain", True)]]
    # Coloured lines wrap by their visible width; lines above the limit are counted.
    section, left_out = shell_section("\x1b[32m" + "ab " * 40 + "\x1b[0m\nx\ny\nz\n", "plain", GROUND, 2)
    assert left_out == 2
    assert section.lay_out(60) == 4
    texts = [section.row(row, style_of).text for row in range(4)]
    assert [text[:2] for text in texts] == ["ab", "↳ ", "↳ ", "x"]
    assert "".join(texts).replace("↳ ", "") == "ab " * 40 + "x"
    assert all(s.style and s.style.color for s in [*section.row(1, style_of)][1:])


@PROPERTY
@example(output=["a\r", "\x1b[31m", "\x1b[0m", "\n"])
@example(output=["a\r", "\x1b[31m", "\x1b[8m", "\n"])
@example(output=["a\r", "\x1b[31m", "\r\n"])
@given(st.lists(st.sampled_from(["\x1b[31m", "\x1b[0m", "\x1b[8m", "\x1b[2J", *"a東\n\r\t\x1b", "\r\n"])))
def test_any_output_is_safe(output: list[str]) -> None:
    """Any output is shown as its safe text without the sequences that are applied."""
    text = "".join(output)
    section, rows = laid_out(text)
    shown = [section.row(row, style_of).text for row in range(rows)]
    bare = text.replace("\x1b[31m", "").replace("\x1b[0m", "")
    assert "".join(shown) == safe_text(bare).replace("\n", "")
