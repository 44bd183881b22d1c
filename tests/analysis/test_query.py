"""A query rejects bytes that cannot contain a match, and never rejects bytes that do."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.analysis.search import Query
from agentwatch.text.safe import safe_text
from tests.builders.lines import PROPERTY

TEXT = st.text(st.sampled_from('ab Kk\u212a"\\\n\tßéİſK東<>+2\u202e\x1b\u200d🦀'), min_size=1, max_size=8)


@PROPERTY
@given(text=TEXT, start=st.integers(0, 7), length=st.integers(1, 5), is_ascii=st.booleans())
def test_no_matching_line_is_rejected(text: str, start: int, length: int, is_ascii: bool) -> None:
    """If the shown text matches a query, the bytes of its line are never rejected, in any escaping."""
    shown = safe_text(text)
    written = json.dumps(text, ensure_ascii=is_ascii).encode(errors="surrogatepass")
    for typed in (shown[start : start + length], shown[start : start + length].lower()):
        query = Query(typed)
        if query.words and query.pattern.search(shown):
            assert not query.missing(query.needles, written)
