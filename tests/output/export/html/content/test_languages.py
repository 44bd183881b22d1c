"""The languages of code: a family for each known name, and no class that comes from the recording."""

from __future__ import annotations

import re

from agentwatch.output.export.html import page
from agentwatch.output.export.html.content import _FAMILIES, coloured, family_named, family_of_file
from tests.conftest import case

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


def test_the_name_of_a_file_determines_its_family() -> None:
    """The suffix counts, or the whole name of a file that has none."""
    for path, family in FAMILIES:
        with case(path):
            assert family_of_file(path) == family


def test_an_unknown_language_adds_no_class() -> None:
    """The first word of a fence becomes a class only if it is known."""
    assert coloured("code", family_named("python")) == "code in-python"
    assert coloured("code", family_named('x" onclick="y')) == "code"


def test_the_script_knows_every_family() -> None:
    """Each family has its patterns in the script of the page."""
    body = page.script().partition("const LEXERS = {")[2].partition("\n};")[0]
    assert set(re.findall(r"^  (\w+): lexer", body, re.MULTILINE)) == set(_FAMILIES)
