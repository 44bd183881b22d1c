"""Questions for permission are asked and answered."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents.registry import answered_agents
from agentwatch.session.events import Permission
from tests.builders.claude_lines import CWD, Json, answer, call, events, init, line, written
from tests.builders.lines import session


def ask(key: str = "r-1", **fields: Any) -> Json:
    """Return a question whether a tool may be used."""
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "rm -rf build"}}
    return line("control_request", request_id=key, request={**request, "tool_use_id": "t-1", **fields})


def reply(key: str = "r-1", **response: Any) -> Json:
    """Return the answer to a question."""
    return line("control_response", response={"subtype": "success", "request_id": key, "response": response})


def test_a_question_is_open_until_it_is_answered() -> None:
    """The question names the tool and its target; the answer ends it."""
    found = session(written(init(), call("Bash", command="rm -rf build"), ask()), is_over=False)
    assert found.asked.oldest is not None
    assert found.asked.oldest.words == "Bash rm -rf build"
    found = session(written(init(), call("Bash"), ask(), reply(behavior="allow")), is_over=False)
    assert (found.asked.oldest, found.asked.count) == (None, 1)
    found = session(written(init(), call("Bash"), ask(), answer("x")), is_over=False)
    assert found.asked.oldest is None


@pytest.mark.parametrize(
    ("line_of_answer", "answer_word"),
    [
        (reply(behavior="allow"), "allowed"),
        (reply(behavior="deny", message="No."), "denied"),
        (reply(), "answered"),
        (line("control_cancel_request", request_id="r-1"), "withdrawn"),
    ],
)
def test_an_answer_is_in_words(line_of_answer: Json, answer_word: str) -> None:
    """An answer allows, denies or withdraws."""
    found = events(ask(decision_reason="outside"), line_of_answer)
    assert found[0] == Permission("Bash", None, "outside", key="r-1", call_id="t-1", target="rm -rf build")
    assert (found[1].subject, found[1].answer, found[1].key) == ("Bash", answer_word, "r-1")


def test_a_denied_call_is_rejected() -> None:
    """A call whose question was answered with a denial was rejected, whatever its result says."""
    found = events(call("Bash"), ask(), reply(behavior="deny", message="No."), answer("No.", is_error=True))
    assert (found[-1].outcome, found[-1].error) == ("rejected", "No.")


def test_other_requests_are_no_questions() -> None:
    """Requests of the program itself, and answers to them, report nothing."""
    assert events(ask(subtype="interrupt"), reply("r-2"), ask("r" * 2000)) == []
    assert events(line("control_request", request_id="r-1"), line("control_response")) == []


def test_a_question_about_a_file_names_it_as_a_call_does() -> None:
    """A path inside the folder of the run is relative to it."""
    asked = ask(tool_name="Write", input={"file_path": f"{CWD}/a.py"}, tool_use_id=None)
    assert (events(init(), asked)[-1].target, events(init(), asked)[-1].call_id) == ("a.py", None)


def test_open_questions_are_bounded() -> None:
    """Of more than 64 questions the oldest are forgotten."""
    found = events(*(ask(f"r-{n}") for n in range(70)), reply("r-0"), reply("r-69"))
    assert [event.key for event in found if event.answer] == ["r-69"]


def test_a_denial_without_a_call_refuses_none() -> None:
    """The line says that a call was denied, and not which: the next result is an ordinary failure."""
    denial = line("system", subtype="permission_denied", tool_name="Bash", message="No.")
    found = events(call("Bash"), denial, answer("No.", is_error=True))
    assert (found[-1].outcome, found[-1].error) == ("failed", "No.")


def test_only_claude_has_a_hook_that_answers() -> None:
    """It is run for each permission prompt, and has no matcher."""
    ((name, agent),) = answered_agents().items()
    assert name == agent.name == "claude"
    hook = {"type": "command", "command": "x", "timeout": 3600}
    assert (agent.events, agent.entry("x")) == (("PermissionRequest",), {"hooks": [hook]})
