"""The exit code of a Droid call is the last line of its output; a failure has its reason in the error."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.droid.agent import AGENT
from agentwatch.session.blocks import ErrorBlock
from agentwatch.session.events import Outcome
from tests.agents.droid.test_droid import whole
from tests.builders.formats.droid import ended, use
from tests.conftest import case

ERRED = "Error: tool execution cancelled"


def test_a_command_has_the_exit_code_of_its_last_line() -> None:
    """Droid writes it below the output; a call that was cancelled has only a message."""
    cases: list[tuple[str, dict[str, Any], tuple[Outcome, int | None, str | None]]] = [
        ("Execute", {"value": "x\n\n[Process exited with code 0]"}, (Outcome.SUCCEEDED, 0, None)),
        ("Execute", {"value": "[Process exited with code 3]\n"}, (Outcome.FAILED, 3, "exit 3")),
        ("Execute", {"value": "[Process exited with code x]"}, (Outcome.SUCCEEDED, None, None)),
        ("Execute", {"value": "[Process exited with code 3] or so"}, (Outcome.SUCCEEDED, None, None)),
        ("Read", {"value": "[Process exited with code 3]"}, (Outcome.SUCCEEDED, None, None)),
        ("Execute", {"value": ERRED, "is_error": True}, (Outcome.CANCELLED, None, ERRED)),
    ]
    for name, fields, expected in cases:
        with case((name, fields)):
            [call] = whole(use(name, command="ls"), ended(name=name, **fields)).calls
            assert (call.outcome, call.exit_code, call.error) == expected


def test_an_error_may_be_an_object() -> None:
    """A call that did not run has no value, and the line does not name the tool."""
    error = {"type": "tool_error", "message": ERRED}
    line_ = {key: value for key, value in ended(name="", is_error=True).items() if key != "value"}
    [call] = whole(use("Execute", command="ls"), {**line_, "error": error}).calls
    assert (call.tool, call.outcome, call.error) == ("Execute", Outcome.CANCELLED, ERRED)
    assert list(AGENT.blocks({**line_, "error": error}, "c-1")) == [ErrorBlock(ERRED)]
