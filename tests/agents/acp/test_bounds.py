"""What the decoder of the Agent Client Protocol keeps is bounded, and deltas are read at once."""

from __future__ import annotations

from collections.abc import Callable

from agentwatch.agents import Decoder
from agentwatch.agents.registry import agent_named
from agentwatch.session.session import Session
from tests.builders.formats.acp import (
    SESSION,
    called,
    changed,
    chose,
    chunk,
    opening,
    permission,
    prompt,
    request,
    response,
    stopped,
    update,
)
from tests.builders.lines import session

DIRECT = opening() + prompt()
LONG = "s" * 10_000


def test_thousands_of_calls_that_have_ended_are_forgotten() -> None:
    """Only the last ids of ended calls are kept; every call keeps its outcome."""
    lines = b"".join(called(f"c-{number}", kind="read", status="completed") for number in range(5000))
    assert {call.outcome for call in session(DIRECT, lines).calls} == {"succeeded"}


def test_hundreds_of_sessions_at_once_are_read() -> None:
    """Sessions, subagents and terminals beyond the limits are read; their texts stay apart."""
    lines = b""
    for number in range(300):
        name = f"ses-{number + 5}"
        lines += request("terminal/create", number + 10, sessionId=SESSION, command="make")
        lines += response(number + 10, {"terminalId": f"t-{number}"})
        lines += update("subagent_spawned", subagentSessionId=f"kid-{number}", name="explore")
        lines += chunk(name, "agent_message", name)
    read = session(DIRECT, chunk("Main."), lines, stopped())
    assert (read.run.text, len(read.runs), read.outcome) == ("Main.", 1, "succeeded")
    foreign = [each.text for each in read.transcript if each.parent is not None]
    assert sorted(foreign) == sorted(f"ses-{number + 5}" for number in range(300))


def test_long_ids_are_read() -> None:
    """Ids of thousands of characters name sessions, requests, terminals and options like any other."""
    read = session(
        opening(LONG),
        prompt("Go.", 2, LONG),
        chunk("Hi.", "agent_message", LONG),
        prompt("Other.", LONG, LONG * 2),
        chunk("Foreign.", "agent_message", LONG * 2),
        request("terminal/create", 9, sessionId=LONG, command="make"),
        response(9, {"terminalId": LONG}),
        request("session/load", 12, sessionId=LONG, cwd="/"),
        request("session/set_model", 13, sessionId=LONG, modelId=LONG),
        response(13, {}),
        response(LONG, {}),
        stopped(),
    )
    assert read.lines.unknown == 0
    assert "Foreign." in [each.text for each in read.transcript]
    aside = session(DIRECT, chunk("Foreign.", "agent_message", LONG), chunk("Hi."), stopped())
    assert aside.run.text == "Hi."


def test_a_long_text_of_a_subagent_comes_in_parts() -> None:
    """A text that is held back is reported when it has a million characters."""
    claude = {"_meta": {"claudeCode": {"parentToolUseId": "c-1"}}}
    pieces = b"".join(chunk("x" * 600_000, **claude) for _ in range(3))
    read = session(DIRECT, called(kind="think", status="pending"), pieces, stopped())
    assert sum(len(each.text) for each in read.transcript if each.parent == 1) == 1_800_000


def test_a_long_prompt_is_cut() -> None:
    """A message of the user that comes in pieces is gathered up to a million characters."""
    pieces = b"".join(chunk("x" * 600_000, "user_message") for _ in range(3))
    read = session(opening(), pieces, chunk("Hi."))
    assert len(read.run.prompt or "") == 1 << 20
    assert session(opening(), chunk("", "user_message"), chunk("Hi."), stopped()).run.turns == 1
    assert session(DIRECT, chunk("", "user_message", "kid"), stopped()).run.turns == 1


def test_answers_about_unknown_calls_are_read() -> None:
    """A permission without a call, and options without ids, are asked and answered."""
    ask = request(
        "session/request_permission", 0, sessionId=SESSION, options=[{"optionId": "x"}, 7], toolCall={}
    )
    read = session(DIRECT, ask, chose("x"), stopped())
    assert (read.asked.count, len(read.calls), read.lines.unknown) == (1, 0, 1)
    late = session(DIRECT, called(kind="read", status="completed"), permission(), chose("no"))
    assert late.calls[0].outcome == "succeeded"


def test_consecutive_deltas_are_read_at_once(session_of: Callable[[bytes], Session]) -> None:
    """A burst of deltas gives the same text as its lines, and only the main agent's texts are bursts."""
    lines = b"".join(chunk(f"word {number} ") for number in range(500))
    thoughts = b"".join(chunk(f"thought {number} ", "agent_thought") for number in range(500))
    read = session_of(DIRECT + lines + thoughts + lines + called(kind="read", status="completed") + stopped())
    assert read.run.text == 2 * "".join(f"word {number} " for number in range(500))
    assert read.lines.total == 5 + 1500 + 2
    decoder = Decoder(agent_named("acp"))
    for line in DIRECT.splitlines():
        decoder.decode(line)
    rows = lines.splitlines(keepends=True)
    decoder.decode(rows[0])
    assert decoder.burst(rows, 1) is not None
    decoder.decode(changed(status="completed").rstrip())
    assert decoder.burst(rows, 1) is None
