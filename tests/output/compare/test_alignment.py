"""Calls of two runs side by side: in a part that differs, calls of the same tool belong together."""

from __future__ import annotations

from agentwatch.output.compare.alignment import Key, Match, Step, aligned


def key(words: str) -> Key:
    """Return the key of a call from its tool and its target: `read a.py`."""
    tool, _, target = words.partition(" ")
    return Key(tool, target, target.partition(" ")[0])


def steps(a: str, b: str) -> list[Step]:
    """Return the steps of two runs, whose calls are separated by commas."""
    return aligned(*([key(words) for words in run.split(", ")] for run in (a, b))).steps


def test_calls_of_the_same_tool_are_paired_in_order() -> None:
    """In a part that differs, the nth call of a tool replaces one of the same tool, never of another."""
    assert steps("read a, test x, read b, end z", "read c, read d, end z") == [
        Step(Match.REPLACED, 0, 0),
        Step(Match.ONLY_A, 1, None),
        Step(Match.REPLACED, 2, 1),
        Step(Match.EQUAL, 3, 2),
    ]


def test_calls_with_the_same_subject_are_paired_first() -> None:
    """The same program with other arguments replaces itself, although another call comes before it."""
    assert steps("run pytest -q, end z", "run make lint, run pytest -x, end z") == [
        Step(Match.ONLY_B, None, 0),
        Step(Match.REPLACED, 0, 1),
        Step(Match.EQUAL, 1, 2),
    ]


def test_a_repeated_call_is_moved_only_as_often_as_both_make_it() -> None:
    """A call that one run makes once more is only in that run."""
    found = steps("read a, edit b, edit c, read a", "read a, read a, read a, edit b, edit c")
    assert [step.match for step in found].count(Match.MOVED) == 1
    assert [step.match for step in found].count(Match.ONLY_B) == 1


def test_a_long_part_that_differs_is_paired_in_pieces() -> None:
    """200 calls are paired with 200 others, 50 at a time."""
    found = steps(*(", ".join(f"read {side}{number}" for number in range(200)) for side in "ab"))
    assert [step for step in found if step.match is not Match.REPLACED] == []
    assert [(step.a, step.b) for step in found] == [(number, number) for number in range(200)]


def test_a_call_is_paired_with_one_of_the_same_fifty() -> None:
    """Of 50 reads before an edit and 50 reads after one, 49 are paired: the bound on the time costs one."""
    reads = [[f"read {side}{number}" for number in range(50)] for side in "ab"]
    found = steps(", ".join((*reads[0], "edit x")), ", ".join(("edit y", *reads[1])))
    assert [step.match for step in found].count(Match.REPLACED) == 49


def test_an_empty_run_has_no_partner() -> None:
    """All calls of the other run are only there."""
    assert aligned([], [key("read a")]).steps == [Step(Match.ONLY_B, None, 0)]
    assert aligned([], []).steps == []
