"""A comparison as a page: it loads nothing, runs nothing, and no text leaves its place."""

import base64
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.output.compare.comparison import compare_several
from agentwatch.output.compare.html_report import page_pieces
from agentwatch.output.compare.reports import report_of, several_report
from agentwatch.text.safe import safe_text
from tests.builders.compared_runs import Run, edit, open_comparison, read, run_tests, shell
from tests.builders.payloads import PAYLOADS
from tests.conftest import case
from tests.output.export.html.parsed import Page, check_inert
from tests.output.export.html.test_page import MARKUP

A = Run()
B = replace(A.changed(5, run_tests(3)).with_call(1, read("NOTES.md")), text="Mended: the race turns.")


def data_of(folder: Path, a: Run, b: Run) -> bytes:
    """Return the comparison of two runs as a page."""
    with open_comparison(folder, a, b) as found:
        return b"".join(page_pieces(report_of(found, every=True), ["A: nothing to mask"]))


def with_text(text: str) -> Run:
    """Return a run with a text in every field that the page shows."""
    calls = (read(text), edit(text), shell(f"{text} && pytest", stdout="1 passed in 0.1s"))
    return replace(A, calls=calls, text=text, cwd=f"/home/{text}")


def test_the_page_is_inert_and_shows_differences_in_words(tmp_path: Path) -> None:
    """The policy comes first and allows the stylesheet of the page by its hash, and no script at all. No
    colour is the only sign of a difference.
    """
    page = Page(data_of(tmp_path, A, B))
    check_inert(page)
    head = [element for element in page.elements if element.tag not in {"html", "head"}]
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert head[0].attributes["content"] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert "script" not in {element.tag for element in page.elements}
    assert "url(" not in page.style
    assert "@import" not in page.style
    text = Page(data_of(tmp_path, A, B)).text
    for words in ("A: nothing to mask", "+ only in B", "~ other result", "[-wheel -]", "{+race +}"):
        assert words in text


def test_the_page_leads_with_where_the_runs_part_and_folds_calls(tmp_path: Path) -> None:
    """The totals follow, with the figures aligned at the right, and each call has its outcome. Three or more
    that follow each other are in a fold, which counts the failed ones. It has the medians, and is as
    inert.
    """
    data = data_of(tmp_path, A, B).decode()
    places = [data.index(f"<h2>{heading}</h2>") for heading in ("Where they part", "Totals", "Calls")]
    assert places == sorted(places)
    assert '<table class="figures numbers">' in data
    for words in (
        '<td><span class="failed">✗ red</span></td>',
        '<td><div class="side"><span class="failed">✗ #7</span><div>',
        '<td><span class="note">–</span></td>',
    ):
        assert words in data
    page = Page(data_of(tmp_path, replace(A, calls=A.calls[:1]), A))
    assert [element.tag for element in page.elements].count("details") == 1
    assert "+ 5 calls only in B, #2 to #6, 1 failed" in page.text
    assert "details" not in [element.tag for element in Page(data_of(tmp_path, A.without(1), A)).elements]
    sides = [run.side(tmp_path, name) for run, name in ((A, "a"), (B, "b"), (B, "c"))]
    page = Page(b"".join(page_pieces(several_report(compare_several(sides[:1], sides[1:])))))
    check_inert(page)
    assert "Medians and ranges" in page.text


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.system)])
def test_no_text_leaves_its_place(tmp_path: Path, step: int) -> None:
    """A hostile text adds no element and no attribute, and no character that could control a terminal."""
    harmless = Page(data_of(tmp_path, A, with_text("harmless")))
    tags = {element.tag for element in harmless.elements}
    for text in (*MARKUP, *[*PAYLOADS.values()][::step]):
        with case(ascii(text)):
            data = data_of(tmp_path, A, with_text(text))
            page = Page(data)
            check_inert(page)
            assert {element.tag for element in page.elements} == tags
            shown = data.decode()
            assert shown == safe_text(shown)
