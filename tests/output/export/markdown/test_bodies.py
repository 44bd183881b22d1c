"""Code stands between fences that it cannot end, and long texts are cut in their middle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.output.export.markdown import Bounds, fenced, markdown, pieces, quoted
from tests.output.export.markdown.parsed import html_of, tokens

LINES = st.lists(
    st.sampled_from(
        ("```", "````diff", "~~~", "    ```", "a", "", "> ```", "`" * 12, "<b>", "\tx", "- ```", "é")
    ),
    max_size=12,
)
FEW = Bounds(3, 2, 10)


def document(text: str, bounds: Bounds | None = None) -> str:
    """Return a text between fences."""
    return "\n".join(fenced(text) if bounds is None else fenced(text, "text", bounds))


@given(LINES)
def test_a_fence_is_not_ended_by_its_body(lines: list[str]) -> None:
    """A page reads exactly the body from a block of code, whatever fences the body has."""
    body = "\n".join(lines).strip("\n")
    found = tokens(document(body))
    assert [token.type for token in found] == ["fence"]
    assert found[0].content == f"{body}\n"
    assert found[0].info == "text"


@given(st.text("`~ \n", max_size=40))
def test_a_fence_holds_any_run_of_its_character(body: str) -> None:
    """The fence is longer than each run of backticks."""
    body = body.strip("\n")
    assert [token.content for token in tokens(document(body))] == [f"{body}\n"]


def test_a_long_body_keeps_its_head_and_its_tail() -> None:
    """The number of lines left out stands between two blocks."""
    found = tokens(document("\n".join(map(str, range(20))), FEW))
    assert [token.content for token in found if token.type == "fence"] == ["0\n1\n2\n", "18\n19\n"]
    assert [token.content for token in found if token.type == "inline"] == ["*… 15 lines left out …*"]


def test_a_body_is_not_cut_for_the_sake_of_one_line() -> None:
    """A line is left out only if the note takes less room."""
    assert pieces("\n".join("abcdef"), FEW).left_out == 0
    assert pieces("\n".join("abcdefg"), FEW).left_out == 2


def test_a_long_line_is_cut() -> None:
    """A line says how much of it is left out, and a tab stays a tab."""
    assert document("\t" + "x" * 20, FEW).split("\n")[1] == "\t" + "x" * 9 + "… 11 more characters"


def test_a_body_has_no_control_characters() -> None:
    """Controls and halves of surrogate pairs are shown as signs; a carriage return at an end is dropped."""
    assert document("a\x1b[2J\r\nb\ud800").split("\n")[1:3] == ["a␛[2J", "b\ufffd"]


@given(LINES)
def test_code_of_the_agent_stays_as_it_is(lines: list[str]) -> None:
    """Code between the agent's own fences is not escaped."""
    body = "\n".join(line for line in lines if "`" not in line).strip("\n")
    found = tokens("\n".join(markdown(f"```\n{body}\n```")))
    assert [token.type for token in found] == ["fence"]
    assert found[0].content == (f"{body}\n" if body else "\n")


def test_a_fence_that_the_agent_left_open_is_closed() -> None:
    """An unfinished answer does not swallow the rest of the document."""
    for text in ("```py\nx = 1", "~~~~\n~~~\n", "````\n    ````", "a\n```"):
        found = tokens("\n".join(markdown(text)) + "\n\n<b>\n")
        assert found[-1].type == "html_block", text


def test_a_quotation_ends_with_its_text() -> None:
    """A fence that is open in a prompt ends with the quotation."""
    lines = [line for part in markdown("```\n<i>") for line in part.split("\n")]
    assert html_of("\n".join(quoted(iter(lines))) + "\n\n<b>\n") == ["<b>"]
