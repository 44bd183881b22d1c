"""A prompt whose parent lies before the last turn rewinds the turns between."""

from __future__ import annotations

from agentwatch.agents.on_disk import Tree


def grown(turns: int) -> Tree:
    """Return a tree of turns, each with a prompt `pN` and an answer `aN`."""
    tree = Tree()
    for number in range(turns):
        assert tree.add_prompt(f"p{number}", f"a{number - 1}" if number else None, begins_turn=True) == 0
        tree.add(f"a{number}", f"p{number}")
    return tree


def test_prompts_in_a_row_rewind_nothing() -> None:
    """Each prompt that follows the last answer begins the next turn."""
    assert grown(5).turns == 5


def test_a_prompt_in_place_of_another_rewinds_it_and_what_followed() -> None:
    """A prompt with the parent of the third of five prompts rewinds three turns."""
    tree = grown(5)
    assert tree.add_prompt("new", "a1", begins_turn=True) == 3
    assert tree.turns == 3
    tree.add("answer", "new")
    assert tree.add_prompt("next", "answer", begins_turn=True) == 0


def test_a_prompt_without_a_parent_rewinds_all_turns() -> None:
    """The first prompt had no parent: another one without a parent replaces it."""
    tree = grown(3)
    assert tree.add_prompt("new", None, begins_turn=True) == 3
    assert tree.turns == 1


def test_a_prompt_without_a_parent_continues_a_cut_conversation() -> None:
    """If the first prompt had a parent, a prompt without one replaces no other."""
    tree = Tree()
    tree.add_prompt("p0", "unknown", begins_turn=True)
    assert tree.add_prompt("p1", None, begins_turn=True) == 0
    assert tree.turns == 2


def test_side_branches_of_other_lines_are_no_rewinds() -> None:
    """The results of parallel calls and progress lines have one parent, and the next prompt follows one."""
    tree = grown(2)
    for side in ("result", "progress", "attachment"):
        tree.add(side, "a1")
    assert tree.add_prompt("p2", "progress", begins_turn=True) == 0


def test_lines_of_the_last_turn_may_have_an_earlier_parent() -> None:
    """The result of a call may follow the prompt that was queued while it ran."""
    tree = grown(1)
    tree.add_prompt("queued", "a0", begins_turn=True)
    tree.add("result", "a0", is_of_last_turn=True)
    tree.add("answer", "result")
    assert tree.add_prompt("p2", "answer", begins_turn=True) == 0
    assert tree.turns == 3


def test_an_unknown_parent_rewinds_nothing() -> None:
    """A parent that is not in the file, or of another type, continues the branch."""
    tree = grown(2)
    assert tree.add_prompt("p2", "elsewhere", begins_turn=True) == 0
    assert tree.add_prompt(7, {"a": 1}, begins_turn=True) == 0
    tree.add([], 7)
    assert tree.turns == 4


def test_a_rewind_is_found_over_more_lines_than_are_kept() -> None:
    """Lines are forgotten, but a user goes back to a prompt, and the parents of prompts are kept longer."""
    tree = grown(2)
    for number in range(40_000):
        tree.add(f"x{number}", f"x{number - 1}" if number else "a1")
    assert not tree.has("a0")
    assert tree.add_prompt("new", "a0", begins_turn=True) == 1


def test_a_repeated_line_is_known_by_its_uuid() -> None:
    """A line with the id of an earlier one is a repetition, unless the id is no UUID."""
    tree = Tree()
    uuid = "b2553a24-ae87-478f-98ad-8c56d614c0be"
    assert not tree.has(uuid)
    tree.add(uuid, None)
    tree.add("short", None)
    assert tree.has(uuid)
    assert not tree.has("short")
    tree.add("x" * 5000, None)
    assert tree.add_prompt("p", "x" * 5000, begins_turn=True) == 0
    assert not tree.has(None)
