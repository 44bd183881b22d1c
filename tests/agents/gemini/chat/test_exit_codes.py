"""The exit code of a command in a chat file."""

from __future__ import annotations

from agentwatch.agents.gemini.chat import call_events, call_of
from agentwatch.session.events import Outcome, ToolEnded
from tests.conftest import case

TAIL = "\nProcess Group PGID: 1328\n</untrusted_context>"


def test_a_command_that_failed_has_its_exit_code() -> None:
    """Its status is `success`; the text for the model names the exit code after the output."""
    for output, shown, outcome, code in (
        (f"<untrusted_context>\nOutput: oops\nExit Code: 3{TAIL}", "oops", Outcome.FAILED, 3),
        ("Output: oops\nExit Code: 1", "oops", Outcome.FAILED, 1),
        (f"<untrusted_context>\nOutput: oops{TAIL}", "oops", Outcome.SUCCEEDED, None),
        (f"Output: a\nExit Code: 3{TAIL}", "a\nExit Code: 3", Outcome.SUCCEEDED, None),
        (f"Output: Exit Code: 3{TAIL}", "Exit Code: 3", Outcome.SUCCEEDED, None),
        (f"Output: a\nExit Code: x{TAIL}", "a", Outcome.SUCCEEDED, None),
    ):
        with case(output):
            response = {"functionResponse": {"response": {"output": output}}}
            call = {"id": "c", "name": "run_shell_command", "args": {"command": "x"}, "result": [response]}
            [ended] = call_events(call_of({**call, "status": "success", "resultDisplay": shown}), "")
            assert isinstance(ended, ToolEnded)
            assert (ended.outcome, ended.exit_code) == (outcome, code)
