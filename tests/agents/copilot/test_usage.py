"""Copilot's token counts: per request, or for the session if its requests were not counted."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.copilot.agent import AGENT
from agentwatch.session.events import Tokens
from tests.agents.copilot.lines import line, passing, user
from tests.builders.agents.decoded import events_of, session_of

USAGE: dict[str, Any] = {
    "inputTokens": 1000,
    "outputTokens": 20,
    "cacheReadTokens": 400,
    "maxPromptTokens": 128_000,
    "cost": 1,
}


def record(**more: Any) -> dict[str, Any]:
    """Return the line of a request."""
    return line("session.usage_record", {"usage": {**USAGE, **more}})


def tokens(*lines: dict[str, Any]) -> Tokens:
    """Return the tokens of a session."""
    return session_of(AGENT, user("Go"), *lines).run.tokens


def test_a_request_is_counted_once() -> None:
    """The stream reports it twice, by its id; the cost counts premium requests and is no cost in dollars."""
    twice = passing("assistant.usage", {**USAGE, "apiCallId": "r-1"})
    assert tokens(record(apiCallId="r-1"), twice, record(apiCallId="r-2")) == Tokens(
        2000, 800, 40, None, 1020, 128_000
    )
    assert tokens(record(), record()).input == 2000
    assert tokens(record(inputTokens=0, outputTokens=0)) == Tokens()
    of_subagent = {**record(), "agentId": "a"}
    assert tokens(of_subagent) == Tokens(1000, 400, 20)
    many = [record(apiCallId=f"r-{number}") for number in range(70)]
    assert tokens(*many, many[69], many[0], record(apiCallId="h" * 2000)).input == 72_000


def test_the_end_of_a_session_has_all_counts() -> None:
    """They are used if no request was counted. Older versions have them by kind, not by model."""
    usage = {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 4}
    metrics = {"m-1": {"usage": usage}, "m-2": {"usage": {"inputTokens": 5}}, "m-3": 7}
    end = line("session.shutdown", {"modelMetrics": metrics, "currentTokens": 9})
    assert tokens(end) == Tokens(15, 4, 2, None, 9)
    assert tokens(record(), end).input == 1000
    details = {"input": {"tokenCount": 100}, "output": {"tokenCount": 15}, "cache_read": {"tokenCount": 5}}
    older = line("session.shutdown", {"modelMetrics": {"m": {"requests": 2}}, "tokenDetails": details})
    assert tokens(older) == Tokens(100, 5, 15)
    assert events_of(AGENT, line("session.shutdown")) == []


def test_a_stream_without_counts_has_the_output_of_its_messages() -> None:
    """The messages have their output tokens, which are used at the result if no request was counted."""
    said = [
        line("assistant.message", {"messageId": "m", "content": "x", "outputTokens": n}) for n in (20, 3, -9)
    ]
    done = {"type": "result", "sessionId": "s", "exitCode": 0}
    assert tokens(*said, done) == Tokens(output=23)
    assert tokens(record(), *said, done).output == 20
    assert tokens(*said[2:], done) == Tokens()


def test_the_context_is_that_of_the_last_line() -> None:
    """The stream reports its size and how much of it is in use."""
    info = passing("session.usage_info", {"currentTokens": 5000, "tokenLimit": 64_000})
    assert tokens(record(), info) == Tokens(1000, 400, 20, None, 5000, 64_000)
