"""Turns: when they begin and end, and their results."""

from __future__ import annotations

from agentwatch.session.call import Place
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    FormatDetected,
    Notice,
    Outcome,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Traits,
    TurnEnded,
    TurnStarted,
)
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.subagents import says

START = RunStarted("other", session_id="s")
WELL = TurnEnded(Outcome.SUCCEEDED)


def session_of(*events: Event, traits: Traits | None = None) -> Session:
    """Return a session after these events, one per line."""
    session = Session()
    apply_line(session, [FormatDetected("other-stream", traits or Traits(), "other")], Place(0, 1, None))
    for event in events:
        apply_line(session, [event], Place(0, 1, 1000))
    return session


def said(text: str) -> Text:
    """Return an answer of the main agent."""
    return Text(Channel.ANSWER, text)


def test_a_turn_after_the_end_of_another_continues_the_run() -> None:
    """The run counts two turns, and keeps its first prompt and its text; a prompt belongs to the turn that
    was announced. An open call can still end, and later facts replace earlier ones.
    """
    events = START, Prompt("One"), said("A"), WELL, Prompt("Two"), said("B")
    session = session_of(*events)
    assert (len(session.runs), session.run.turns, session.outcome) == (1, 2, Outcome.RUNNING)
    assert (session.run.prompt, session.text) == ("One", "AB")
    assert session_of(*events, TurnEnded(Outcome.FAILED)).outcome is Outcome.FAILED
    session = session_of(START, TurnStarted(), Prompt("One"), WELL, TurnStarted(), Prompt("Two"))
    assert session.run.turns == 2
    assert session_of(START, TurnStarted(), TurnStarted()).run.turns == 2
    started = ToolStarted("c", None, "Bash", ToolKind.EXECUTE, "Ran", "sleep 9")
    ended = ToolEnded("c", None, "Bash", ToolKind.EXECUTE, Outcome.SUCCEEDED, "Ran")
    session = session_of(START, Prompt("One"), started, TurnStarted())
    assert len(session.open_calls) == 1
    session = session_of(START, Prompt("One"), started, WELL, TurnStarted(), ended)
    close_session(session)
    assert [call.outcome for call in session.calls] == [Outcome.SUCCEEDED]
    assert session.never_completed == 0
    session = session_of(START, RunInfo(model="one", cwd="/src"), RunInfo(model="two", agent_version="1.2"))
    run = session.run
    assert (run.format, run.model, run.cwd, run.agent_version) == ("other", "two", "/src", "1.2")
    assert session.agent_name == "other"
    assert session_of(START, RunInfo(agent_name="zed")).agent_name == "zed"


def test_a_rewind_removes_the_last_turns() -> None:
    """Their texts are no part of the answer; the calls stay. The last texts with the given length can be
    replaced.
    """
    call = ToolStarted("c", None, "Bash", ToolKind.EXECUTE, "Ran", "ls")
    events = START, Prompt("1"), said("A"), Prompt("2"), said("B"), call, said("C"), Prompt("3"), said("D")
    session = session_of(*events, Rewound(2), Prompt("4"), said("E"))
    assert (session.text, session.run.turns, len(session.calls)) == ("AE", 2, 1)
    assert [entry.text for entry in session.transcript if entry.kind is Kind.NOTICE] == ["rewound by 2 turns"]
    assert session_of(*events, Rewound(99)).text == ""
    assert session_of(*events, Rewound(0)).text == "ABCD"
    assert session_of(START, Rewound(1)).run.turns == 0
    thought = Text(Channel.REASONING, "hm")
    session = session_of(START, said("A"), TextEnded(Channel.ANSWER), said("Bc"), thought, said("d"))
    assert session.text == "ABcd"
    apply_line(session, [TextRetracted(3), said("Bcd!")], Place(0, 1, None))
    assert session.text == "ABcd!"
    apply_line(session, [TextRetracted(99)], Place(0, 1, None))
    assert session.text == ""


def test_a_result_is_compared_with_the_text_of_its_time() -> None:
    """Text that arrives after the result counts until the next turn; some formats repeat only the last
    texts. Without its text, a result is compared with nothing.
    """
    traits = Traits(result_is_last_text=True)
    events = (
        START,
        said("First."),
        TextEnded(Channel.ANSWER),
        said("Do"),
        TextEnded(Channel.ANSWER),
        said("ne"),
    )
    for result, matches in (("Done", True), ("none", False), ("", None), (None, None)):
        ended = TurnEnded(Outcome.SUCCEEDED, result)
        assert session_of(*events, ended, traits=traits).run.text_matches_result is matches
    assert session_of(*events, TurnEnded(Outcome.SUCCEEDED, "Done")).run.text_matches_result is False
    ended = TurnEnded(Outcome.CANCELLED, "Done")
    assert session_of(*events, ended, traits=traits).run.text_matches_result is None
    other_result = TurnEnded(Outcome.SUCCEEDED, "ab")
    read = made(*says("a"), other_result)
    other_ended = read.run.turn_result
    assert other_ended is not None
    assert other_ended.matches_text is False
    for event in says("b"):
        apply_line(read, [event], Place(9, 1, None))
    assert other_ended.matches_text is True
    for event in (TurnStarted(), *says("c")):
        apply_line(read, [event], Place(9, 1, None))
    assert other_ended.matches_text is True
    assert read.run.text_matches_result is None
    other_ended = made(*says("Done."), DONE).run.turn_result
    assert other_ended is not None
    assert other_ended.is_streamed
    other_ended.forget_text()
    other_ended.settle()
    assert (
        other_ended.text,
        other_ended.length,
        other_ended.part(0, 9),
        other_ended.is_streamed,
        other_ended.matches_text,
    ) == (
        None,
        0,
        "",
        False,
        None,
    )


BEGIN: list[Event] = [RunStarted("x", "s"), Prompt("One.")]
DONE = TurnEnded(Outcome.SUCCEEDED, "Done.", duration_ms=7)


def made(*events: Event) -> Session:
    """Return the session with these events, whose lines arrived a second apart."""
    read = Session()
    for number, event in enumerate([*BEGIN, *events]):
        apply_line(read, [event], Place(number, 1, 1000 * number))
    return read


def notes(read: Session) -> list[str]:
    """Return the notices of the transcript."""
    return [entry.text for entry in read.transcript if entry.kind == "notice"]


def test_a_turn_has_its_pauses_notes_and_errors() -> None:
    """A pause lasts from a result to the next turn's first line; a compaction has the agent's numbers, an
    error belongs to its turn.
    """
    run = made(DONE, Prompt("Two."), DONE, DONE).run
    assert (run.pauses, run.ended_turns, run.duration_of_turns_ms) == ([(2000, 3000)], 2, 14)
    over = Compaction(is_over=True, tokens_before=150_000, tokens_after=30_000)
    assert notes(made(over)) == ["context compacted: 150,000 → 30,000 tokens"]
    assert notes(made(Compaction(is_over=True))) == ["context compacted"]
    error = Notice("overloaded", is_error=True)
    assert made(error).last_error == "overloaded"
    assert made(error, TurnStarted()).last_error == ""
