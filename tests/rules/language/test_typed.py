"""While a rule is being typed, the words before its first mistake are a rule."""

from __future__ import annotations

from time import process_time

import pytest

from agentwatch.rules.language.parser import typed
from tests.conftest import case
from tests.rules.language.made import VOCABULARY

TYPED: list[tuple[str, str]] = [
    ("", ""),
    ("  ", ""),
    ("a b", "a b"),
    ("a size>", "a"),
    ("a durtion>5s b", "a"),
    ("a (b OR", "a"),
    ("a (b OR (c size>", "a"),
    ('a "b', "a"),
    ("a -", "a"),
    ("a tool:edit)", "a tool:edit"),
    ("size>x", ""),
]


def test_the_words_before_a_mistake() -> None:
    """The mistake is the first one of the whole text; without words there is no condition."""
    for text, words in TYPED:
        with case(text):
            found = typed(text, VOCABULARY)
            assert found.words == words
            assert (found.condition is None) is (not words)
            assert (found.problem is None) is (text.strip() == words)


@pytest.mark.costs
def test_many_mistakes_take_little_time() -> None:
    """A text of open parentheses and quotes takes under 0.5 s."""
    for text in ("(a " * 1000, '"' * 3999, "a OR (" * 600, "size>x " * 500):
        before = process_time()
        assert typed(text, VOCABULARY).problem is not None
        assert process_time() - before < 0.5
