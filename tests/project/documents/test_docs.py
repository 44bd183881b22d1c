"""The pages name no path, command, option, variable, key or binding that does not exist."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import agentwatch
from tests.conftest import ROOT, case
from tests.project.documents.doc_claims import (
    Page,
    bound_ids,
    ids_of,
    missing_paths,
    page,
    unbound_keys,
    wrong_commands,
    wrong_ids,
    wrong_options,
    wrong_variables,
)

Check = Callable[[Page], Iterator[str]]
PAGES = sorted(
    path.relative_to(ROOT)
    for pattern in ("*.md", "docs/**/*.md", "bench/*.md", "recordings/*.md")
    for path in ROOT.glob(pattern)
)
CONFIG = ROOT / "docs" / "config.md"
KEYS = ROOT / "docs" / "reference" / "keys.md"
PYTHON = ROOT / "docs" / "reference" / "python.md"
SOURCE = ROOT / "docs" / "source.md"
CHECKS: list[Check] = [missing_paths, wrong_commands, wrong_options, wrong_variables, unbound_keys, wrong_ids]


WRONG: list[tuple[Check, str, str]] = [
    (missing_paths, "See [that](docs/GONE.md).", "docs/GONE.md"),
    (missing_paths, "It is in `screen/gone.py`.", "screen/gone.py"),
    (missing_paths, "It is in `agentwatch/gone`.", "agentwatch/gone"),
    (missing_paths, "```sh\npytest tests/gone.py -q\n```\n", "tests/gone.py"),
    (wrong_commands, "```sh\ncat x | agentwatch --gone | jq .\n```\n", "agentwatch --gone"),
    (wrong_commands, "Run `agentwatch replay FILE --tee`.", "agentwatch replay --tee"),
    (wrong_commands, "Run `agentwatch gone FILE`.", "agentwatch gone"),
    (wrong_commands, "Run `agentwatch engine gone`.", "agentwatch engine gone"),
    (wrong_commands, "Run `agentwatch engine status HOST --age 1d`.", "agentwatch engine status --age"),
    (wrong_options, "With `--gone FILE` it is kept.", "--gone"),
    (wrong_options, "With `-x` it is kept.", "-x"),
    (wrong_variables, "Set `AGENTWATCH_GONE=1`.", "AGENTWATCH_GONE"),
    (wrong_variables, "Set `$GONE`.", "GONE"),
    (unbound_keys, "| key | does |\n|---|---|\n| `q`, `esc`, `ctrl+f12` | quit |\n", "ctrl+f12"),
    (wrong_ids, "| key | does | id |\n|---|---|---|\n| `q` | quit | `gone` |\n", "gone: q"),
    (wrong_ids, "| key | does | id |\n|---|---|---|\n| `g` `home` `x` | up | `top` |\n", "top: g home x"),
]


@pytest.mark.slow
def test_what_a_page_names_exists() -> None:
    """Each path, command, option, variable, key and binding of a page exists; a wrong one is found alone."""
    assert len(PAGES) > 35
    for path in PAGES:
        found = page((ROOT / path).read_text(), (ROOT / path).parent)
        for check in CHECKS:
            with case(f"{check.__name__}, {path}"):
                assert [*check(found)] == []
    for check, text, name in WRONG:
        with case(text):
            assert [*check(page(text))] == [name]


DIALECT = re.compile(
    r"\b(?:goes on|go on|heard|gone|stands|looks? at|looked at|as far as|gives? way|by itself)\b"
    r"|(?:^|[.:;|] )Of \w+|\bis no (?:error|failure|orphan|session|part|longer an?)\b",
    re.MULTILINE,
)
"""Words of a dialect that the documents had, for which the field has terms."""


def test_the_documents_use_the_terms_of_the_field() -> None:
    """No page has a phrase that a reader of the field stumbles over."""
    assert Path("docs/reference/commands.md") in PAGES
    for path in PAGES:
        with case(path):
            assert DIALECT.findall((ROOT / path).read_text()) == []
    for text in ("A file that is gone", "Of older ones", "It is no error.", "The list goes on."):
        with case(text):
            assert DIALECT.search(text)


def test_the_pages_are_complete() -> None:
    """They have each room, each binding that can be given another key, and each public name, once."""
    [rooms] = [rows for header, _, *rows in page(SOURCE.read_text()).tables if header[0].startswith("room")]
    found = sorted(f"`{path.parent.name}/`" for path in (ROOT / "agentwatch").glob("*/__init__.py"))
    assert sorted(row[0] for row in rooms) == found
    assert ids_of(page(KEYS.read_text())) == set(bound_ids())
    [example] = re.findall(r"```toml\n(.*?)```", CONFIG.read_text(), re.DOTALL)
    assert tomllib.loads(example)["keys"].keys() <= bound_ids().keys()
    named = re.findall(r"^::: agentwatch\.(\w+)(?:\.\w+)?$", PYTHON.read_text(), re.MULTILINE)
    assert sorted(named) == sorted({*agentwatch.__all__} - {"__version__"})


def test_a_link_leads_to_a_heading_where_markdown_is_shown() -> None:
    """A link to a place in a page leads to a heading, by the names that code hosting sites give them."""
    links = [
        (path, target, place)
        for path in PAGES
        if path.parts[0] == "docs"
        for target, place in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", (ROOT / path).read_text())
    ]
    assert len({path for path, _, _ in links}) > 10
    for path, target, place in links:
        with case(f"{path}: {target}#{place}"):
            text = (ROOT / path if not target else (ROOT / path).parent / target).read_text()
            headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
            names = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert place in names
