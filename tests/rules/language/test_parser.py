"""A rule is words, `field:glob`, `field>number`, `-term`, `OR` and parentheses; a wrong one is an error."""

from __future__ import annotations

import pytest

from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.parser import parse
from tests.conftest import case
from tests.rules.language.made import VOCABULARY, says

JOINED: list[tuple[str, str, bool]] = [
    ("a b", "a b", True),
    ("a b", "a", False),
    ("a OR b", "b", True),
    ("a b OR c", "c", True),
    ("a b OR c", "a", False),
    ("a OR b c", "a", True),
    ("a OR b c", "b", False),
    ("a (b OR c)", "a c", True),
    ("a (b OR c)", "c", False),
    ("(a OR b) (c OR d)", "b c", True),
    ("((a))", "a", True),
    ("-a", "b", True),
    ("-a b", "a b", False),
    ("-(a OR b)", "c", True),
    ("-(a OR b)", "b", False),
    ("-(-a)", "a", True),
    ("failed rejected", "rejected", True),
    ("failed rejected a", "rejected", False),
    ("failed rejected a", "failed a", True),
    ("failed -rejected", "failed rejected", False),
    ("failed OR a rejected", "a", False),
    ("(a)b", "a b", True),
    ('"a"', "a", True),
    ("A", "a", True),
    ("f(x)", "f(x)", True),
    ("(f(x) OR a)", "f(x)", True),
    ("--force", "--force", True),
    ("not a", "not a", True),
    ("-1", "0", True),
    ("!a", "!a", True),
    ('"OR"', "or", True),
    ("or", "or", True),
    ("12:30", "12:30", True),
    ("https://x.io", "https://x.io", True),
    (r"C:\src", r"c:\src", True),
    (r'"say\"hi"', 'say"hi', True),
    (r'"C:\\"', "c:\\", True),
    (r'"C:\src"', r"c:\src", True),
]


def test_terms_are_joined() -> None:
    """Terms in a row must all be true, `OR` binds less, and names of outcomes in a row are alternatives."""
    for rule, words, is_true in JOINED:
        with case(rule):
            assert says(rule, {"words": words}) is is_true


WRONG: list[tuple[str, str, int]] = [
    ("", "the rule is empty", 0),
    ("  ", "the rule is empty", 0),
    ("durtion>5s", 'unknown field "durtion" (did you mean duration?)', 0),
    ("a DURTION>5s", 'unknown field "durtion" (did you mean duration?)', 2),
    ("took>5s", 'unknown field "took" (did you mean duration?)', 0),
    ("xyz:5", 'unknown field "xyz"; quote a word with ":" in it', 0),
    ("calls>3", '"calls" is a field of --on and check', 0),
    ("tool:", '"tool:" needs a value, for example tool:edit', 0),
    ('path:""', '"path:" needs a value', 0),
    ("a size>", '"size>" needs a value, for example size>3', 2),
    ("tool>5", 'tool is compared with ":", for example tool:edit', 0),
    ("size=5", 'size is not compared with "=", for example size>3', 0),
    ("size!=5", 'size is not compared with "=", for example size>3', 0),
    ("kind:exec", 'kind is never "exec" (did you mean execute?)', 0),
    ("kind:zzz", 'kind is never "zzz": it is read, edit, execute', 0),
    ("duration>50", 'duration: "50" is not a time with its unit: 500ms, 50s, 10m, 2h or 7d', 0),
    ("size>5s", 'size: "5s" is not a number, such as 20, 1.5k or 2M', 0),
    ("share>5s", 'share: "5s" is not a share, such as 80%', 0),
    ("a OR", "OR needs a term after it", 2),
    ("OR a", "OR needs a term before it", 0),
    ("a OR OR b", "OR needs a term after it", 2),
    ("()", "parentheses need a term between them", 0),
    ("(a", 'a "(" has no ")"', 0),
    ("a -(", "parentheses need a term between them", 3),
    ("(a -)", '"-" needs a term after it', 3),
    ("a -OR b", '"-" needs a term after it', 2),
    ('"a', 'a quote has no end: ""a"', 0),
    ('path:"a"b', '"b" follows a quote without a blank', 8),
    ('""', '"" is empty', 0),
    ("tool:(edit OR read)", "write (tool:… OR tool:…)", 0),
    ("tool:edit,read", "tool has one value: write (tool:edit OR tool:read)", 0),
    ("a AND b", 'terms that follow each other must all be true: leave it out, or quote it: "AND"', 2),
    ("a or b", 'write OR, or quote it: "or"', 2),
    ("tool:edit)", 'a ")" has no "("; quote a word with ")" in it', 9),
    ("(a OR b)) c", 'a ")" has no "("; quote a word with ")" in it', 8),
    ("f(x))", 'a ")" has no "("; quote a word with ")" in it', 4),
    ("-", '"-" needs a term after it, without a blank', 0),
    ("a - b", '"-" needs a term after it, without a blank', 2),
    ("!tool:edit", 'write -tool…, or quote it: "!tool:edit"', 0),
    ("--tool:edit", 'write -tool…, or quote it: "--tool:edit"', 0),
    ("not tool:edit", 'write -term, or quote it: "not"', 0),
    ("not (a OR b)", 'write -term, or quote it: "not"', 0),
    ("size > 3", "write size>… without a blank", 0),
    ("tool :edit", "write tool:… without a blank", 0),
    ("NOT a", 'write -term, or quote it: "NOT"', 0),
    ("text:re:/a/", "re:/…/ is allowed only in rule files", 0),
]


def test_what_is_wrong_is_an_error() -> None:
    """The error says in one line what is wrong, which word is nearest to a misspelt one, and where."""
    for rule, reason, at in WRONG:
        with case(rule):
            with pytest.raises(RuleError) as caught:
                parse(rule, VOCABULARY)
            assert (caught.value.reason, caught.value.at) == (reason, at)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("re:/a/", "re:/…/ needs a field: command:re:/…/"),
        ("size:re:/a/", "size is a number, for example size>3"),
        ("text:re:/a", 'a regular expression has no end: "re:/a"'),
        ("text:re:/a/i", '"i" follows a quote without a blank'),
        ("text:re:/(a/", '"re:/(a/": missing )'),
    ],
)
def test_a_wrong_regular_expression_is_an_error(rule: str, reason: str) -> None:
    """Regular expressions need a field of words, and an end."""
    with pytest.raises(RuleError) as caught:
        parse(rule, VOCABULARY, allows_patterns=True)
    assert caught.value.reason == reason


def test_the_error_is_at_the_part_of_the_regular_expression() -> None:
    """An escaped slash before the mistake does not move it."""
    rule = r"a text:re:/\/(?=b)/"
    with pytest.raises(RuleError) as caught:
        parse(rule, VOCABULARY, allows_patterns=True)
    assert rule[caught.value.at :] == "(?=b)/"


def test_a_slash_is_kept_in_a_regular_expression() -> None:
    r"""`\/` is a slash, and other escapes stay as they are."""
    rule = r"text:re:/^a\/b\\\d$/"
    assert says(rule, {"text": "a/b\\7"}, allows_patterns=True) is True
    assert says(rule, {"text": "a/b7"}, allows_patterns=True) is False


@pytest.mark.parametrize("rule", ["(" * 60 + "a" + ")" * 60, "-(" * 60 + "a" + ")" * 60, "a" * 4001])
def test_a_rule_is_bounded(rule: str) -> None:
    """A rule has at most 4,000 characters, and parentheses 50 deep."""
    with pytest.raises(RuleError, match="at most"):
        parse(rule, VOCABULARY)


def test_an_error_repeats_only_the_beginning_of_a_long_word() -> None:
    """A word of an error is cut after 40 characters, so that the error fits on a line."""
    for rule in ('"' + "x" * 3000, "kind:" + "x" * 3000, "size>" + "9" * 3000):
        with pytest.raises(RuleError) as caught:
            parse(rule, VOCABULARY)
        assert len(caught.value.reason) < 120


def test_a_rule_names_its_fields() -> None:
    """Who reads a rule knows which fields it uses, also those in parentheses and after `-`."""
    assert parse("a -(tool:x OR size>3) path:b", VOCABULARY).fields == {"tool", "size", "path"}
