"""The turns, texts and facts of a Qwen chat."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents.agent import LineRole
from agentwatch.agents.qwen.agent import CHAT as AGENT
from agentwatch.agents.qwen.chat import Decoder
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Plan,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    Text,
    TextEnded,
    Tokens,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from agentwatch.session.transcript import Kind
from tests.builders.on_disk.qwen_chat import (
    AT,
    AT_MS,
    call,
    decoded,
    line,
    returned,
    said,
    session_of,
    system,
    telemetry,
    user,
)
from tests.conftest import case

OK = TurnEnded(Outcome.SUCCEEDED)
HOOK = {"text": "<qwen:user-prompt-submit-context>\nx\n</qwen:user-prompt-submit-context>"}


def ends(*lines: dict[str, Any]) -> list[Event]:
    """Return the events of lines that begin or end turns."""
    kinds = (TurnEnded, TurnStarted, Prompt, Rewound)
    return [event for event in decoded(*lines) if isinstance(event, kinds)]


def test_an_answer_without_a_call_ends_the_turn() -> None:
    """A turn continues after a text with a call, and ends with a text without one."""
    both = line("assistant", {"text": "Ls."}, {"functionCall": {"id": "c", "name": "glob", "args": {}}})
    assert ends(user("Go"), both, returned("c", "glob"), said("Done.")) == [Prompt("Go"), OK]
    assert ends(user("Go"), line("assistant", {"text": "Hm", "thought": True})) == [Prompt("Go")]
    assert session_of(user("Go"), both, said("Done.")).text == "Ls.Done."


def test_texts_and_thoughts_have_their_channels() -> None:
    """A part that is a thought is reasoning."""
    assert decoded(line("assistant", {"text": "Hm", "thought": True}, {"text": ""}, 5)) == [
        Text(Channel.REASONING, "Hm", AT_MS),
        TextEnded(Channel.REASONING, AT_MS),
    ]


def test_a_second_line_of_an_answer_adds_to_it() -> None:
    """Lines with one id and different times are one answer; a line that comes again is not read again."""
    uuid = "019f0000-0000-7000-8000-000000000046"
    counts = {"promptTokenCount": 12, "candidatesTokenCount": 4}
    thought = line(
        "assistant", {"text": "Hm", "thought": True}, uuid=uuid, timestamp="2026-11-21T23:00:01.000Z"
    )
    parts = ({"text": "Hm", "thought": True}, {"text": "A"}, {"text": "A"})
    rest = line("assistant", *parts, uuid=uuid, timestamp="2026-11-21T23:00:02.000Z", usageMetadata=counts)
    late = {**rest, "timestamp": "2026-11-21T23:00:03.000Z"}
    for lines in ([thought, rest], [thought, rest, thought, rest], [thought, rest, late]):
        with case(len(lines)):
            read = session_of(user("Go"), *lines)
            thoughts = [entry for entry in read.transcript if entry.kind is Kind.REASONING]
            assert (read.text, len(thoughts), read.run.tokens.input) == ("AA", 1, 12)


def test_a_prompt_is_what_the_user_has_written() -> None:
    """What a hook adds is no part of the prompt; the displayed text is the user's own."""
    assert decoded(line("user", {"text": "A"}, {"text": "B"}, HOOK)) == [Prompt("A\nB")]
    shown = {"displayText": "short"}
    assert decoded(line("user", {"text": "long"}, systemPayload=shown)) == [Prompt("short")]
    assert decoded(line("user", HOOK)) == []
    assert decoded(line("user", {"text": "done"}, subtype="notification")) == [Notice("done", AT_MS)]
    queued = line("user", {"text": "and"}, subtype="mid_turn_user_message")
    assert decoded(queued) == [Notice("queued: and", AT_MS)]


def test_an_answer_that_the_user_has_interrupted_is_cancelled() -> None:
    """After Esc, half an answer is written without its usage, and without the event of its response."""
    half = said("Half", provenance="assistant_output")
    response, counted = telemetry("api_response"), {"usageMetadata": {"promptTokenCount": 5}}
    stopped = TurnEnded(Outcome.CANCELLED)
    cases: dict[str, tuple[list[dict[str, Any]], list[TurnEnded]]] = {
        "Esc": ([half], [stopped]),
        "Esc in a later answer": (
            [response, said("A", provenance="x"), user("On", parent="x"), half],
            [OK, stopped],
        ),
        "an answer": ([response, half], [OK]),
        "an answer that was counted": ([half | counted], [OK]),
        "an answer of an older version": ([said("Whole")], [OK]),
    }
    for name, (lines, expected) in cases.items():
        with case(name):
            assert [each for each in ends(user("Go"), *lines) if isinstance(each, TurnEnded)] == expected


def test_a_question_that_the_user_has_cancelled_ends_the_turn() -> None:
    """The agent asks the model no more if all calls of its answer were cancelled; no other line says so."""
    refused = {"status": "cancelled", "executionStatus": "not_started"}
    words = {"error": "[Operation Cancelled] Reason: User did not allow tool call"}
    no, second_no = (returned(name, response=words, **refused) for name in "ab")
    two = [call("a"), call("b")]
    inside = {"isSidechain": True, "agentId": "x"}
    stopped = TurnEnded(Outcome.CANCELLED)
    cases: dict[str, tuple[list[dict[str, Any]], list[Event]]] = {
        "the only call": ([call("a"), no], [stopped]),
        "in an older version": ([call("a"), returned("a", response=words, status=None)], [stopped]),
        "both calls": ([*two, no, second_no], [stopped]),
        "one of two calls": ([*two, no, returned("b")], []),
        "the other one is open": ([*two, no], []),
        "after a call that was allowed": ([call("b"), returned("b"), call("a"), no], [stopped]),
        "a rule refused it": ([call("a"), returned("a", status="error", errorType="execution_denied")], []),
        "a call of a subagent": ([call("a") | inside, no | inside], []),
        "a result without its call": ([no], []),
        "the model is asked again": ([call("a"), no, said("So?")], [stopped, TurnStarted(), OK]),
    }
    for name, (lines, expected) in cases.items():
        with case(name):
            found = [each for each in ends(user("Go"), *lines) if not isinstance(each, Prompt)]
            assert found == expected


def test_an_error_of_the_service_fails_the_turn() -> None:
    """A request that was rejected ends the turn; nothing else in the file says so."""
    failed = telemetry("api_error", status_code=400, error_message="refused")
    assert ends(user("Go"), failed) == [Prompt("Go"), TurnEnded(Outcome.FAILED, "refused")]
    assert ends(telemetry("api_error")) == [TurnEnded(Outcome.FAILED, "API error")]


def test_an_error_that_passes_is_repeated() -> None:
    """A request that the service could not answer is sent again; if not, the turn has failed."""
    busy = telemetry("api_error", status_code=429, error_message="busy")
    assert decoded(user("Go"), busy, said("A"))[1] == Retry("busy", at_ms=AT_MS)
    assert ends(user("Go"), busy, said("A")) == [Prompt("Go"), OK]
    failed = TurnEnded(Outcome.FAILED, "busy")
    assert ends(user("Go"), busy) == [Prompt("Go"), failed]
    assert ends(user("Go"), busy, user("Again", parent="x")) == [Prompt("Go"), failed, Prompt("Again")]


@pytest.mark.parametrize(
    ("state", "outcome"),
    [("completed", Outcome.SUCCEEDED), ("cancelled", Outcome.CANCELLED), ("error", Outcome.FAILED)],
)
def test_newer_versions_say_how_a_turn_ended(state: str, outcome: Outcome) -> None:
    """The record of a turn's result decides its outcome."""
    done = system("turn_result", {"state": state, "error": {"message": "why"}})
    assert ends(user("Go"), done) == [Prompt("Go"), TurnEnded(outcome, "why")]
    assert ends(system("turn_result", {"state": "odd"})) == []


def test_a_rewind_is_a_branch_of_the_tree() -> None:
    """A prompt whose parent is before the last turn takes that turn out of the text."""
    lines = (
        user("One", uuid="p1"),
        said("A", uuid="a1", parent="p1"),
        user("Two", uuid="p2", parent="a1"),
        said("B", uuid="a2", parent="p2"),
        system("rewind", {"truncatedCount": 2}, uuid="r", parent="a1"),
        user("Other", uuid="p3", parent="r"),
        said("C", uuid="a3", parent="p3"),
    )
    assert ends(*lines)[-3:] == [Rewound(1), Prompt("Other"), OK]
    assert session_of(*lines).text == "AC"


def test_an_answer_after_the_end_of_a_turn_begins_another() -> None:
    """A background task may wake the agent."""
    assert ends(user("Go"), said("A"), said("B")) == [Prompt("Go"), OK, TurnStarted(), OK]


def test_a_repeated_line_is_decoded_once() -> None:
    """A line with a known UUID says nothing new."""
    first = said("A", uuid="b6cd004b-98c8-476f-ba4a-d436c6069d0f")
    assert session_of(user("Go"), first, first).text == "A"


def test_the_tokens_of_each_request_are_added() -> None:
    """The sent tokens contain those of the cache."""
    counts = {"promptTokenCount": 1000, "candidatesTokenCount": 20, "cachedContentTokenCount": 400}
    one = said("A", usageMetadata=counts, contextWindowSize=8000)
    assert session_of(user("Go"), one, one).run.tokens == Tokens(2000, 800, 40, None, 1000, 8000)


def test_a_line_beside_the_messages_is_read() -> None:
    """Compactions, commands and notifications are reported; unknown lines are counted."""
    cases: list[tuple[dict[str, Any], list[Event]]] = [
        (
            system("chat_compression", {"info": {"originalTokenCount": 9000, "newTokenCount": 700}}),
            [Compaction(True, None, 9000, 700, AT_MS)],
        ),
        (system("slash_command", {"phase": "invocation", "rawCommand": "/about"}), [Notice("/about", AT_MS)]),
        (system("slash_command", {"phase": "result", "rawCommand": "/about"}), []),
        (system("notification", {"displayText": "done"}), [Notice("done", AT_MS)]),
        (system("notification"), []),
        (system("agent_retry", {"attempt": 2}), [Retry("", 2, at_ms=AT_MS)]),
        (system("attribution_snapshot"), []),
        (telemetry("api_response"), []),
        (system("hologram"), [Unknown("type system/hologram")]),
        (system(["x"]), [Unknown("type system/an array")]),
        (line("weather"), [Unknown("type weather")]),
        ({"type": ["x"]}, [Unknown("type an array")]),
    ]
    for made, expected in cases:
        with case(made):
            assert decoded(made) == expected


def test_the_facts_of_the_run_follow_the_lines() -> None:
    """The model and the mode may change during a session."""
    decoder = Decoder()
    assert decoder.decode(said("A"))[1] == RunInfo("s", "qwen3", "/w", agent_version="0.24.4")
    assert decoder.decode(system("session_model", {"modelId": "other"})) == [RunInfo(model="other")]
    assert decoder.decode(system("session_approval_mode", {"mode": "yolo"})) == [
        RunInfo(permission_mode="yolo")
    ]


def test_the_lines_of_a_subagent_are_not_the_main_agents() -> None:
    """A subagent's texts belong to no turn of the main agent; its own file shows it as the main agent."""
    side: dict[str, Any] = {"isSidechain": True, "agentId": "explore-7f"}
    lines = [user("Find", **side), said("Found", **side), {**telemetry("api_error"), **side}]
    session = session_of(user("Go"), *lines)
    assert (session.text, session.run.turns, session.run.ended) == ("", 1, None)
    assert Prompt("Find", "explore-7f") in decoded(user("Go"), *lines)
    assert Notice("API error", AT_MS, is_error=True) in decoded(user("Go"), *lines)
    assert ends(user("Go"), {**system("turn_result", {"state": "completed"}), **side}) == [Prompt("Go")]
    own = session_of(*lines[:2])
    assert (own.text, own.run.turns) == ("Found", 1)
    assert Prompt("Find", "subagent") in decoded(user("Go"), user("Find", isSidechain=True))


def test_a_to_do_list_is_a_plan() -> None:
    """The to-do list that the agent writes is the plan."""
    written = decoded(call("c", "todo_write", todos=[{"content": "A", "status": "pending"}]))
    assert [event.entries[0].text for event in written if isinstance(event, Plan)] == ["A"]


def test_a_line_is_recognised_by_its_parts() -> None:
    """The envelope is Claude's; the messages have Gemini's parts."""
    cases: list[tuple[dict[str, Any], LineRole, bool]] = [
        (user("Go"), LineRole.START, True),
        (said("A"), LineRole.OTHER, True),
        (call("c"), LineRole.CALL, True),
        (returned("c"), LineRole.CALL, True),
        (system("rewind"), LineRole.OTHER, True),
        ({"type": "system", "uuid": "u", "sessionId": "s", "provenance": "system"}, LineRole.OTHER, True),
        ({"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "x"}}, LineRole.START, False),
        ({"type": "user", "uuid": "u", "message": {"parts": []}}, LineRole.START, False),
        ({"type": ["user"], "uuid": "u", "sessionId": "s"}, LineRole.OTHER, False),
    ]
    for made, role, is_own in cases:
        with case((made, role)):
            assert (AGENT.role(made), AGENT.recognises(made)) == (role, is_own)
            assert AGENT.time_of is not None
            assert AGENT.time_of({"timestamp": AT}) == AT_MS
