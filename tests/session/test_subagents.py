"""Subagents: their calls and texts name the call that they belong to, and never mix with others."""

from __future__ import annotations

from agentwatch.session.call import Place
from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
)
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind

TASK = ToolStarted("t", None, "Task", ToolKind.DELEGATE, "Ran subagent", "Find it")
GREP = ToolStarted("g", None, "Grep", ToolKind.SEARCH, "Searched files", "x", agent="t")


def session_of(*events: Event) -> Session:
    """Return a session after these events, one per line of 10 bytes."""
    session = Session()
    for number, event in enumerate((RunStarted("other"), *events)):
        apply_line(session, [event], Place(10 * number, 9, 1000))
    return session


def test_a_call_of_a_subagent_knows_its_parent() -> None:
    """It has the id and the number of the call; 0 if the recording does not contain that call."""
    task, grep = session_of(TASK, GREP).calls
    assert (task.agent, task.parent) == (None, None)
    assert (grep.agent, grep.parent) == ("t", 1)
    [lone] = session_of(GREP).calls
    assert (lone.agent, lone.parent) == ("t", 0)
    assert [entry.parent for entry in session_of(TASK, GREP).transcript] == [None, 1]


def test_texts_of_several_agents_do_not_mix() -> None:
    """Each piece continues the text of its own agent only; the answer is that of the main agent."""
    session = session_of(
        TASK,
        Prompt("Search", agent="t"),
        Text(Channel.ANSWER, "main "),
        Text(Channel.ANSWER, "sub", agent="t"),
        Text(Channel.ANSWER, "!", agent="t"),
        TextEnded(Channel.ANSWER, agent="t"),
        Text(Channel.ANSWER, "again"),
    )
    texts = [(entry.text, entry.parent) for entry in session.transcript if entry.kind is not Kind.CALL]
    assert texts == [("Search", 1), ("main ", None), ("sub!", 1), ("again", None)]
    assert (session.text, session.run.turns) == ("main again", 0)


def test_the_parent_of_an_old_text_is_kept() -> None:
    """A text that was packed still belongs to its subagent."""
    pieces = [Text(Channel.ANSWER, f"{number}", agent="t" if number % 2 else None) for number in range(9000)]
    transcript = session_of(TASK, *pieces).transcript
    assert [(transcript[at].text, transcript[at].parent) for at in (1, 2)] == [("0", None), ("1", 1)]


def test_progress_keeps_the_end_of_the_output() -> None:
    """Pieces are appended, a whole output replaces them, and the end of the call drops them."""
    events = TASK, ToolProgress("t", None, "one "), ToolProgress("t", None, "two"), ToolProgress("t", None)
    [call] = session_of(*events).calls
    assert call.output == "one two"
    [call] = session_of(*events, ToolProgress("t", None, "x" * 9000, is_whole=True)).calls
    assert call.output == "x" * 4096
    ended = ToolEnded("t", None, "Task", ToolKind.DELEGATE, Outcome.SUCCEEDED, "Ran subagent")
    [call] = session_of(*events, ended).calls
    assert call.output is None
    assert len(session_of(ToolProgress("none", None, "x")).calls) == 0


def test_a_call_may_be_described_later() -> None:
    """The later line gives its arguments; the start stays where it was."""
    update = TASK._replace(target="Find all", kind=ToolKind.OTHER, limit_ms=5, is_update=True)
    [call] = session_of(TASK, update).calls
    assert (call.target, call.kind, call.limit_ms) == ("Find all", ToolKind.OTHER, 5)
    assert call.started == Place(10, 9, 1000)
    assert call.arguments_place == Place(20, 9, 1000)
    [call] = session_of(TASK, update._replace(is_update=False)).calls
    assert (call.target, call.arguments_place) == ("Find it", Place(10, 9, 1000))
    ended = ToolEnded("t", None, "Task", ToolKind.DELEGATE, Outcome.SUCCEEDED, "Ran subagent")
    [call] = session_of(TASK, ended, update).calls
    assert call.target == "Find it"


def test_a_call_that_is_known_only_at_its_end_has_its_start_time() -> None:
    """So does a call whose duration the agent measured, without any time."""
    ended = ToolEnded(
        "t", None, "bash", ToolKind.EXECUTE, Outcome.SUCCEEDED, "Ran", at_ms=900, started_ms=300
    )
    [call] = session_of(ended._replace(more_paths=("a", "b"))).calls
    assert (call.started_ms, call.duration_ms, call.more_paths) == (300, 600, ("a", "b"))
    [call] = session_of(ended._replace(at_ms=None, duration_ms=70)).calls
    assert call.duration_ms == 70
