"""The lines made of a stored session become the same session as a stream, with its prompts and subagents."""

from __future__ import annotations

from agentwatch.session.events import Outcome, Retry
from agentwatch.session.transcript import Kind
from tests.agents.opencode.lines import message, session_line, stored, stored_call, used
from tests.builders.lines import events, session

COMPACTION = {"role": "assistant", "summary": True}


def test_a_stored_session_has_its_facts_and_prompts() -> None:
    """The session and its messages name the folder, the model and the version; each prompt is a turn."""
    info = {"directory": "/home/ada/app/", "version": "1.18.33", "model": {"id": "m"}}
    found = session(
        session_line(**info),
        message("user"),
        stored("text", "user", text="Do it"),
        stored("text", "user", text="The content of a file", synthetic=True),
        stored("text", "user", text="Not for the model", ignored=True),
        stored("text", "user", text="and that"),
        message(modelID="other"),
        stored_call("running"),
        stored_call("completed", metadata={"exit": 0}, time={"start": 10, "end": 40}),
        stored("step-finish", reason="tool-calls"),
        stored("step-start"),
        stored("step-finish", reason="stop"),
        stored("text", "user", message_id="msg_5", text="Again"),
        is_over=False,
    )
    run = found.run
    assert (run.cwd, run.agent_version, run.model) == ("/home/ada/app", "1.18.33", "other")
    assert (run.prompt, run.turns, found.outcome) == ("Do it", 2, Outcome.RUNNING)
    prompts = [str(entry.content) for entry in found.transcript if entry.kind is Kind.PROMPT]
    notices = [str(entry.content) for entry in found.transcript if entry.kind is Kind.NOTICE]
    assert (prompts, notices) == (["Do it", "Again"], ["and that"])
    assert (len(found.calls), found.calls[0].exit_code) == (1, 0)


def test_a_stored_call_is_open_while_its_part_says_so() -> None:
    """A pending call gets its arguments later; a running one its output; the end is the end."""
    lines = [
        stored_call("pending", input={}),
        stored_call("running", input={"command": "make\ninstall", "timeout": 5000}, metadata={"output": "…"}),
    ]
    [call] = session(session_line(), *lines, is_over=False).calls
    assert (call.outcome, call.target, call.output, call.limit_ms) == (Outcome.RUNNING, "make", "…", 5000)
    [call] = session(session_line(), *lines, stored_call("error", error="gone"), is_over=False).calls
    assert (call.outcome, call.error, call.target) == (Outcome.FAILED, "gone", "make")


def test_a_path_is_relative_to_the_folder_of_the_session() -> None:
    """The folder comes from the session, from a message, or, in old files, from its text."""
    call = used("read", input={"filePath": "/home/ada/app/x.py"})
    assert session(session_line(directory="/home/ada/app"), call).calls[0].target == "x.py"
    assert session(message(path={"cwd": "/home/ada/app"}), call).calls[0].target == "x.py"
    assert session(message(path="/home/ada/app"), call).calls[0].target == "x.py"


def test_a_subagents_lines_belong_to_its_call() -> None:
    """Its calls have a parent; its texts, prompts, steps and tokens are not the main agent's."""
    found = session(
        session_line(),
        stored_call("running", "call_task"),
        message("user", "call_task"),
        stored("text", "user", "call_task", message_id="msg_7", text="Count"),
        message("assistant", "call_task"),
        stored("step-start", agent="call_task"),
        stored("text", agent="call_task", id="prt_8", text="3 files", time={"start": 1, "end": 2}),
        stored_call("completed", "call_2", "call_task", metadata={"exit": 0}),
        stored("compaction", agent="call_task", auto=True),
        stored("step-finish", agent="call_task", reason="stop", tokens={"input": 5}),
        message("assistant", "call_task", error={"name": "APIError", "data": {"message": "no"}}),
        is_over=False,
    )
    assert (found.text, found.run.turns, found.run.prompt, len(found.runs)) == ("", 0, None, 1)
    assert (found.outcome, found.run.tokens.input, found.compacting) == (Outcome.RUNNING, None, None)
    assert [(call.agent, call.parent) for call in found.calls] == [(None, None), ("call_task", 1)]
    assert str(found.transcript[-1].content) == "subagent: no"
    assert [entry.parent for entry in found.transcript if entry.kind in (Kind.PROMPT, Kind.ANSWER)] == [1, 1]


def test_a_stored_error_ends_the_turn() -> None:
    """The error is in the message of the model; an empty one is not an error."""
    failed = message(error={"name": "APIError", "data": {"message": "no such model"}})
    found = session(session_line(), failed)
    assert (found.outcome, found.run.result) == (Outcome.FAILED, "no such model")
    assert session(session_line(), message(error={}), is_over=False).outcome == Outcome.RUNNING


def test_a_summary_is_no_answer() -> None:
    """While opencode shortens the conversation, the model writes a summary, which ends no turn."""
    lines = [
        session_line(),
        stored("text", "user", text="Do it"),
        stored("compaction", "user", auto=True),
        stored("text", text="So far …", message=COMPACTION, time={"start": 1, "end": 2}),
        stored("step-finish", reason="stop", message=COMPACTION),
    ]
    found = session(*lines, is_over=False)
    assert (found.text, found.outcome) == ("", Outcome.RUNNING)
    assert found.compacting is not None
    assert found.compacting[0].trigger == "auto"
    ended = message(summary=True, time={"completed": 5})
    assert session(*lines, ended, is_over=False).compacting is None
    assert session(*lines, message(summary=True, time={}), is_over=False).compacting is not None
    manual = session(session_line(), stored("compaction", "user", auto=False), is_over=False)
    assert manual.compacting is not None
    assert manual.compacting[0].trigger == "manual"


def test_a_summary_after_the_end_begins_no_turn() -> None:
    """The user may have the conversation shortened when the turn is over."""
    found = session(
        session_line(),
        stored("text", "user", text="Do it"),
        stored("step-finish", reason="stop"),
        stored("compaction", "user", message_id="msg_2", auto=False),
        stored("step-start", message=COMPACTION),
        stored("step-finish", reason="stop", message=COMPACTION),
        is_over=False,
    )
    assert (found.outcome, found.run.turns) == (Outcome.SUCCEEDED, 1)


def test_a_retry_is_shown() -> None:
    """A part of type `retry` has the error of the attempt before it."""
    error = {"name": "APIError", "data": {"message": "overloaded"}}
    found = events(session_line(), stored("retry", attempt=2, error=error))
    assert Retry("overloaded", 2) in found
    assert Retry("", None) in events(session_line(), stored("retry"))


def test_a_command_of_the_user_is_a_prompt() -> None:
    """A part of type `subtask` starts a subagent with the user's text."""
    assert session(session_line(), stored("subtask", "user", prompt="Review it")).run.prompt == "Review it"


def test_the_user_may_go_back() -> None:
    """The turns from a prompt on are no part of the conversation any more; their calls were made."""
    lines = [session_line()]
    for number in (1, 2, 3):
        lines.append(stored("text", "user", message_id=f"msg_{number}", text=f"Prompt {number}"))
        lines.append(stored("text", id=f"prt_{number}", text=f"Answer {number}. "))
    back = session_line(revert={"messageID": "msg_2"})
    found = session(*lines, back, back, is_over=False)
    assert (found.text, found.run.turns) == ("Answer 1. ", 1)
    assert [str(entry.content) for entry in found.transcript].count("rewound by 2 turns") == 1
    for other in ({"messageID": "msg_9"}, {"messageID": None}, 7, None):
        assert session(*lines, session_line(revert=other), is_over=False).run.turns == 3
