"""The colours of the page: every text can be read on every ground that it stands on, light and dark."""

from __future__ import annotations

import re
from itertools import product

from agentwatch.output.export.html import page
from tests.conftest import case

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
    """Return the relative luminance of a colour."""
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


def test_the_colours_of_code_can_be_read() -> None:
    """Code is also shown in a diff, on the grounds of added and of removed lines."""
    for name in CODE:
        with case(name):
            for scheme, colour in enumerate(colours_of(f"::highlight({name})")):
                for ground in ("panel", "ground", "added", "removed"):
                    assert contrast(colour, NAMED[ground][scheme]) >= _LEAST


def test_the_colours_of_a_terminal_can_be_read() -> None:
    """The shades of the terminal's colours are those that can be read on the ground of the output."""
    for name in ANSI:
        with case(name):
            for scheme, colour in enumerate(colours_of(f".{name}")):
                assert contrast(colour, NAMED["panel"][scheme]) >= _LEAST
