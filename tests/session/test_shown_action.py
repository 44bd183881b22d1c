"""The screen says in the present tense what runs, and what a call wants to do that waits for the user."""

from __future__ import annotations

from agentwatch.agents.tool import Phrase
from agentwatch.session.actions import action, shown_action
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from tests.conftest import case

WAITS = "waits for your permission"


def made(phrase: str, target: str | None, kind: ToolKind, outcome: Outcome = Outcome.RUNNING) -> Call:
    """Return a call."""
    return Call(1, 1, "c", "tool", phrase, target, kind=kind, outcome=outcome)


def test_an_open_call_is_in_the_present_tense() -> None:
    """A command needs no word for what it is; a phrase with an unknown first word stays as it is."""
    cases = [
        ("Ran terminal command", "make", ToolKind.EXECUTE, "Running make", "Wants to run make"),
        (
            "Ran terminal command",
            None,
            ToolKind.EXECUTE,
            "Running terminal command",
            "Wants to run terminal command",
        ),
        ("Ran subagent", "Look", ToolKind.DELEGATE, "Running subagent Look", "Wants to run subagent Look"),
        ("Created new file", "a", ToolKind.EDIT, "Creating new file a", "Wants to create new file a"),
        ("Searched the web", "x", ToolKind.SEARCH, "Searching the web x", "Wants to search the web x"),
        ("Moved file", "a", ToolKind.MOVE, "Moved file a (running)", "Moved file a"),
    ]
    for phrase, target, kind, runs, wants in cases:
        call = made(phrase, target, kind)
        with case((phrase, target)):
            assert shown_action(call) == runs
            assert shown_action(call, WAITS) == f"{wants} ({WAITS})"
            assert action(call) == " ".join(filter(None, (phrase, target, "(running)")))


def test_every_phrase_of_the_text_format_has_a_present_tense() -> None:
    """None of them says of an open call that it was done."""
    for name, phrase in vars(Phrase).items():
        if name.isupper():
            with case(phrase):
                assert shown_action(made(phrase, None, ToolKind.OTHER)).split()[0].endswith("ing")


def test_an_ended_call_is_shown_as_in_the_text_format() -> None:
    """Only the sign of the removed lines is another one."""
    call = made("Edited file", "src/a-b.py", ToolKind.EDIT, Outcome.SUCCEEDED)
    assert shown_action(call) == action(call) == "Edited file src/a-b.py"
    call.lines_added, call.lines_removed = 3, 1
    assert action(call) == "Edited file src/a-b.py (+3 -1)"
    assert shown_action(call) == "Edited file src/a-b.py (+3 −1)"
    call.note = "lines 3-5 of 9"
    assert shown_action(call) == action(call) == "Edited file src/a-b.py (lines 3-5 of 9)"
    failed = made("Ran terminal command", "make", ToolKind.EXECUTE, Outcome.FAILED)
    assert shown_action(failed) == action(failed) == "Ran terminal command make (failed)"
