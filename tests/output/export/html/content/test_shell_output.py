"""The output of a command: the terminal's 16 colours become classes, other sequences stay visible."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.output.export.html.content import output_nodes, texts
from agentwatch.text.safe import safe_text
from tests.conftest import case

OUTPUTS: list[tuple[str, list[object]]] = [
    ("plain\ttext", ["plain    text"]),
    ("\x1b[32mok\x1b[0m.", [["span", "green", "ok"], "."]),
    ("\x1b[1;91mbad\x1b[22m b\x1b[39mc", [["span", "red bold", "bad"], ["span", "red", " b"], "c"]),
    (
        "\x1b[3;4mx\x1b[23my\x1b[24mz",
        [["span", "italic underline", "x"], ["span", "underline", "y"], "z"],
    ),
    ("\x1b[38;5;2ma\x1b[38;5;200mb\x1b[38;2;1;2;3mc", [["span", "green", "a"], "b", "c"]),
    ("\x1b[48;5;2;1ma", [["span", "bold", "a"]]),
    ("\x1b[ma\x1b[99999999999999999999mb", ["a", "b"]),
    ("\x1b[2Jx\x1b]0;t\x07", ["␛[2Jx␛]0;t␇"]),
]


def test_colours_become_classes() -> None:
    """A sequence of colours is left out of the text, any other stays visible."""
    for output, expected in OUTPUTS:
        with case(output):
            assert output_nodes(output) == expected


def test_a_rainbow_loses_its_colours() -> None:
    """Output with thousands of changes of colour is one text: each change would be an element."""
    output = "".join(f"\x1b[3{number % 8}m{number % 10}" for number in range(10_000))
    (only,) = output_nodes(output)
    assert only == "0123456789" * 1000


@given(st.lists(st.sampled_from(["a", "\n", "\x1b[31m", "\x1b[0m", "\x1b[38;5", "\x1b[38;2;1m", "\x1b[;;m"])))
def test_only_sequences_are_left_out(pieces: list[str]) -> None:
    """The text of any output is its safe text without the sequences of colours."""
    kept = (piece for piece in pieces if not piece.endswith("m"))
    joined = "".join(texts(output_nodes("".join(pieces))))
    if "\x1b[38;5" not in pieces:
        assert joined == safe_text("".join(kept))
