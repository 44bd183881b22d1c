"""Globs and regular expressions, which take linear time."""

from __future__ import annotations

import fnmatch
import random
import re
import sys
from itertools import product
from time import process_time

import pytest

from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.matchers import (
    literal_of,
    name_matcher,
    path_matcher,
    pattern_matcher,
    text_matcher,
    word_matcher,
)
from tests.conftest import case


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.system)])
def test_globs_are_those_of_python(count: int) -> None:
    """A glob of a name matches what `fnmatch` matches, for random globs and names."""
    drawn = random.Random(1)
    for _ in range(count):
        glob = "".join(drawn.choices("aB*?[]!-/", k=drawn.randint(1, 7)))
        name = "".join(drawn.choices("abB-!]/[", k=drawn.randint(0, 6)))
        if "b-a" in glob.lower():
            continue  # a range from high to low is three characters here, and nothing in `fnmatch`
        expected = fnmatch.fnmatchcase(name.lower(), glob.lower())
        assert name_matcher(glob)(name) is expected, (glob, name)


TEXTS: list[tuple[str, str, bool]] = [
    ("push", "git PUSH origin", True),
    ("PUSH", "git push", True),
    ("*push", "git push origin", False),
    ("*push*", "git push\norigin", True),
    ("git?push", "git push", True),
    ("[!a]b", "cb", True),
    ("[z-a]", "-", True),
    ("[", "a[b", False),
]


def test_a_text_contains_a_word_or_matches_a_glob() -> None:
    """A value without wildcards is searched in a text; a glob matches the text as a whole."""
    for glob, text, is_match in TEXTS:
        with case(f"{glob} {text}"):
            assert text_matcher(glob)(text) is is_match


def test_only_a_star_makes_a_word_a_glob() -> None:
    """Words such as `x[0]` and `why?` are searched as they are."""
    assert word_matcher("x[0]")("print(x[0])")
    assert word_matcher("why?")("but why?")
    assert not word_matcher("why?")("whys")
    assert word_matcher("*x[0]*")("print(x[0])")
    assert not word_matcher("*x[0]")("print(x[0])")


PATHS: list[tuple[str, str, bool]] = [
    ("src/*", "src/app.py", True),
    ("src/*", "src/web/app.py", False),
    ("src/**", "src/web/app.py", True),
    ("src/**", "src", False),
    ("src/", "src/web/app.py", True),
    ("src/", "srcs/web", False),
    ("**/src/**", "/home/me/src/a", True),
    ("**/.env*", ".env", True),
    ("**/.env*", "/a/b/.env.local", True),
    ("**/.env*", "/a/.env/b", False),
    ("**/.env*/**", "/a/.env/b", True),
    ("*.py", "src/web/app.py", True),
    ("app.py", "src/web/App.PY", True),
    ("app.py", "src/app.py/x", False),
    ("./src/*", "src/a", True),
    ("/**", "/", True),
    ("/**", "/etc/hosts", True),
    ("/**", "etc/hosts", False),
    ("**", "a/b", True),
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/y/b", True),
    ("a/**/b", "a/xb", False),
    ("a/**/b/c/**/d", "a/b/x/b/c/d", True),
    ("a/**/**/b", "a/x/b", True),
    ("**/a/b", "a/a/b", True),
    ("[ab]/[!c]", "b/d", True),
    ("a[!b]c", "a/c", False),
    ("a?c", "a/c", False),
    ("src\\*.py", "src/a.py", True),
    ("src/*.py", r"src\a.py", True),
    ("~/.ssh/*", "~/.ssh/id_rsa", True),
    ("**/test*", "tests/unit/a.py", False),
    ("test**", "x/testing", True),
]


def test_a_glob_matches_the_parts_of_a_path() -> None:
    """`*` stays in a folder, `**` does not, and a glob without `/` matches the last part."""
    for glob, path, is_match in PATHS:
        with case(f"{glob} {path}"):
            assert path_matcher(glob)(path) is is_match
            assert not is_match or literal_of(glob) in path.lower()


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.system)])
def test_each_match_contains_the_literal_of_its_glob(count: int) -> None:
    """The text that is searched first occurs in each random name and path that matches."""
    drawn = random.Random(2)
    matched = 0
    for _ in range(count):
        glob = "".join(drawn.choices("ab*?[]!/", k=drawn.randint(1, 7)))
        name = "".join(drawn.choices("ab]![/", k=drawn.randint(1, 6)))
        for matcher in (name_matcher, path_matcher):
            if matcher(glob)(name):
                matched += 1
                assert literal_of(glob) in name, (glob, name)
    assert matched > count / 40


@pytest.mark.costs
def test_a_hostile_glob_takes_linear_time() -> None:
    """A glob of a hundred wildcards takes under 0.1 s for the longest text that is compared."""
    globs = ("*a", "a*", "**/a/", "?*", "*/")
    for glob, text in product(globs, ("a" * 4096, "a/" * 2048, "/" * 4096)):
        for matcher in (name_matcher, path_matcher):
            with case(f"{glob} {text[:2]}"):
                matches = matcher(glob * 100 + "b")
                before = process_time()
                matches(text)
                assert process_time() - before < 0.1


PATTERNS: list[tuple[str, str, bool]] = [
    (r"rm\s+-[a-z]*r", "sudo RM -fr /", True),
    (r"rm\s+-[a-z]*r", "rm file", False),
    ("^a$", "b\na\nb", False),
    ("a$", "a\n", False),
    ("a.b", "a\nb", False),
    (r"[\n]", "a\nb", True),
    ("É", "é", True),
    ("[A-C]", "b", True),
    (r"a\/b", "a/b", True),
    (r"\bno\b", "yes or no", True),
    ("a", "\ud800a", True),
]


def test_regular_expressions() -> None:
    """A pattern of RE2 is searched in the text, without case; `^` and `$` are the ends of the whole text."""
    for pattern, text, is_match in PATTERNS:
        with case(pattern):
            assert pattern_matcher(pattern)(text) is is_match


REFUSED: list[tuple[str, str, int]] = [
    ("(a", '"re:/(a/": missing )', 0),
    ("ab(?=c)", '"re:/ab(?=c)/": invalid perl operator "(?="', 2),
    (r"(a)\1", r'"re:/(a)\1/": invalid escape sequence "\1"', 3),
    ("a*b**", '"re:/a*b**/": bad repetition operator "**"', 3),
    ("é[z-a]", '"re:/é[z-a]/": invalid character class range "z-a"', 2),
    ("(a{100}){100}", '"re:/(a{100}){100}/": invalid repetition size "{100}"', 0),
    (
        "(\\pL*\\pN){40}x" * 2,
        '"re:/(\\pL*\\pN){40}x(\\pL*\\pN){40}x/": pattern too large - compile failed',
        0,
    ),
    ("a)", '"re:/a)/": unexpected )', 0),
]


def test_a_refused_pattern_is_an_error_at_the_part_that_is_named() -> None:
    """What needs more than linear time, or much memory, is an error with the pattern in it."""
    for pattern, reason, at in REFUSED:
        with case(pattern[:40]):
            with pytest.raises(RuleError) as caught:
                pattern_matcher(pattern, 7)
            assert (caught.value.reason, caught.value.at) == (reason, 7 + at)


def test_without_re2_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """RE2 is an extra; only a rule with a regular expression needs it."""
    monkeypatch.setitem(sys.modules, "re2", None)
    assert name_matcher("a*")("ab")
    with pytest.raises(RuleError, match=re.escape("pip install 'agentwatch-tui[regex]'")) as caught:
        pattern_matcher("a")
    assert "\n" not in caught.value.reason


def test_a_regular_expression_searches_the_first_characters() -> None:
    """4,096 characters of a text are searched, as many as a session keeps."""
    assert pattern_matcher("b")("a" * 4095 + "b") is True
    assert pattern_matcher("b")("a" * 4096 + "b") is False


@pytest.mark.costs
def test_hostile_patterns_take_linear_time() -> None:
    """Patterns that take exponential time in `re`, or the most memory, take under a second."""
    nested = "(a+)+$", "(a|a)*b", "(a*)*b", "(.*a){20}", "(|){100}", ".*.*.*=.*", "(.*){900}x"
    random_text = "".join(random.Random(4).choices("ab", k=4096))
    for pattern in (*nested, "(a|b)*a[ab]{900}c", "((a|b)*a[ab]{9}){90}c"):
        with case(pattern):
            before = process_time()
            matches = pattern_matcher(pattern)
            for text in ("a" * 4096, "é€" * 2048, random_text):
                matches(text)
            assert process_time() - before < 2
