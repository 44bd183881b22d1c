"""Regular expressions mean what they mean in `re`, and take linear time."""

from __future__ import annotations

import random
import re
from time import process_time

import pytest
import re2  # type: ignore[import-untyped]

from agentwatch.rules.language import RuleError
from agentwatch.rules.language.patterns import MOST_TEXT, pattern_matcher
from tests.conftest import case

_ATOMS = (
    *("a", "b", "B", ".", "_", " ", "[ab]", "[^a]", "[a-c_]", r"\d", r"\w", r"\s", r"\W", r"\.", "[]a]"),
    *(r"[\d-]", r"\S", r"\D", "é"),
)
_PLACES = ("^", r"\b", r"\B")
_REPEATS = ("*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}", "*?", "+?", "{1,2}?")


def drawn_pattern(drawn: random.Random, depth: int = 0) -> str:
    """Return a random pattern of what this language and `re` have in common."""
    pieces = []
    for _ in range(drawn.randint(0 if depth else 1, 3)):
        kind = drawn.random()
        if kind < 0.15:
            pieces.append(drawn.choice(_PLACES))
            continue
        if kind < 0.4 and depth < 3:
            inner = drawn_pattern(drawn, depth + 1)
            piece = drawn.choice(("(", "(?:")) + inner + ")"
        else:
            piece = drawn.choice(_ATOMS)
        pieces.append(piece + (drawn.choice(_REPEATS) if drawn.random() < 0.4 else ""))
    if drawn.random() < 0.2:
        pieces += ["|", drawn.choice(_ATOMS)]
    if drawn.random() < 0.1:
        pieces.append("$")
    return "".join(pieces)


@pytest.mark.parametrize("count", [1_000, pytest.param(20_000, marks=pytest.mark.system)])
def test_patterns_match_what_re_matches(count: int) -> None:
    """Random patterns find the same random texts as `re` and as re2, upper and lower case equal.

    `$` is the very end here, as `\\Z` in `re`. `\\B` in the empty text differs between versions of `re`.
    """
    drawn = random.Random(3)
    options = re2.Options()
    options.case_sensitive, options.log_errors = False, False
    found = by_re2 = 0
    for _ in range(count):
        pattern = drawn_pattern(drawn)
        text = "".join(drawn.choices("abAB. _1-]é\n", k=drawn.randint(0, 8)))
        if not text and r"\B" in pattern:
            continue
        expected = re.search(pattern.replace("$", r"\Z"), text, re.IGNORECASE) is not None
        assert pattern_matcher(pattern)(text) is expected, (pattern, text)
        found += expected
        if text.isascii() and pattern.isascii():  # the classes of re2 have ASCII characters only
            by_re2 += 1
            same = re2.compile(pattern.replace("$", r"\z"), options).search(text) is not None
            assert same is expected, (pattern, text)
    assert count / 4 < found < count * 0.9
    assert by_re2 > count / 4


SIGNS: list[tuple[str, str, bool]] = [
    (r"rm\s+-[a-z]*r", "sudo RM -fr /", True),
    (r"rm\s+-[a-z]*r", "rm file", False),
    ("^a$", "b\na\nb", False),
    ("a$", "a\n", False),
    ("a.b", "a\nb", False),
    (r"[\n]", "a\nb", True),
    ("É", "é", True),
    ("[A-C]", "b", True),
    ("[a-]", "-", True),
    ("x{0}y", "y", True),
    ("", "", True),
]


def test_signs_of_patterns() -> None:
    """`^` and `$` are the beginning and the end of the whole text; `.` is no line end."""
    for pattern, text, is_match in SIGNS:
        with case(pattern):
            assert pattern_matcher(pattern)(text) is is_match


OTHER: list[tuple[str, str]] = [
    ("(a", '"(" without ")"'),
    ("a)", '")" without "("'),
    ("[a", '"[" without "]"'),
    ("*a", '"*" has nothing to repeat'),
    ("a**", '"*" has nothing to repeat'),
    ("a{2}{3}", '"{" has nothing to repeat'),
    ("(?=a)", "only (?:…) may begin with (?"),
    ("(?i)a", "only (?:…) may begin with (?"),
    (r"(a)\1", r'"\1" is not supported'),
    (r"\p", r'"\p" is not supported'),
    (r"[\b]", "not supported"),
    ("\\", '"\\" is not supported'),
    ("a{", "a repetition is"),
    ("a{2,1}", "a repetition is"),
    ("a{101}", "a repetition is at most 100 times"),
    ("(a{100}){100}", "it is too large"),
    ("a" * 400, "it is too large"),
    ("(" * 40 + "a" + ")" * 40, "nested at most 30 deep"),
]


def test_other_signs_are_errors() -> None:
    """What needs more than linear time, or is too large, is an error with the pattern in it."""
    for pattern, reason in OTHER:
        with case(pattern):
            with pytest.raises(RuleError, match=re.escape(reason)) as caught:
                pattern_matcher(pattern, 7)
            assert caught.value.at == 7
            assert len(caught.value.reason) < 200


@pytest.mark.costs
def test_hostile_patterns_take_linear_time() -> None:
    """Patterns that take exponential time in `re` take under a second for the longest text."""
    nested = "(a+)+$", "(a|a)*b", "(a*)*b", "(.*a){20}", "(|){100}", "(){100}"
    for pattern in (*nested, "a{0,100}b", ".*.*.*=.*"):
        with case(pattern):
            before = process_time()
            matches = pattern_matcher(pattern)
            for text in ("a" * MOST_TEXT, "ab" * MOST_TEXT, "=" * MOST_TEXT):
                matches(text)
            assert process_time() - before < 1


def test_repeats_of_nothing_take_no_time() -> None:
    """Nothing, repeated 100 times, 100 times, and so on 20 times, is nothing."""
    pattern = "(" * 20 + "){100}" * 20
    assert pattern_matcher(f"{pattern}a")("a") is True


@pytest.mark.costs
def test_random_texts_take_little_time() -> None:
    """A text of which each character leads to another state takes under two seconds."""
    drawn = random.Random(4)
    text = "".join(drawn.choices("ab", k=MOST_TEXT))
    matches = pattern_matcher("(a|b)*a[ab]{80}c")
    before = process_time()
    assert matches(text) is False
    assert process_time() - before < 2


def test_only_the_first_characters_are_searched() -> None:
    """4,096 characters of a text are searched, as many as a session keeps."""
    assert pattern_matcher("b")("a" * MOST_TEXT + "b") is False
