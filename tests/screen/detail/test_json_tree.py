"""Any JSON is a tree whose branches fold."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from rich.style import Style

from agentwatch.screen.detail.json_tree import JsonTree, from_text
from tests.builders.lines import ANY_JSON, PROPERTY

DEEP = {"a": {"b": {"c": {"d": 1}}}, "list": [1, "two", None], "flat": "x"}


def shown(tree: JsonTree, width: int = 60) -> list[str]:
    """Return the rows of a tree."""
    return [tree.row(row, lambda _: Style()).text for row in range(tree.lay_out(width))]


def test_it_is_open_two_levels_deep() -> None:
    """At first the members and theirs are in sight, and what they hold is counted."""
    assert shown(JsonTree(DEEP)) == [
        "▾ a: 1 member",
        "  ▸ b: 1 member",
        "▾ list: 3 items",
        "    0: 1",
        "    1: two",
        "    2: null",
        "  flat: x",
    ]


def test_a_branch_opens_and_folds() -> None:
    """A branch that is opened shows what it holds, folded; folding one hides all below it, and keeps it."""
    tree = JsonTree(DEEP)
    shown(tree)
    assert [tree.is_branch(row) for row in range(7)] == [True, True, True, False, False, False, False]
    tree.turn(1)
    assert shown(tree)[1:3] == ["  ▾ b: 1 member", "    ▸ c: 1 member"]
    tree.turn(0)
    assert shown(tree)[:2] == ["▸ a: 1 member", "▾ list: 3 items"]
    tree.turn(0)
    assert shown(tree)[1:3] == ["  ▾ b: 1 member", "    ▸ c: 1 member"]


def test_values_tell_what_they_are() -> None:
    """A text that reads like a number, a word of JSON or nothing is quoted; other texts stand as they are."""
    values = {"n": 1.5, "t": "1.5", "yes": True, "text": "true", "none": None, "empty": "", "o": {}, "l": []}
    assert shown(JsonTree(values)) == [
        *("n: 1.5", 't: "1.5"', "yes: true", 'text: "true"', "none: null", 'empty: ""', "o: {}", "l: []"),
    ]


def test_a_text_of_several_lines_is_a_branch() -> None:
    """The lines of a text stand below its name."""
    assert shown(JsonTree({"body": "one\ntwo\n", "one": "x\n"})) == [
        "▾ body: 2 lines",
        "    one",
        "    two",
        "  one: x␊",
    ]


def test_a_long_line_goes_on_below_its_branch() -> None:
    """Only the first row of a folded line is that of the branch."""
    tree = JsonTree({"n" * 50: [1]})
    assert len(shown(tree, 20)) > 3
    assert [tree.is_branch(row) for row in range(3)] == [True, False, False]


def test_of_a_very_long_list_the_rest_is_counted() -> None:
    """What does not fit is not shown, and said."""
    rows = shown(JsonTree({"numbers": list(range(30_000)), "after": 1}))
    assert len(rows) == 20_001
    assert rows[-1] == "… 10,002 more below; r shows the recording's line"


def test_a_deep_value_is_a_tree() -> None:
    """Depth costs nothing until it is opened."""
    value: Any = 1
    for _ in range(5_000):
        value = [value]
    tree = JsonTree(value)
    assert shown(tree) == ["▾ 0: 1 item", "  ▸ 0: 1 item"]


@PROPERTY
@given(ANY_JSON)
def test_every_branch_of_any_value_opens(value: Any) -> None:
    """Whatever the value, each row is drawn, and opening all branches shows at least as many."""
    tree = JsonTree(value)
    before = len(shown(tree))
    for row in reversed(range(before)):
        if tree.is_branch(row):
            tree.turn(row)
            shown(tree)
            tree.turn(row)
    assert len(shown(tree)) == before


def test_a_text_that_holds_json_is_its_value() -> None:
    """An object or array in a text is a tree; anything else stays a text, also one that is too long."""
    assert from_text(json.dumps(DEEP), 1000) == DEEP
    for text in ("{}", "[1", "12", "", '"x"', json.dumps(DEEP) + "x", "[" * 100_000):
        assert from_text(text, 1_000_000) is None
    assert from_text(json.dumps(DEEP), 10) is None
