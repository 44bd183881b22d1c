"""The word that is being typed can continue with fields, outcomes and values."""

from __future__ import annotations

from functools import partial
from time import process_time

import pytest

from agentwatch.rules.language.completion import Value, offers
from agentwatch.rules.language.parser import parse
from tests.conftest import case
from tests.rules.language.made import VOCABULARY

OFFERS: list[tuple[str, list[str]]] = [
    ("", []),
    ("a ", []),
    ("t", ["tool:", "text:"]),
    ("TO", ["tool:"]),
    ("a -(to", ["a -(tool:"]),
    ("-to", ["-tool:"]),
    ("du", ["duration>"]),
    ("fail", ["failed"]),
    ("failed", []),
    ("kind:", ["kind:read", "kind:edit", "kind:execute"]),
    ("KIND:e", ["KIND:edit", "KIND:execute"]),
    ("kind:ec", ["kind:execute"]),
    ("kind:edit", []),
    ("size>", []),
    ("kind>", []),
    ("unknown:x", []),
    ('"to', []),
    ('a "b to', []),
    ('text:"a b" to', ['text:"a b" tool:']),
    ("tool:", ["tool:Bash", 'tool:"a b"', r'tool:"say\"hi\\"']),
    ('tool:"a', ['tool:"a b"']),
    ("tool:second", ["tool:Bash"]),
    ("x" * 5000, []),
]


def test_offers_continue_the_last_word_of_a_rule() -> None:
    """The beginning of a word is completed; a value is found by its beginning, or by two letters in it."""
    values = [Value("Bash", "the second"), Value("a b"), Value('say"hi\\'), Value("")]
    for text, words in OFFERS:
        with case(text):
            found = offers(text, VOCABULARY, lambda field: values if field == "tool" else ())
            assert [offer.text for offer in found] == words


MANY = [Value(f"path{number}") for number in range(10_000)]


def only(value: str, _field: str) -> list[Value]:
    """Return a value of any field."""
    return [Value(value)]


def test_a_completed_value_is_a_rule_about_this_value() -> None:
    """A value with blanks, quotes or parentheses is quoted, so that the rule can be read."""
    for value in ("a b", 'a"b', "(a", "a\\b c", "-a", "a)"):
        (offer,) = offers("tool:", VOCABULARY, partial(only, value))
        condition = parse(f"({offer.text} a)", VOCABULARY)
        assert f"value={value!r}" in f"{condition!r}"


def test_at_most_fifty_are_offered() -> None:
    """A session with 10,000 paths offers 50."""
    assert len(offers("tool:path", VOCABULARY, lambda _field: MANY)) == 50


@pytest.mark.costs
def test_offers_of_many_values_take_little_time() -> None:
    """50 of 10,000 paths are found in under 0.5 s."""
    before = process_time()
    offers("tool:path", VOCABULARY, lambda _field: MANY)
    assert process_time() - before < 0.5
