"""Copilot asks whether a call may run, and asks the user other questions."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.copilot.agent import AGENT
from agentwatch.session.events import Permission
from tests.agents.copilot.lines import ended, line, started, user
from tests.builders.agents.decoded import events_of, session_of
from tests.conftest import case

AT = {"timestamp": "1970-01-01T00:00:00Z"}


def test_a_question_is_open_until_it_is_answered() -> None:
    """It names the tool and what it would act on; the answer says who gave it."""
    asked = line(
        "permission.requested",
        {
            "requestId": "r",
            "permissionRequest": {"kind": "shell", "toolCallId": "c", "fullCommandText": "rm x\ny"},
        },
        **AT,
    )
    assert events_of(AGENT, started("c", "bash"), asked)[1] == Permission(
        "bash", None, at_ms=0, key="r", call_id="c", target="rm x"
    )
    seen = session_of(AGENT, user("Go"), started("c", "bash"), asked, is_closed=False)
    assert seen.asked.oldest is not None
    given = line("permission.completed", {"requestId": "r", "result": {"kind": "approved"}}, **AT)
    assert events_of(AGENT, asked, given)[1] == Permission("shell", "approved", None, 0, "r", "c")
    assert len(session_of(AGENT, user("Go"), started("c", "bash"), asked, given, is_closed=False).asked) == 0


def test_an_answer_says_whether_anybody_gave_it() -> None:
    """A rule answers by itself; without a source, a person did."""
    cases: list[tuple[dict[str, Any], str, str | None, bool]] = [
        ({"result": {"kind": "approved-for-session"}}, "approved for session", None, False),
        ({"result": {"kind": "approved"}, "decisionSource": "user"}, "approved", None, False),
        ({"result": {"kind": "approved"}, "decisionSource": "rule"}, "approved", None, True),
        ({"result": {"kind": "approved", "decisionSource": "auto"}}, "approved", None, True),
        ({"result": {"kind": "denied-by-rules"}}, "denied by rules", None, True),
        (
            {"result": {"kind": "denied-interactively-by-user", "feedback": "not now"}},
            *("denied interactively by user", "not now", False),
        ),
        ({"kind": "approved"}, "approved", None, False),
        ({}, "answered", None, False),
    ]
    for data, answer, reason, is_automatic in cases:
        with case((data, answer, reason)):
            found = events_of(AGENT, line("permission.completed", {"requestId": "r", **data}, **AT))
            assert found == [Permission("permission", answer, reason, 0, "r", is_automatic=is_automatic)]


def test_a_refused_call_is_rejected_whatever_its_end_says() -> None:
    """The answer is about a call, by its id or that of the question."""
    asked = line("permission.requested", {"requestId": "r", "permissionRequest": {"toolCallId": "c"}})
    for kind, outcome in (
        *(("denied-by-rules", "rejected"), ("denied-interactively-by-user", "rejected")),
        *(("cancelled", "cancelled"), ("approved", "succeeded")),
    ):
        answer = line("permission.completed", {"requestId": "r", "result": {"kind": kind}})
        seen = session_of(AGENT, started("c", "bash"), asked, answer, ended("c", "x"))
        assert (seen.calls[0].outcome, seen.calls[0].exit_code) == (outcome, None)


def test_a_question_without_a_call_names_what_it_is_about() -> None:
    """A path, an address, a server's tool; one that a hook has answered asks nobody."""
    cases: list[tuple[dict[str, Any], str, str | None]] = [
        ({"kind": "write", "fileName": "/w/a", "diff": "x"}, "write", "/w/a"),
        ({"kind": "url", "url": "https://e.org"}, "url", "https://e.org"),
        ({"kind": "mcp", "serverName": "github", "toolName": "get"}, "get", "github get"),
        ({"kind": "mcp", "serverName": "github"}, "mcp", "github"),
        ({"kind": "custom-tool", "toolName": "mine"}, "mine", None),
        ({}, "permission", None),
    ]
    for request_of, subject, target in cases:
        with case((request_of, subject)):
            data = {"permissionRequest": request_of, "resolvedByHook": True}
            assert events_of(AGENT, line("permission.requested", data, **AT)) == [
                Permission(subject, None, at_ms=0, target=target, is_automatic=True)
            ]


def test_asking_the_user_is_a_question() -> None:
    """On disk the call itself is the question; in the stream a line of its own repeats it."""
    asks = {**started("c", "ask_user", {"question": "Which?\nA or B"}), **AT}
    question = Permission("ask_user", None, at_ms=0, key="c", call_id="c", target="Which?")
    repeated = line("user_input.requested", {"requestId": "r", "question": "Which?", "toolCallId": "c"})
    assert events_of(AGENT, asks, repeated)[1:] == [question]
    seen = session_of(AGENT, user("Go"), asks, repeated, is_closed=False)
    assert len(seen.asked) == 1
    assert len(session_of(AGENT, user("Go"), asks, ended("c", "A"), is_closed=False).asked) == 0


def test_other_questions_are_open_until_they_are_answered() -> None:
    """A form, an input without a call, the end of the plan mode."""
    form = line("elicitation.requested", {"requestId": "r", "message": "Name?"}, **AT)
    plan = line("exit_plan_mode.requested", {"requestId": "p", "summary": "Do it"}, **AT)
    answers = [
        line("elicitation.completed", {"requestId": "r", "action": "accept"}, **AT),
        line("exit_plan_mode.completed", {"requestId": "p", "selectedAction": "autopilot"}, **AT),
        line("user_input.completed", {"requestId": "?"}, **AT),
    ]
    assert events_of(AGENT, form, plan, *answers) == [
        Permission("elicitation", None, at_ms=0, key="r", target="Name?"),
        Permission("exit_plan_mode", None, at_ms=0, key="p", target="Do it"),
        Permission("elicitation", "accept", None, 0, "r"),
        Permission("exit_plan_mode", "autopilot", None, 0, "p"),
        Permission("permission", "answered", None, 0, "?"),
    ]
