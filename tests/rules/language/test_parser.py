"""The language of rules: parser, conditions, matchers, completion, vocabulary."""

import fnmatch
import random
import re
import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from itertools import product
from time import process_time

import pytest

from agentwatch.rules.language.completion import Value as TypedValue
from agentwatch.rules.language.completion import offers
from agentwatch.rules.language.conditions import Readers, Test, Value
from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.matchers import (
    literal_of,
    name_matcher,
    path_matcher,
    pattern_matcher,
    text_matcher,
    word_matcher,
)
from agentwatch.rules.language.parser import parse, typed
from agentwatch.rules.language.vocabulary import Field, Measure, Vocabulary, number
from tests.conftest import case

FIELDS = (
    Field("tool", Measure.NAME, "the tool", example="tool:edit"),
    Field("kind", Measure.NAME, "the kind", ("read", "edit", "execute"), is_closed=True),
    Field("text", Measure.TEXT, "a text", example="text:word"),
    Field("path", Measure.PATH, "a path"),
    Field("size", Measure.COUNT, "a count", example="size>3"),
    Field("duration", Measure.DURATION, "a time", example="duration>50s"),
    Field("share", Measure.PERCENT, "a share"),
)
VOCABULARY = Vocabulary.of(
    FIELDS, ("failed", "rejected"), {"calls": "--on and check"}, synonyms={"took": "duration"}
)
Values = Mapping[str, Value]


def _reader(name: str) -> Callable[[Values], Value]:
    return lambda values: values.get(name)


def _word(word: str) -> Test[Values]:
    return lambda values: word in str(values.get("words", "")).split()


def _began_ms(values: Values) -> int | None:
    found = values.get("began")
    return int(found) if isinstance(found, int | float) else None


READERS: Readers[Values] = Readers(
    {field.name: _reader(field.name) for field in FIELDS}, _word, {}, _began_ms
)


def says(rule: str, values: Values, *, allows_patterns: bool = False) -> bool | None:
    """Return what a rule says about values; a field without a value is unknown."""
    return parse(rule, VOCABULARY, allows_patterns=allows_patterns).bind(READERS)(values)


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


def test_times_of_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """A range of local times of day selects what began in it, its ends included; over midnight too."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        for rule, inside, outside in (
            ("09:00..09:10", ("09:00:00", "09:10:00"), ("08:59:59", "09:10:01")),
            ("9:00:30..", ("09:00:30", "23:59:59"), ("09:00:29", "00:00:00")),
            ("..09:10", ("00:00:00", "09:10:00"), ("09:10:01",)),
            ("22:00..06:00", ("22:00:00", "03:00:00", "06:00:00"), ("21:59:59", "06:00:01")),
            ("-09:00..09:10", ("08:59:59",), ("09:05:00",)),
        ):
            for clock in (*inside, *outside):
                with case(f"{rule} {clock}"):
                    at = datetime.strptime(f"2026-11-02 {clock}", "%Y-%m-%d %H:%M:%S").astimezone()
                    assert says(rule, {"began": at.timestamp() * 1000 + 999}) is (clock in inside)
        assert says("09:00..09:10", {}) is None
        # Quoted, and without a colon, it is a text.
        assert says('"09:00..09:10" 1..2', {"words": "09:00..09:10 1..2"}) is True
    finally:
        monkeypatch.undo()
        time.tzset()


WRONG: list[tuple[str, str, int]] = [
    ("", "the rule is empty", 0),
    ("  ", "the rule is empty", 0),
    ("durtion>5s", 'unknown field "durtion" (did you mean duration?)', 0),
    ("a DURTION>5s", 'unknown field "durtion" (did you mean duration?)', 2),
    ("took>5s", 'unknown field "took" (did you mean duration?)', 0),
    ("time:9:00", 'unknown field "time" (did you mean 09:00..09:10?)', 0),
    ("time:9:00..", 'unknown field "time" (did you mean 9:00..?)', 0),
    ("took:09:30", 'unknown field "took" (did you mean duration, or 09:00..09:10?)', 0),
    (
        "duration:09:30",
        'duration: "09:30" is not a time with its unit: 500ms, 50s, 10m, 2h or 7d; '
        "times of day are 09:00..09:10, without a field",
        0,
    ),
    ("a 09:00..25:00", '"25:00" is not a time of day, such as 09:00 or 09:00:30', 2),
    ("9:..10:00", '"9:" is not a time of day, such as 09:00 or 09:00:30', 0),
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


NAMES: dict[bool | None, Value] = {True: "yes", False: "no", None: None}


def kleene(rule: str, tool: bool | None, kind: bool | None) -> bool | None:
    """Return what Kleene's logic says, from all values that the unknown ones may have."""
    results = {
        eval(rule, {"a": a, "b": b})
        for a in ((True, False) if tool is None else (tool,))
        for b in ((True, False) if kind is None else (kind,))
    }
    return results.pop() if len(results) == 1 else None


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.long)])
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
    """A value without `*` is searched in a text; a glob matches the whole text, or parts of a path. More
    than 4,096 values give the same results.
    """
    for glob, text, is_match in TEXTS:
        with case(f"{glob} {text}"):
            assert text_matcher(glob)(text) is is_match
    assert word_matcher("x[0]")("print(x[0])")
    assert word_matcher("why?")("but why?")
    assert not word_matcher("why?")("whys")
    assert word_matcher("*x[0]*")("print(x[0])")
    assert not word_matcher("*x[0]")("print(x[0])")
    for glob, path, is_match in PATHS:
        with case(f"{glob} {path}"):
            assert path_matcher(glob)(path) is is_match
            assert not is_match or literal_of(glob) in path.lower()
    test = parse("tool:*7", VOCABULARY).bind(READERS)
    for _ in range(2):
        assert sum(test({"tool": f"t{number}"}) is True for number in range(10_000)) == 1000


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


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.long)])
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


def test_regular_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern of RE2 is searched in 65,536 characters, without case; one that needs more than linear time
    is an error. Without RE2, the error names the extra.
    """
    for pattern, text, is_match in PATTERNS:
        with case(pattern):
            assert pattern_matcher(pattern)(text) is is_match
    for pattern, reason, at in REFUSED:
        with case(pattern[:40]):
            with pytest.raises(RuleError) as caught:
                pattern_matcher(pattern, 7)
            assert (caught.value.reason, caught.value.at) == (reason, 7 + at)
    assert pattern_matcher("b")("a" * 65_535 + "b") is True
    assert pattern_matcher("b")("a" * 65_536 + "b") is False
    monkeypatch.setitem(sys.modules, "re2", None)
    assert name_matcher("a*")("ab")
    with pytest.raises(RuleError, match=re.escape("pip install 'google-re2>=1.1'")) as caught:
        pattern_matcher("a")
    assert "\n" not in caught.value.reason


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


@pytest.mark.costs
def test_many_mistakes_take_little_time() -> None:
    """A text of open parentheses and quotes takes under 0.5 s."""
    for text in ("(a " * 1000, '"' * 3999, "a OR (" * 600, "size>x " * 500):
        before = process_time()
        assert typed(text, VOCABULARY).problem is not None
        assert process_time() - before < 0.5


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
    """A word is completed, a value is found by its beginning or two letters and quoted; fifty are offered.
    The mistake is the first one of the text.
    """
    values = [TypedValue("Bash", "the second"), TypedValue("a b"), TypedValue('say"hi\\'), TypedValue("")]
    for text, words in OFFERS:
        with case(text):
            found = offers(text, VOCABULARY, lambda field: values if field == "tool" else ())
            assert [offer.text for offer in found] == words
    for value in ("a b", 'a"b', "(a", "a\\b c", "-a", "a)"):
        (offer,) = offers("tool:", VOCABULARY, partial(only, value))
        condition = parse(f"({offer.text} a)", VOCABULARY)
        assert f"value={value!r}" in f"{condition!r}"
    assert len(offers("tool:path", VOCABULARY, lambda _field: MANY)) == 50
    for text, known in TYPED:
        with case(text):
            seen = typed(text, VOCABULARY)
            assert seen.words == known
            assert (seen.condition is None) is (not known)
            assert (seen.problem is None) is (text.strip() == known)


MANY = [TypedValue(f"path{number}") for number in range(10_000)]


def only(value: str, _field: str) -> list[TypedValue]:
    """Return a value of any field."""
    return [TypedValue(value)]


@pytest.mark.costs
def test_offers_of_many_values_take_little_time() -> None:
    """50 of 10,000 paths are found in under 0.5 s."""
    before = process_time()
    offers("tool:path", VOCABULARY, lambda _field: MANY)
    assert process_time() - before < 0.5


NUMBERS: list[tuple[str, Measure, float]] = [
    ("0", Measure.COUNT, 0),
    ("-9", Measure.COUNT, -9),
    ("1.5k", Measure.COUNT, 1500),
    ("2M", Measure.COUNT, 2_000_000),
    ("500ms", Measure.DURATION, 500),
    ("50s", Measure.DURATION, 50_000),
    ("1.5m", Measure.DURATION, 90_000),
    ("2h", Measure.DURATION, 7_200_000),
    ("7d", Measure.DURATION, 604_800_000),
    ("80", Measure.PERCENT, 80),
    ("80.5%", Measure.PERCENT, 80.5),
]


def test_a_rule_is_parsed() -> None:
    """Terms are joined, a mistake is one line, and unknown values decide nothing."""
    # Terms in a row must all be true, `OR` binds less, names of outcomes are alternatives. An escaped
    # slash is one; a rule names its fields.
    for rule, words, is_true in JOINED:
        with case(rule):
            assert says(rule, {"words": words}) is is_true
    rule = r"text:re:/^a\/b\\\d$/"
    assert says(rule, {"text": "a/b\\7"}, allows_patterns=True) is True
    assert says(rule, {"text": "a/b7"}, allows_patterns=True) is False
    assert parse("a -(tool:x OR size>3) path:b", VOCABULARY).fields == {"tool", "size", "path"}
    # The error says in one line what is wrong, which word is nearest, and where, with 40 characters of a
    # word. A rule has 4,000 characters at most, and parentheses 50 deep.
    for rule, reason, at in WRONG:
        with case(rule):
            with pytest.raises(RuleError) as caught:
                parse(rule, VOCABULARY)
            assert (caught.value.reason, caught.value.at) == (reason, at)
    for rule, reason in [
        ("re:/a/", "re:/…/ needs a field: command:re:/…/"),
        ("size:re:/a/", "size is a number, for example size>3"),
        ("text:re:/a", 'a regular expression has no end: "re:/a"'),
        ("text:re:/a/i", '"i" follows a quote without a blank'),
        ("text:re:/(a/", '"re:/(a/": missing )'),
    ]:
        with case((rule, reason)):
            with pytest.raises(RuleError) as caught:
                parse(rule, VOCABULARY, allows_patterns=True)
            assert caught.value.reason == reason
    rule = r"a text:re:/\/(?=b)/"
    with pytest.raises(RuleError) as caught:
        parse(rule, VOCABULARY, allows_patterns=True)
    assert rule[caught.value.at :] == "(?=b)/"
    for rule in ('"' + "x" * 3000, "kind:" + "x" * 3000, "size>" + "9" * 3000):
        with pytest.raises(RuleError) as caught:
            parse(rule, VOCABULARY)
        assert len(caught.value.reason) < 120
    for rule in ["(" * 60 + "a" + ")" * 60, "-(" * 60 + "a" + ")" * 60, "a" * 4001]:
        with case(rule), pytest.raises(RuleError, match="at most"):
            parse(rule, VOCABULARY)
    # The result is unknown if the unknown value decides it. `:` is equality of numbers; one of several
    # values must match, and a dear field is read last.
    for rule, logic in [
        ("tool:yes text:yes", "a and b"),
        ("tool:yes OR text:yes", "a or b"),
        ("-tool:yes text:yes", "not a and b"),
        ("-(tool:yes OR text:yes)", "not (a or b)"),
        ("tool:yes OR -text:yes", "a or not b"),
    ]:
        with case((rule, logic)):
            cases = [*product(NAMES, repeat=2)]
            assert len(cases) == 9
            for tool, text in cases:
                values = {"tool": NAMES[tool], "text": NAMES[text]}
                assert says(rule, values) is kleene(logic, tool, text), (tool, text)
    for operator in [">", ">=", "<", "<=", ":"]:
        with case(operator):
            found = [says(f"size{operator}3", {"size": size}) for size in (2, 3.0, 4)]
            sign = "==" if operator == ":" else operator
            assert found == [eval(f"{size}{sign}3") for size in (2, 3, 4)]
            assert says(f"size{operator}3", {"size": None}) is None
            assert says(f"size{operator}3", {"size": "3"}) is None
    assert says("tool:b*", {"tool": ("a", "bc")}) is True
    assert says("tool:b*", {"tool": ("a",)}) is False
    assert says("tool:b*", {"tool": ()}) is False
    assert says("-tool:b*", {"tool": ()}) is True
    assert says("text:b", {"text": ("a", "abc")}) is True
    assert says("path:b", {"path": ("x/b", "a")}) is True
    fields = {field.name: field._replace(cost=field.name == "tool") for field in VOCABULARY.fields.values()}
    readers = READERS.values | {"tool": lambda _values: pytest.fail("it was read")}  # type: ignore[operator]
    test = parse("tool:a text:b", VOCABULARY._replace(fields=fields)).bind(
        type(READERS)(readers, READERS.word, {})
    )
    assert test({"text": "c"}) is False
    # Times are in milliseconds, shares of 100 as they are; a number of something else is an error that
    # shows right ones.
    for further_text, measure, value in NUMBERS:
        with case(further_text):
            assert number(further_text, measure, "x") == value
    for other_text, other_measure in NOT_NUMBERS:
        with case(f"{other_text} {other_measure}"), pytest.raises(RuleError, match=r"^x: .* is not a"):
            number(other_text, other_measure, "x")


NOT_NUMBERS: list[tuple[str, Measure]] = [
    ("", Measure.COUNT),
    ("k", Measure.COUNT),
    ("1 k", Measure.COUNT),
    ("1m", Measure.COUNT),
    ("1e5", Measure.COUNT),
    ("1.", Measure.COUNT),
    ("9" * 16, Measure.COUNT),
    ("5", Measure.DURATION),
    ("5min", Measure.DURATION),
    ("1h30m", Measure.DURATION),
    ("80s", Measure.PERCENT),
    ("²", Measure.COUNT),
]
