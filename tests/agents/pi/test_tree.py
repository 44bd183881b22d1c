"""How far the user went back is found in the tree of entries."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.pi.session_file import Tree


def back(*entries: tuple[Any, Any, bool]) -> list[int]:
    """Return the turns that the user went back before each entry: its id, its parent, if it is a prompt."""
    tree = Tree()
    return [
        tree.add({"id": entry, "parentId": parent}, is_prompt=is_prompt)
        for entry, parent, is_prompt in entries
    ]


def test_an_entry_at_the_leaf_goes_nowhere() -> None:
    """A file without branches has no rewinds; nor has one whose entries have no ids."""
    assert back(("a", None, False), ("b", "a", True), ("c", "b", False), ("d", "c", True)) == [0, 0, 0, 0]
    assert back((None, None, True), (None, "x", True), ("z" * 200, None, True)) == [0, 0, 0]


def test_another_parent_takes_back_the_turns_after_it() -> None:
    """The user went back to `b`, and then to before the first entry."""
    path = [("a", None, False), ("b", "a", True), ("c", "b", True), ("d", "c", True)]
    assert back(*path, ("e", "b", True), ("f", "e", False), ("g", None, True))[4:] == [2, 0, 2]


def test_a_parent_of_a_branch_that_was_left_is_found() -> None:
    """From `d` back to `c`, whose branch was left at `b`: the turn of `d` is taken back. Those of `c` are not
    shown again, so that they cannot be taken back again."""
    path = [("a", None, True), ("b", "a", True), ("c", "b", True), ("d", "b", True)]
    assert back(*path, ("e", "c", True), ("f", "a", True))[3:] == [1, 1, 2]


def test_an_unknown_parent_takes_nothing_back() -> None:
    """A file that was cut at its start has entries whose parents are not in it; so has a line without one."""
    assert back(("a", "?", True), ("b", "a", True), ("c", "?", True)) == [0, 0, 0]
    tree = Tree()
    tree.add({"id": "a", "parentId": None}, is_prompt=True)
    assert tree.add({"id": "b"}, is_prompt=True) == 0


def test_an_id_that_occurs_twice_is_the_later_entry() -> None:
    """Two entries of one id, and an entry that is its own parent, end the search."""
    assert back(
        ("a", None, True), ("b", "a", True), ("a", "b", True), ("c", "c", True), ("d", "a", False)
    ) == [
        *(0, 0, 0, 0, 1),
    ]


def test_a_far_ancestor_is_not_searched() -> None:
    """Back to a branch of 300 entries nothing is taken back; of 70,000 entries the oldest are forgotten."""
    left = [(f"l{number}", f"l{number - 1}" if number else "a", True) for number in range(300)]
    assert back(("a", None, True), *left, ("b", "a", True), ("c", "l299", True))[-2:] == [300, 0]
    tree = Tree()
    for number in range(70_000):
        tree.add({"id": f"{number}", "parentId": f"{number - 1}" if number else None}, is_prompt=False)
    assert tree.add({"id": "x", "parentId": "5"}, is_prompt=True) == 0
    assert tree.add({"id": "y", "parentId": "60000"}, is_prompt=True) == 1
