"""Spans are made so that every backend can take them, and sent in groups of a bounded size."""

from agentwatch.output.export.otlp.spans import Span, attributes, batches, name_of
from tests.conftest import case


def span(text: str = "") -> Span:
    """Return a span with a text as its only attribute."""
    return Span(
        trace_id=1, span_id=1, parent_id=None, name="x", start_ns=1, end_ns=1, attributes={"text": text}
    )


VALUES: list[tuple[str | float | None, object]] = [
    ("a\0\ud800", {"x": "a␀\ufffd"}),
    ("", {"x": ""}),
    (0, {"x": 0}),
    (False, {"x": False}),
    (1.5, {"x": 1.5}),
    ((1 << 63) - 1, {"x": (1 << 63) - 1}),
    (1 << 63, {}),
    (-(1 << 70), {}),
    (None, {}),
]


def test_an_attribute_is_one_that_every_backend_can_store() -> None:
    """Texts are Unicode without NUL, numbers have 64 bits, and what is unknown is left out."""
    for value, known in VALUES:
        with case(value):
            assert attributes({"x": value}) == known
    # A text counts as many bytes as its UTF-8. The name of a tool is foreign: it cannot be longer than 200
    # columns, nor have two lines.
    assert span("\U0001f600" * 1000).size() - span().size() == 4000
    assert name_of("execute_tool", "a\nb", "") == "execute_tool a␊b"
    assert len(name_of("execute_tool", "a" * 1000)) == 200
    # Whichever comes first ends a batch; a span that is larger than a megabyte is sent alone.
    for sizes, expected in (
        ([], []),
        ([10] * 512, [512]),
        ([10] * 1025, [512, 512, 1]),
        ([300_000] * 7, [3, 3, 1]),
        ([2_000_000, 10, 2_000_000], [1, 1, 1]),
    ):
        with case(expected):
            assert [len(batch) for batch in batches(span("a" * size) for size in sizes)] == expected
