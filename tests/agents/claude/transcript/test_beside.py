"""The lines of a transcript that are no messages: facts, counts, compactions, retries, notices."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.agent import LineRole
from agentwatch.agents.claude.agent import TRANSCRIPT as AGENT
from agentwatch.agents.claude.calls import Requests
from agentwatch.agents.claude.transcript import Decoder
from agentwatch.session.events import Compaction, Event, Notice, Retry, RunInfo, Tokens, Unknown
from agentwatch.session.session import repeated_calls
from tests.builders.on_disk.transcript import (
    AT,
    AT_MS,
    answer,
    call,
    decoded,
    line,
    returned,
    said,
    session_of,
    user,
)
from tests.conftest import case


def system(subtype: object, **more: Any) -> dict[str, Any]:
    """Return a system line."""
    return line("system", subtype=subtype, **more)


def test_a_system_line_is_read() -> None:
    """Compactions, retries, commands and errors are reported; an unknown subtype is counted."""
    cases: list[tuple[dict[str, Any], list[Event]]] = [
        (
            system(
                "compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 155250, "postTokens": 9}
            ),
            [Compaction(True, "auto", 155250, 9, AT_MS)],
        ),
        (system("microcompact_boundary"), [Compaction(True, at_ms=AT_MS)]),
        (
            system(
                "api_error", error={"message": "overloaded"}, retryAttempt=4, maxRetries=10, retryInMs=558.9
            ),
            [Retry("overloaded", 4, 10, 558, AT_MS)],
        ),
        (
            system("api_error", error={"status": 503, "error": {"error": {"message": "x"}}}),
            [Retry("x", at_ms=AT_MS)],
        ),
        (system("api_error", error={"cause": {"code": "ECONN"}}), [Retry("ECONN", at_ms=AT_MS)]),
        (system("api_error", error={"status": 529}, retryInMs=True), [Retry("status 529", at_ms=AT_MS)]),
        (system("api_error", retryInMs=1e300), [Retry("", at_ms=AT_MS)]),
        (system("local_command", content="<command-name>/model</command-name>"), [Notice("/model", AT_MS)]),
        (system("local_command", content="<local-command-stdout></local-command-stdout>"), []),
        (system("local_command"), []),
        (system("session_start"), []),
        (system("informational", content="Switched"), [Notice("Switched", AT_MS)]),
        (system("error", error={"message": "bad"}, level="error"), [Notice("bad", AT_MS, is_error=True)]),
        (
            system("stop_hook_summary", hookErrors=["no", {"message": "why"}]),
            [
                Notice("hook failed: no", AT_MS),
                Notice("hook failed: why", AT_MS),
            ],
        ),
        (system("hologram"), [Unknown("type system/hologram")]),
        (system(["x"]), [Unknown("type system/an array")]),
    ]
    for made, expected in cases:
        with case(made):
            assert decoded(made) == expected


def test_an_attachment_is_read() -> None:
    """Of what is attached for the model, only a queued prompt and the failure of a hook are shown."""
    cases: list[tuple[object, list[Event]]] = [
        ({"type": "queued_command", "prompt": "also push"}, [Notice("queued: also push", AT_MS)]),
        ({"type": "queued_command", "prompt": "<bash-input>ls</bash-input>"}, [Notice("! ls", AT_MS)]),
        ({"type": "queued_command", "prompt": [{"type": "image"}]}, []),
        (
            {"type": "hook_blocking_error", "hookName": "Stop", "blockingError": {"blockingError": "lint"}},
            [Notice("hook Stop failed: lint", AT_MS)],
        ),
        (
            {"type": "hook_non_blocking_error", "hookEvent": "Stop", "stderr": "no"},
            [Notice("hook Stop failed: no", AT_MS)],
        ),
        ({"type": "hook_stopped_continuation", "hookName": "x"}, [Notice("hook x failed", AT_MS)]),
        ({"type": "prompt_snapshot", "systemPrompt": ["x"]}, []),
        ({"type": ["x"]}, []),
        ("x", []),
    ]
    for attached, expected in cases:
        with case(attached):
            assert decoded(line("attachment", attachment=attached)) == expected


def test_other_lines_say_nothing() -> None:
    """Snapshots, requests and settings are understood, and report nothing, at the start or later."""
    cases: list[str] = ["mode", "api-request-blob", "file-history-snapshot", "queue-operation", "tools-used"]
    for kind in cases:
        with case(kind):
            message = {"content": [{"type": "text", "text": "x"}]}
            made = {"type": kind, "sessionId": "s", "message": message}
            assert decoded(made, user("Go"), made) == decoded(user("Go"))


def test_a_queued_prompt_is_reported_once() -> None:
    """A prompt that is handed over during a turn has no line of its own, but one or two about the queue."""
    removed = line("queue-operation", operation="remove", content="the parser first")
    attached = line("attachment", attachment={"type": "queued_command", "prompt": "the parser first"})
    expected = [Notice("queued: the parser first", AT_MS)]
    assert decoded(user("Go"), removed, attached)[1:] == expected
    assert decoded(user("Go"), attached, removed)[1:] == expected
    assert decoded(line("queue-operation", operation="enqueue", content="x")) == []
    assert decoded(line("queue-operation", operation="remove")) == []
    other = line("queue-operation", operation="remove", content="other")
    assert len(decoded(removed, other, removed)) == 3


def test_the_facts_of_the_run_follow_the_lines() -> None:
    """Each fact is reported when it changes; a change of the session's id begins no run."""
    decoder = Decoder()
    first = decoder.decode({"type": "permission-mode", "permissionMode": "default", "sessionId": "s"})
    assert first[1] == RunInfo(session_id="s", permission_mode="default")
    assert decoder.decode(said("A", permissionMode="plan", sessionId="t"))[0] == RunInfo(
        session_id="t", model="opus", cwd="/w", permission_mode="plan", agent_version="2.1.330"
    )
    assert not any(isinstance(event, RunInfo) for event in decoder.decode(said("B", sessionId="t")))
    synthetic = said("x", message={"model": "<synthetic>"}, sessionId="t")
    assert not any(isinstance(event, RunInfo) for event in decoder.decode(synthetic))


def test_each_message_is_counted_once() -> None:
    """The lines of a message repeat its counts; the last has the final count of its output."""
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 10,
        "cache_creation_input_tokens": 5,
        "output_tokens": 1,
    }
    first = said("A", message={"id": "m", "usage": usage})
    last = call("c", message={"id": "m", "usage": {**usage, "output_tokens": 40}})
    other = said("B", message={"id": "n", "usage": {"output_tokens": 2}})
    none = said("C", message={"id": "o", "usage": {"input_tokens": 0, "output_tokens": 0}})
    run = session_of(user("Go"), first, first, last, other, none).run
    assert run.tokens == Tokens(18, 10, 42, context_used=18)
    requests = Requests()
    for number in range(100):
        assert requests.usage({"id": f"{number}", "usage": usage}, None) is not None
    assert requests.usage({"usage": usage}, None) is None
    assert requests.usage({"id": "x" * 5000, "usage": usage}, None) is None


def test_a_subagent_in_the_same_file_is_counted() -> None:
    """Its requests are the session's; its context is not."""
    usage = {"input_tokens": 3, "output_tokens": 1}
    own = said("A", uuid="a", message={"id": "m", "usage": usage})
    inner = said("B", uuid="b", isSidechain=True, message={"id": "n", "usage": {**usage, "input_tokens": 50}})
    wrapped = said("C", uuid="c", message={"id": "o", "usage": {**usage, "input_tokens": 200}})
    data = {"type": "agent_progress", "message": wrapped}
    progress = [line("progress", number, data=data, parentToolUseID="t-1") for number in ("d", "e")]
    run = session_of(user("Go", "u"), own, inner, *progress).run
    assert run.tokens == Tokens(253, None, 3, context_used=3)


def test_the_lines_that_a_fork_copies_are_not_its_own() -> None:
    """They name the session from which they were copied. Their requests and calls count there."""
    usage = {"input_tokens": 3, "output_tokens": 1}
    origin: dict[str, Any] = {"forkedFrom": {"sessionId": "o", "messageUuid": "m"}}
    before = [
        user("Go", "u", **origin),
        call("c-1", uuid="a", message={"id": "m", "usage": usage}, **origin),
        returned("c-1", uuid="b", **origin),
    ]
    own = call("c-2", uuid="c", message={"id": "n", "usage": {**usage, "input_tokens": 40}})
    found = session_of(*before, line("mode"))
    assert (found.run.tokens.input, repeated_calls(found)) == (None, 1)
    found = session_of(*before, line("mode"), user("More", "v"), own)
    assert (found.run.tokens.input, len(found.calls), repeated_calls(found)) == (40, 2, 1)
    late = call("c-3", uuid="d", message={"id": "p", "usage": usage}, **origin)
    found = session_of(*before, own, late, user("More", "w"))
    assert (found.run.tokens.input, len(found.calls), repeated_calls(found)) == (40, 3, 1)


def test_the_cost_is_the_last_that_was_written() -> None:
    """A cost is that of the process so far: the last one counts, and no other type of value does."""
    lines = [line("cost-state", totalCostUSD=cost) for cost in (0.1, 0.2, "x", True, -1, float("nan"))]
    assert session_of(user("Go"), *lines).run.tokens.cost_usd == 0.2


def test_the_role_of_a_line() -> None:
    """The lines before the first answer belong to the start; calls are found for the preview."""
    cases: list[tuple[dict[str, Any], LineRole]] = [
        (user("Go"), LineRole.START),
        (line("mode"), LineRole.START),
        (line("attachment"), LineRole.START),
        (said("A"), LineRole.OTHER),
        (call("c"), LineRole.CALL),
        (returned("c"), LineRole.CALL),
        (line("progress"), LineRole.OTHER),
        (line("cost-state"), LineRole.OTHER),
        ({"type": ["x"]}, LineRole.OTHER),
        (user([5]), LineRole.START),
        (line("assistant", message=5), LineRole.OTHER),
    ]
    for made, role in cases:
        with case(made):
            assert AGENT.role(made) is role


def test_only_lines_of_a_transcript_are_recognised() -> None:
    """A transcript has `sessionId`, the stream `session_id`; other agents have data beside it."""
    cases: list[tuple[dict[str, Any], bool]] = [
        (user("Go"), True),
        (said("A", session_id="both"), True),
        ({"type": "mode", "sessionId": "s"}, True),
        ({"type": "progress", "sessionId": "s", "data": {}}, True),
        ({"type": "summary", "summary": "x", "leafUuid": "y"}, True),
        ({"type": "summary"}, False),
        ({"type": "file-history-snapshot", "snapshot": {}}, True),
        ({"type": "file-history-snapshot"}, False),
        ({"type": "user", "session_id": "s"}, False),
        ({"type": "user", "sessionId": "s", "data": {}}, False),
        ({"type": ["user"], "sessionId": "s"}, False),
        ({"type": "result", "sessionId": "s"}, False),
    ]
    for made, is_own in cases:
        with case(made):
            assert AGENT.recognises(made) is is_own


def test_a_line_has_the_time_of_the_agents_clock() -> None:
    """The timestamp of a line is its time."""
    assert AGENT.time_of is not None
    assert AGENT.time_of({"timestamp": AT}) == AT_MS
    assert AGENT.time_of({"timestamp": 5}) is None
    assert answer()["type"] == "assistant"


def test_messages_that_alternate_are_counted_once() -> None:
    """A message that repeats its counts after a line of another message adds nothing."""
    requests = Requests()
    first, second = ({"id": name, "usage": {"input_tokens": 10, "output_tokens": 2}} for name in "ab")
    assert [requests.usage(each, None) is None for each in (first, second, first)] == [False, False, True]
