"""The script and the stylesheet of the page, which cannot make markup or load anything."""

from __future__ import annotations

import re

from agentwatch.output.export.html import page
from agentwatch.output.export.html.content import TAGS
from tests.conftest import case

FOLDER = page._FOLDER
FILES = sorted(FOLDER.iterdir())
FORBIDDEN = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "setHTML",
    "parseFromString",
    "createContextualFragment",
    "document.write",
    "eval(",
    "Function(",
    "fetch(",
    "XMLHttpRequest",
    "WebSocket",
    "import(",
    "sendBeacon",
    "new Image",
    "@import",
    "url(",
    "localStorage",
    "document.cookie",
    'setTimeout("',
    "javascript:",
)


def test_every_file_is_in_the_page() -> None:
    """The folder has the parts of the script and of the stylesheet, and nothing else."""
    named = {*(f"{name}.js" for name in page.SCRIPTS), *(f"{name}.css" for name in page.STYLES)}
    assert {path.name for path in FILES} == named


def test_nothing_makes_markup_or_loads_anything() -> None:
    """The script builds elements and texts only, and neither it nor the stylesheet names a resource."""
    for word in FORBIDDEN:
        with case(word):
            assert word not in page.script()
            assert word not in page.style()


def test_no_address_is_in_the_page() -> None:
    """The script and the stylesheet name no server."""
    assert re.findall(r"""["'(]\s*(?:https?:)?//\w""", page.script() + page.style()) == []


def test_the_script_has_the_tags_of_the_nodes() -> None:
    """The script builds the tags that the exporter writes, and no others."""
    (found,) = re.findall(r"const TAGS = new Set\(\(([^;]*)\)\.split", page.script(), re.DOTALL)
    assert set("".join(re.findall(r'"([^"]*)"', found)).split()) == TAGS


def test_the_script_cannot_end_the_element_that_contains_it() -> None:
    """No part of the script or of the stylesheet is read as markup."""
    assert "</" not in page.script()
    assert "<!--" not in page.script()
    assert "<" not in page.style()
