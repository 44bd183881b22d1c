"""A condition about an unknown value is neither true nor false."""

from __future__ import annotations

from itertools import product

import pytest

from agentwatch.rules.language.conditions import Value
from agentwatch.rules.language.parser import parse
from tests.rules.language.made import READERS, VOCABULARY, says

NAMES: dict[bool | None, Value] = {True: "yes", False: "no", None: None}


def kleene(rule: str, tool: bool | None, kind: bool | None) -> bool | None:
    """Return what Kleene's logic says, from all values that the unknown ones may have."""
    results = {
        eval(rule, {"a": a, "b": b})
        for a in ((True, False) if tool is None else (tool,))
        for b in ((True, False) if kind is None else (kind,))
    }
    return results.pop() if len(results) == 1 else None


@pytest.mark.parametrize(
    ("rule", "logic"),
    [
        ("tool:yes text:yes", "a and b"),
        ("tool:yes OR text:yes", "a or b"),
        ("-tool:yes text:yes", "not a and b"),
        ("-(tool:yes OR text:yes)", "not (a or b)"),
        ("tool:yes OR -text:yes", "a or not b"),
    ],
)
def test_unknown_values_are_neither_true_nor_false(rule: str, logic: str) -> None:
    """The result is unknown if, and only if, the unknown value decides it."""
    cases = [*product(NAMES, repeat=2)]
    assert len(cases) == 9
    for tool, text in cases:
        values = {"tool": NAMES[tool], "text": NAMES[text]}
        assert says(rule, values) is kleene(logic, tool, text), (tool, text)


@pytest.mark.parametrize("operator", [">", ">=", "<", "<=", ":"])
def test_numbers_are_compared(operator: str) -> None:
    """`:` is equality; a missing number, or a value that is not a number, is unknown."""
    found = [says(f"size{operator}3", {"size": size}) for size in (2, 3.0, 4)]
    sign = "==" if operator == ":" else operator
    assert found == [eval(f"{size}{sign}3") for size in (2, 3, 4)]
    assert says(f"size{operator}3", {"size": None}) is None
    assert says(f"size{operator}3", {"size": "3"}) is None


def test_one_of_several_values_must_match() -> None:
    """A field with several names matches if one does; without names it does not match, and is known."""
    assert says("tool:b*", {"tool": ("a", "bc")}) is True
    assert says("tool:b*", {"tool": ("a",)}) is False
    assert says("tool:b*", {"tool": ()}) is False
    assert says("-tool:b*", {"tool": ()}) is True
    assert says("text:b", {"text": ("a", "abc")}) is True
    assert says("path:b", {"path": ("x/b", "a")}) is True


def test_the_results_of_a_glob_are_kept_only_up_to_a_limit() -> None:
    """A field with more than 4,096 different values gives the same results."""
    test = parse("tool:*7", VOCABULARY).bind(READERS)
    for _ in range(2):
        assert sum(test({"tool": f"t{number}"}) is True for number in range(10_000)) == 1000


def test_dear_fields_are_read_last() -> None:
    """A term about a dear field is not tested if a cheap one decides."""
    fields = {field.name: field._replace(cost=field.name == "tool") for field in VOCABULARY.fields.values()}
    readers = READERS.values | {"tool": lambda _values: pytest.fail("it was read")}  # type: ignore[operator]
    test = parse("tool:a text:b", VOCABULARY._replace(fields=fields)).bind(
        type(READERS)(readers, READERS.word, {})
    )
    assert test({"text": "c"}) is False
