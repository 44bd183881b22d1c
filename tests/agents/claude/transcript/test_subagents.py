"""The lines of subagents belong to the call that started them, in each of the three ways of writing them."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents.claude.transcript import Subagents
from agentwatch.session.events import Event, Notice, Prompt, Text, ToolEnded, ToolStarted
from tests.builders.on_disk.transcript import (
    AT_MS,
    call,
    decoded,
    ended,
    line,
    returned,
    said,
    session_of,
    user,
)

TASK = call("t", "Task", {"prompt": "Count the files.", "description": "Count"})
OTHER = call("u", "Agent", {"prompt": "Find the bug."})


def agents(events: list[Event]) -> set[str | None]:
    """Return the agents of all texts, prompts and calls."""
    kinds = (Text, Prompt, ToolStarted, ToolEnded)
    return {event.agent for event in events if isinstance(event, kinds)}


def of_agent(made: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a line of a subagent."""
    return {**made, "isSidechain": True, **more}


def test_progress_lines_wrap_the_messages_of_a_subagent() -> None:
    """A wrapped message belongs to the call that the progress line names; its text is not the run's."""
    wrapped = [user("Count."), said("Ls."), call("x"), returned("x"), line("system")]
    lines = [
        line("progress", data={"type": "agent_progress", "message": each}, parentToolUseID="t")
        for each in wrapped
    ]
    events = decoded(TASK, *lines)
    assert agents(events[1:]) == {"t"}
    session = session_of(user("Go"), TASK, *lines)
    assert (session.text, session.run.turns) == ("", 1)
    assert session.calls[1].parent == 1


def test_lines_with_the_id_of_their_agent_belong_to_its_call() -> None:
    """The result of the call names the agent; so does the file beside the subagent's own."""
    told = returned("u", toolUseResult={"isAsync": True, "agentId": "a2"})
    meta = {"type": "subagent-meta", "agentId": "a1", "toolUseId": "t", "sessionId": ""}
    lines = [of_agent(said("One"), agentId="a1"), of_agent(said("Two"), agentId="a2")]
    events = decoded(TASK, OTHER, told, meta, *lines)
    assert [event.agent for event in events if isinstance(event, Text)] == ["t", "u"]


def test_the_call_is_found_by_its_prompt() -> None:
    """Without any id, the first line of a subagent has the prompt of its call."""
    first = of_agent(user("Find the bug."), agentId="a2")
    assert Prompt("Find the bug.", "u") in decoded(TASK, OTHER, first)
    old = [of_agent(user("Count the files.", "s1")), of_agent(said("Ls.", uuid="s2", parent="s1"))]
    assert agents(decoded(said("Main"), TASK, OTHER, *old)[4:]) == {"t"}


def test_the_only_call_without_an_agent_is_taken() -> None:
    """A subagent whose prompt was changed belongs to the only call without one, or to no call."""
    first = of_agent(user("Do it.", "s1"), agentId="a9")
    assert Prompt("Do it.", "t") in decoded(TASK, first)
    assert Prompt("Do it.", "a9") in decoded(TASK, OTHER, first)
    assert Prompt("Do it.", "s1") in decoded(TASK, OTHER, of_agent(user("Do it.", "s1")))


def test_older_versions_name_the_agent_beside_the_result() -> None:
    """The lines of a subagent may follow the end of its call, and only some of them have its id."""
    done = returned("t", agentId="e1")
    late = [of_agent(said("Ls.", uuid="s1")), of_agent(returned("x"), agentId="e1")]
    events = decoded(user("Go"), TASK, done, *late)
    assert [event.agent for event in events if isinstance(event, Text)] == ["t"]
    assert [event.agent for event in events if isinstance(event, ToolEnded)] == [None, "t"]


def test_the_file_of_a_subagent_is_a_session_of_its_own() -> None:
    """A file that begins with a subagent's line shows that subagent as the main agent."""
    lines = [of_agent(user("Count."), agentId="a1"), of_agent(ended("3"), agentId="a1")]
    session = session_of(*lines)
    assert (session.text, session.run.turns, session.run.prompt) == ("3", 1, "Count.")
    nested = of_agent(said("x"), agentId="a2")
    assert session_of(*lines, nested).text == "3"
    bare = [of_agent(user("Count.")), of_agent(said("3"))]
    assert session_of(*bare).text == "3"


def test_a_subagent_does_not_change_the_facts_of_the_run() -> None:
    """Its session id, folder and model are its own, and its end ends no turn."""
    lines = [
        user("Go"),
        TASK,
        of_agent(ended(message={"model": "haiku", "id": "m"}), agentId="a", sessionId="agent-a", cwd="/x"),
    ]
    run = session_of(*lines).run
    assert (run.session_id, run.cwd, run.model, run.ended) == ("s", "/w", "opus", None)


def test_an_error_of_a_subagents_service_is_a_notice() -> None:
    """Only an error of the main agent fails the turn."""
    failed = of_agent(said("API Error", isApiErrorMessage=True), agentId="a")
    assert Notice("API Error", AT_MS, is_error=True) in decoded(user("Go"), TASK, failed)


def test_the_end_of_a_subagents_turn_ends_no_turn() -> None:
    """A system line of a subagent is read, and the main agent continues."""
    done = of_agent(line("system", subtype="turn_duration", durationMs=5), agentId="a")
    told = of_agent(line("system", subtype="informational", content="x"), agentId="a")
    session = session_of(user("Go"), TASK, done, told)
    assert session.run.ended is None
    assert decoded(user("Go"), done, told)[1:] == [Notice("x", AT_MS)]


@pytest.mark.parametrize("text", ["<system-reminder>x</system-reminder>", "", None])
def test_what_the_program_adds_is_no_prompt_of_a_subagent(text: str | None) -> None:
    """A reminder in a subagent's conversation is nothing."""
    reminder = of_agent(user(text), agentId="a")
    assert agents(decoded(user("Go"), TASK, reminder)) == {None}
    meta = of_agent(user("skill", isMeta=True), agentId="a")
    assert agents(decoded(user("Go"), TASK, meta)) == {None}


def test_only_the_newest_subagents_are_kept() -> None:
    """The lists of agents and lines do not grow for ever."""
    found = Subagents()
    for number in range(5000):
        found.call_started(f"c{number}", {"prompt": f"p{number}"})
        found.link(f"a{number}", f"c{number}")
        found.of_line({"uuid": f"u{number}"}, None)
    assert found.of_line({"agentId": "a0"}, None) == "a0"
    assert found.of_line({"agentId": "a4999"}, None) == "c4999"
    found.link("long", "x" * 5000)
    assert found.of_line({"agentId": "long"}, None) == "long"
    found.link(None, "c")
    found.link("a", None)
