"""A span: one operation with its times and attributes, before it is encoded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from agentwatch.text.safe import SafeText, cut, safe_line, safe_text

Value = str | int | float | bool
MOST_NAME_COLUMNS = 200
_MOST_INTEGER = (1 << 63) - 1
_MOST_SPANS = 512
_MOST_BYTES = 1_000_000
_BASE_BYTES = 120
"""The ids, the times and the kind of a span."""
_ATTRIBUTE_BYTES = 8
"""The tags and lengths of an attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span. All of its texts can be encoded as UTF-8, and its numbers as 64 bits."""

    trace_id: int
    span_id: int
    parent_id: int | None
    """The id of the span that it is part of; None for the first of a trace."""
    name: str
    start_ns: int
    """Nanoseconds since the epoch."""
    end_ns: int
    attributes: Mapping[str, Value]
    has_failed: bool = False
    failure: str = ""
    """The description of the status, if it has failed."""
    is_client: bool = False
    """Whether it is a request to another service; otherwise it is internal."""

    def size(self) -> int:
        """Return about how many bytes the span takes when it is encoded; never less than its texts take."""
        texts = chain([self.name, self.failure], self.attributes)
        size = _BASE_BYTES + _ATTRIBUTE_BYTES * len(self.attributes) + sum(map(_utf8_size, texts))
        return size + sum(
            _utf8_size(value) if isinstance(value, str) else 8 for value in self.attributes.values()
        )


def attributes(values: Mapping[str, Value | None]) -> dict[str, Value]:
    """Return the attributes that are known, with texts and numbers that every backend can store.

    A text is made safe: the encoder fails at half a surrogate pair, and some backends at a NUL. A number over
    64 bits is left out.
    """
    known: dict[str, Value] = {}
    for name, value in values.items():
        if isinstance(value, str):
            known[name] = safe_text(value)
        elif value is not None and (isinstance(value, float) or abs(value) <= _MOST_INTEGER):
            known[name] = value
    return known


def name_of(*words: str) -> SafeText:
    """Return the name of a span: words in one line of at most 200 columns."""
    return cut(safe_line(" ".join(word for word in words if word)), MOST_NAME_COLUMNS)


def batches(spans: Iterator[Span]) -> Iterator[list[Span]]:
    """Yield spans in groups of at most 512 spans, and of at most about 1 MB unless one span is larger."""
    batch: list[Span] = []
    size = 0
    for span in spans:
        more = span.size()
        if batch and (len(batch) == _MOST_SPANS or size + more > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(span)
        size += more
    if batch:
        yield batch


def _utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
