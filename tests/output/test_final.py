"""The final answer is the assistant's text after the last call and the last prompt of the last run."""

from __future__ import annotations

from agentwatch.output.text import final_answer
from tests.builders.lines import (
    answered,
    completed,
    delta,
    final,
    init,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
    user,
)
from tests.conftest import case

CALL = (started("read"), completed("read"))


ANSWERS: list[tuple[tuple[bytes, ...], str]] = [
    ((init(), user(), final("Hi."), result("Hi.")), "Hi."),
    ((init(), user(), segment("First."), *CALL, final("Last."), result("First.Last.")), "Last."),
    ((init(), user(), segment("First."), *CALL, result("First.")), ""),
    (
        (init(), *CALL, delta("a"), delta("b"), thought("hm"), thought_through(), delta("c"), result("")),
        "abc",
    ),
    ((init(), *CALL, segment("One. "), answered({}), final("Two."), result("")), "One. Two."),
    ((init(), final("Old."), result("Old."), init(), result("")), ""),
    ((init(), final("Old."), init(), user(), final("New."), result("New.")), "New."),
    ((init(), user(), final("One."), user("More"), final("Two."), result("")), "Two."),
    ((result("Only this."),), "Only this."),
    ((), ""),
]


def test_the_final_answer() -> None:
    """Earlier text, thoughts, notices and earlier runs are left out."""
    for lines, answer in ANSWERS:
        with case(answer):
            assert final_answer(session(*lines)) == answer
