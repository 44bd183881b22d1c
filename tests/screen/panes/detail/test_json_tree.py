"""Any JSON value is shown as a tree whose branches fold."""

import json
from typing import Any

from hypothesis import given
from rich.style import Style

from agentwatch.screen.panes.detail.json_tree import JsonTree, from_text
from tests.builders.lines import ANY_JSON, PROPERTY

DEEP = {"a": {"b": {"c": {"d": 1}}}, "list": [1, "two", None], "flat": "x"}


def shown(tree: JsonTree, width: int = 60) -> list[str]:
    return [tree.row(row, lambda _: Style()).text for row in range(tree.lay_out(width))]


def test_a_branch_opens_and_folds() -> None:
    """Branches open and fold; texts that hold JSON are values, and rows above the limit are counted."""
    # A new tree is unfolded two levels deep, and folded branches show the number of their members.
    assert shown(JsonTree(DEEP)) == [
        "▾ a: 1 member",
        "  ▸ b: 1 member",
        "▾ list: 3 items",
        "    0: 1",
        "    1: two",
        "    2: null",
        "  flat: x",
    ]
    # Unfolding shows the members, still folded; folding a parent hides them and keeps their state.
    tree = JsonTree(DEEP)
    shown(tree)
    assert [tree.is_branch(row) for row in range(7)] == [True, True, True, False, False, False, False]
    tree.turn(1)
    assert shown(tree)[1:3] == ["  ▾ b: 1 member", "    ▸ c: 1 member"]
    tree.turn(0)
    assert shown(tree)[:2] == ["▸ a: 1 member", "▾ list: 3 items"]
    tree.turn(0)
    assert shown(tree)[1:3] == ["  ▾ b: 1 member", "    ▸ c: 1 member"]
    # Only the first row of a wrapped line counts as the branch.
    tree = JsonTree({"n" * 50: [1]})
    assert len(shown(tree, 20)) > 3
    assert [tree.is_branch(row) for row in range(3)] == [True, False, False]
    # A value nested 5,000 levels deep is shown folded; deep levels cost nothing until unfolded.
    value: Any = 1
    for _ in range(5_000):
        value = [value]
    tree = JsonTree(value)
    assert shown(tree) == ["▾ 0: 1 item", "  ▸ 0: 1 item"]
    # A string that resembles a number or a JSON literal, or is empty, is quoted; other strings are not.
    values = {"n": 1.5, "t": "1.5", "yes": True, "text": "true", "none": None, "empty": "", "o": {}, "l": []}
    assert shown(JsonTree(values)) == [
        *("n: 1.5", 't: "1.5"', "yes: true", 'text: "true"', "none: null", 'empty: ""', "o: {}", "l: []"),
    ]
    # A text of several lines is a branch with its lines below the name.
    assert shown(JsonTree({"body": "one\ntwo\n", "one": "x\n"})) == [
        "▾ body: 2 lines",
        "    one",
        "    two",
        "  one: x␊",
    ]
    # A string that holds a JSON object or array is a tree, unless it is invalid or over the size limit.
    assert from_text(json.dumps(DEEP), 1000) == DEEP
    for text in ("{}", "[1", "12", "", '"x"', json.dumps(DEEP) + "x", "[" * 100_000):
        assert from_text(text, 1_000_000) is None
    assert from_text(json.dumps(DEEP), 10) is None
    # Rows above the limit of 20,000 are left out, and the last row shows how many.
    rows = shown(JsonTree({"numbers": list(range(30_000)), "after": 1}))
    assert len(rows) == 20_001
    assert rows[-1] == "… 10,002 more below (press r for the raw line)"


@PROPERTY
@given(ANY_JSON)
def test_every_branch_of_any_value_opens(value: Any) -> None:
    """Any value can be drawn, and unfolding and folding each of its branches gives the same rows again."""
    tree = JsonTree(value)
    before = len(shown(tree))
    for row in reversed(range(before)):
        if tree.is_branch(row):
            tree.turn(row)
            shown(tree)
            tree.turn(row)
    assert len(shown(tree)) == before
