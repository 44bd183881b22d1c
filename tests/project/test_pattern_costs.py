"""No regular expression of the program takes more than linear time, whatever text it is given."""

import ast
import importlib
import pkgutil
import re
import string
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

import pytest

import agentwatch
from agentwatch.agents import decoder
from agentwatch.analysis.search import Query
from agentwatch.analysis.verdicts import CHECKER_RULES as CHECKERS
from agentwatch.analysis.verdicts import RUNNER_RULES as RUNNERS
from agentwatch.cli import parameters
from agentwatch.recording import store
from agentwatch.screen.panes.detail import from_blocks
from agentwatch.screen.widgets import markdown
from agentwatch.text import safe
from agentwatch.text.safe import safe_text
from tests.conftest import ROOT, case
from tests.harness.costs import seconds, takes_more

PACKAGE = ROOT / "agentwatch"
QUERIES = ("exit 1", "**", "** *b", "a ** b", "> > x", "▌▌ ▌x", "a.b*c", "a a a b", "[x]_y", "é ..")
MADE_ON_DEMAND = {
    "agentwatch/agents/decoder.py",
    "agentwatch/analysis/search.py",
    "agentwatch/analysis/verdicts.py",
    "agentwatch/catalog/hooks/plan.py",
    "agentwatch/cli/messages.py",
    "agentwatch/cli/parameters.py",
    "agentwatch/output/redact/secrets/prefixed.py",
    "agentwatch/rules/language/matchers.py",
    "agentwatch/text/safe.py",
}
"""Modules that compile patterns in functions: because a start rarely needs them, from the user's query, from
the rules of verdicts and of secrets (tests/output/redact/secrets/test_costs.py measures these), and when
characters are first seen."""
LENGTHS = (1 << 8, 1 << 11, 1 << 14)
"""Lengths of the texts that are searched, each 8 times the one before."""
QUICK_SECONDS = 0.005
"""Less time than this is never too much. Quadratic time takes 0.2 s for the longest text, and cubic time
takes this long for the shortest.
"""
MOST_GROWTH = 24
"""A text that is 8 times as long takes 8 times as long, or 64 times in quadratic time. The first text ends
before the bound of a repetition of up to 200: from there to the second, such a pattern grows by 21.
"""
DOUBTFUL_GROWTH = 10
"""A pattern whose time grows by less from the first text to the second grows by less than `MOST_GROWTH` to
the third, even if a part of its time is quadratic. The third text is left out then: to search it takes eight
times as long as the others together, 4 minutes for the 333,200 texts.
"""
USUAL = ' \n\t=-a[*`0"\\x'
ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")


@cache
def patterns() -> dict[str, re.Pattern[str] | re.Pattern[bytes]]:
    """Return the patterns that are measured, by their names."""
    return {**module_patterns(), **made_patterns()}


def module_patterns() -> dict[str, re.Pattern[str] | re.Pattern[bytes]]:
    """Return every compiled pattern that a module of the program has as a constant."""
    found: dict[str, re.Pattern[str] | re.Pattern[bytes]] = {}
    for info in pkgutil.walk_packages(agentwatch.__path__, "agentwatch."):
        if info.name == "agentwatch.__main__":
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                found[f"{info.name}.{name}"] = value
    return found


def made_patterns() -> dict[str, re.Pattern[str] | re.Pattern[bytes]]:
    """Return examples of the patterns that are made while the program runs."""
    safe_text("e" + "\u0301" * 12)
    assert safe._REPLACEMENTS.too_many_marks is not None
    found: dict[str, re.Pattern[str] | re.Pattern[bytes]] = {
        "too_many_marks": safe._REPLACEMENTS.too_many_marks,
        "emoji_joiner": safe._emoji_joiner(),
        "hidden_run": safe._hidden_run(),
        "a token of JSON": re.compile(decoder._TOKEN),
        "a member of JSON": re.compile(decoder._MEMBER),
        "the id of a session": re.compile(store._ID),
        "a size": re.compile(parameters._SIZE),
        **{f"rule {at} of {rule.tool}": rule.pattern for at, rule in enumerate((*RUNNERS, *CHECKERS))},
    }
    for text in QUERIES:
        query = Query(text)
        found[f"query {text!r}"] = query.pattern
        found[f"query {text!r} in Markdown"] = query.markdown_pattern
        found[f"query {text!r} in lines"] = query.shown_pattern()
    return found


def characters_of(pattern: re.Pattern[str] | re.Pattern[bytes]) -> list[str]:
    """Return the characters that a pattern knows: those in its source, and the usual ones."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    escaped = [chr(int("".join(filter(None, found)), 16)) for found in ESCAPED.findall(source)]
    marks = [char for char in source if char in string.punctuation or not char.isascii()]
    return list(dict.fromkeys([*USUAL, *marks, *escaped]))[:40]


def beginnings_of(pattern: re.Pattern[str] | re.Pattern[bytes]) -> list[str]:
    """Return texts after which a pattern may be in the middle of a match."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    words = [word for word in re.findall(r"[a-z]{2,}", source) if len(word) < 12]
    return ["", "a", '"', "```", "~~~", ',"', '"text":', "a://", '{"type":', "\x1b[", "@@ -", "#", *words[:3]]


def shapes_for(pattern: re.Pattern[str] | re.Pattern[bytes]) -> Iterator[tuple[str, str, str]]:
    """Yield the beginning, the repeated unit and the end of a text: each character and pair, other ends."""
    chars = characters_of(pattern)
    for unit in [*chars, *("".join(pair) for pair in product(chars, repeat=2))]:
        yield "", unit, ""
    yield from product(beginnings_of(pattern), chars[:13], ("", "`", '"', "\x00"))


def search(pattern: re.Pattern[str] | re.Pattern[bytes], text: str) -> None:
    """Find all matches of a pattern in a text."""
    if isinstance(pattern.pattern, bytes):
        data = text.encode("latin-1", "replace")
        for _ in pattern.finditer(data):
            pass
    else:
        for _ in pattern.finditer(text):
            pass


def slow_texts(pattern: re.Pattern[str] | re.Pattern[bytes]) -> Iterator[str]:
    """Yield the texts for which a pattern takes far more than 8 times as long when 8 times as long."""
    for beginning, unit, end in shapes_for(pattern):
        first, second, third = (beginning + unit * (length // len(unit)) + end for length in LENGTHS)
        short = min(seconds(partial(search, pattern, first)) for _ in range(2))
        if (
            (short > QUICK_SECONDS and is_slow(pattern, "", first))
            or (
                ((longer := seconds(partial(search, pattern, second))) > QUICK_SECONDS)
                and is_slow(pattern, first, second)
            )
            or (longer > DOUBTFUL_GROWTH * short and is_slow(pattern, second, third))
        ):
            yield f"{first[:12]!r}…{first[-4:]!r}"


def is_slow(pattern: re.Pattern[str] | re.Pattern[bytes], shorter: str, longer: str) -> bool:
    """Return whether a text takes far more time than a shorter one."""
    return takes_more(
        partial(search, pattern, longer), MOST_GROWTH, partial(search, pattern, shorter), QUICK_SECONDS
    )


@pytest.mark.costs
def test_the_time_of_a_pattern_is_linear() -> None:
    """A pattern takes linear time on repetitions of each character and pair of characters that it knows.

    One of quadratic or cubic time is reported.
    """
    slow = (r"\n\s*\n\s*\S", r"^(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$", r"[a-z]+://\S+$", r"\s+$", r"\*\**\*\**x")
    for source in slow:
        with case(source):
            assert next(slow_texts(re.compile(source)), None) is not None
    for name, pattern in patterns().items():
        with case(name):
            assert next(slow_texts(pattern), None) is None


@pytest.mark.slow
def test_the_patterns_of_every_module_are_measured() -> None:
    """Each module that compiles a pattern is represented, and the known patterns are among those measured."""
    names = {name.rpartition(".")[0].replace(".", "/") + ".py" for name in patterns()}
    compiling = {
        str(path.relative_to(ROOT))
        for path in PACKAGE.rglob("*.py")
        if "re.compile" in path.read_text("utf-8")
    }
    assert compiling - MADE_ON_DEMAND <= names
    assert {id(markdown._MARKUP), id(from_blocks._TOKEN)} <= set(map(id, patterns().values()))


def calls_of_re(source: str) -> list[tuple[int, str]]:
    """Return the line and name of each call of `re` that is not the compilation of a module's constant."""
    if "re." not in source:
        return []
    tree = ast.parse(source)
    at_module = {
        id(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call)
    }
    return [
        (node.lineno, node.func.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr != "escape"
        and id(node) not in at_module
    ]


@pytest.mark.system
def test_every_pattern_is_a_constant_of_its_module() -> None:
    """Patterns are compiled as constants, so that the test of their cost finds them."""
    sources = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name: calls for name, source in sources.items() if (calls := calls_of_re(source))}
    assert found.keys() == MADE_ON_DEMAND
    used = {name for calls in found.values() for _, name in calls}
    assert used == {"compile", "finditer", "fullmatch", "sub"}
    assert not [name for name, source in sources.items() if re.search("from re import|import re as", source)]


@pytest.mark.costs
def test_cutting_text_takes_linear_time() -> None:
    """Cutting a text of 128 KiB into blocks takes less than half a second; usual text takes 5 ms."""
    splits: list[Callable[[str], object]] = [markdown.split_blocks, markdown.split_lines]
    for split, unit in product(splits, ["\n", " \n", "`", "a\n\n", "* a\n", "```\n", "|"]):
        with case(f"{split.__name__}, {unit!r}"):
            text = unit * ((1 << 17) // len(unit))
            began = time.process_time()
            split(text)
            assert time.process_time() - began < 0.5
