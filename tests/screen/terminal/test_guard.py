"""The guard: no link, no control character and, without colours, no colour leaves for the terminal."""

from itertools import product

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from agentwatch.screen.terminal.base_app import Guard, TerminalApp
from tests.builders.screen.app import bundled, opened
from tests.conftest import case


def test_no_control_character_leaves() -> None:
    """No control character and no link leaves; colours are those that the terminal has, or none."""
    # An escape sequence that a widget failed to remove is drawn instead of sent.
    [passed] = Guard(no_color=False).apply([Segment("a\x1b[2Jb\u202ec", None)], Color(0, 0, 0))
    assert passed.text.isprintable()
    assert "\x1b" not in passed.text
    assert "\u202e" not in passed.text
    # A highlight may begin at the joiner of a word; the joiner has no column, and is left out there.
    pieces = [Segment("\u0645\u06cc\u200c", None), Segment("\u062e\u0648", None)]
    left = Guard(no_color=False).apply(pieces, Color(0, 0, 0))
    assert [piece.text for piece in left] == ["\u0645\u06cc", "\u062e\u0648"]
    # A segment loses the target of its link and keeps its text and its attributes.
    for no_color in (False, True):
        for target in ("https://evil.example", "file:///etc/passwd", "javascript:alert(1)"):
            with case(f"{no_color}, {target}"):
                segment = Segment("bank", Style(bold=True, link=target))
                [passed] = Guard(no_color=no_color).apply([segment], Color(0, 0, 0))
                assert passed.text == "bank"
                assert passed.style is not None
                assert passed.style.link is None
                assert target not in passed.style.render(passed.text)
                assert passed.style.bold
    # Colours are removed where the user asked for none, and kept otherwise.
    segment = Segment("failed", Style(color="red", bold=True))
    [plain] = Guard(no_color=True).apply([segment], Color(0, 0, 0))
    [coloured] = Guard(no_color=False).apply([segment], Color(0, 0, 0))
    assert plain.style == Style(bold=True)
    assert coloured.style == segment.style
    # With 256 colours a dark orange is a dark grey, not olive; the terminal's own colours stay.
    guard = Guard(no_color=False)
    guard.has_256_colours = True
    for colour, number in (
        ("#4d371a", 236),
        ("#d17e92", 174),
        ("#121212", 233),
        ("#ffffff", 231),
        ("red", 1),
    ):
        with case(colour):
            [passed] = guard.apply(
                [Segment("x", Style(color=colour, bgcolor=colour, bold=True))], Color(0, 0, 0)
            )
            assert passed.style is not None
            assert passed.style.color is not None
            assert passed.style.bgcolor is not None
            assert (passed.style.color.number, passed.style.bgcolor.number) == (number, number)
            assert passed.style.bold


SECONDS = TerminalApp.NOTIFICATION_TIMEOUT


@pytest.mark.slow
async def test_a_message_covers_only_the_end_of_the_second_row() -> None:
    """Short or too long, it leaves every other row as it was, and is shown for 2 s, with its end."""
    long = "cannot open " + "a long name/" * 20 + "x: permission denied"
    async with opened(bundled("demo")) as stage:
        await stage.press("comma")
        for size, words in product(((120, 40), (80, 24), (40, 12)), ("copied #12", long)):
            with case((size, words)):
                stage.app.clear_notifications()
                await stage.pilot.resize_terminal(*size)
                await stage.settled()
                before = stage.text().splitlines()
                stage.app.notify(words)
                await stage.shows(words[:10])
                shown = stage.text().splitlines()
                assert shown[:1] + shown[2:] == before[:1] + before[2:]
                assert shown[1].rstrip().endswith(words if len(words) < 20 else "x: permission denied")
                assert ("…" in shown[1]) == (len(words) > 20)
    assert SECONDS == 2
