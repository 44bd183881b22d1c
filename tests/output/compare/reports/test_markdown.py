"""A comparison as Markdown: whole tables, no text of the agent acts, and it fits into a comment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.output.compare.reports import MOST_BYTES, markdown_pieces, report_of
from tests.builders.comparing.runs import Run, edit, open_comparison, read, run_tests
from tests.conftest import case
from tests.output.export.html.test_page import MARKUP
from tests.output.export.markdown.parsed import html_of, tokens

A = Run()


def document(folder: Path, a: Run, b: Run, *, every: bool = False) -> str:
    """Return the comparison of two runs as Markdown."""
    with open_comparison(folder, a, b) as found:
        return b"".join(markdown_pieces(report_of(found, every=every))).decode()


def rows(text: str) -> int:
    """Return the number of rows of all tables in a document."""
    return sum(token.type == "tr_open" for token in tokens(text))


def test_totals_and_differences_are_tables(tmp_path: Path) -> None:
    """Each row of the report is a row of a table, and numbers do not link to issues."""
    text = document(tmp_path, A, A.changed(5, run_tests(3)))
    assert "| tests | green | red |  |\n" in text
    assert "| other result | 6 | 6 | Ran terminal command pytest -q<br>succeeded → failed: exit 1; " in text
    assert "|  |  |  | *4 equal calls* |" in text
    assert "They part after 5 calls in common: A#&#8203;6 and B#&#8203;6 (other result)." in text


def test_no_text_leaves_its_place(tmp_path: Path) -> None:
    """A hostile text adds no row, no column and no HTML, and does not end a block of code."""
    harmless = rows(document(tmp_path, A, A.with_call(0, read("x")).with_call(0, edit("y"))))
    for attack in MARKUP:
        with case(ascii(attack)):
            hostile = A.with_call(0, read(f"{attack}|`a`\n```\n")).with_call(0, edit(f"{attack}|"))
            text = document(tmp_path, A, replace(hostile, text=f"```\n{attack}\n````\n@ada #1"))
            assert set(html_of(text)) <= {"<br>"}
            assert rows(text) == harmless
            assert [token.type for token in tokens(text)].count("fence") == 1
            assert all(token.type != "html_block" for token in tokens(text))


@pytest.mark.parametrize(
    "sign", ["|", *(pytest.param(sign, marks=pytest.mark.system) for sign in "&é\U0001f30a`")]
)
def test_two_long_runs_fit_into_a_comment(tmp_path: Path, sign: str) -> None:
    """At most 60,000 bytes are written, also if escapes make a text longer; the rest is counted."""
    long = tuple(edit(f"{sign * 180}{number}.py") for number in range(600))
    other = tuple(read(f"{sign * 180}{number}.md") for number in range(600))
    text = document(
        tmp_path, replace(A, calls=long, text=sign * 40_000), replace(A, calls=other, text="no " * 20_000)
    )
    assert len(text.encode()) <= MOST_BYTES
    code = "".join(token.content for token in tokens(text) if token.type == "fence")
    assert 1_000 < len(code.encode()) <= 16_000
    assert "more rows left out: a comment has limited room." in text
