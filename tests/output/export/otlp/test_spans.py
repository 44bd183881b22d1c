"""A session becomes spans with its times, outcomes and parents, and without its texts."""

from collections import Counter
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.builders import claude_lines
from tests.builders.captures import Captures
from tests.builders.formats.samples import samples
from tests.builders.lines import (
    CWD,
    completed,
    init,
    result,
    started,
    thought,
    thought_through,
    user,
)
from tests.conftest import RECORDINGS, Saver, case
from tests.output.export.otlp.collector import Collector, attributes
from tests.output.export.otlp.sent import close_opened, many_calls, sent, session_at

AT_MS = 1_770_000_000_000
NS = 1_000_000
FAILED = {"failure": {"exitCode": 3, "stdout": "", "stderr": "no"}}
EXIT_0 = {"success": {"exitCode": 0, "stdout": "fine", "stderr": ""}}
KINDS = Span.SpanKind


def times(span: Span) -> tuple[float, float]:
    """Return when a span started and ended, in milliseconds after the time of these tests."""
    return span.start_time_unix_nano / NS - AT_MS, span.end_time_unix_nano / NS - AT_MS


def test_a_call_has_its_times_and_facts(backend: Collector, recording: Saver, tmp_path: Path) -> None:
    """A call that succeeded has the agent's times, its name and its number, and the run as its parent."""
    begun = started("read", "c-1", AT_MS + 100, path=f"{CWD}/a.py")
    ended = completed("read", "c-1", {"success": {"totalLines": 4}}, AT_MS + 350)
    sent(recording(init(model="opus"), user(), begun, ended, result()))
    call, run = backend.named("execute_tool read"), backend.named("invoke_agent cursor")
    assert times(call) == (100, 350)
    assert attributes(call) == {
        "session.id": "s-1",
        "gen_ai.conversation.id": "s-1",
        "openinference.span.kind": "TOOL",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read",
        "gen_ai.tool.call.id": "c-1",
        "gen_ai.tool.type": "function",
        "agentwatch.call": 1,
        "agentwatch.kind": "read",
        "agentwatch.outcome": "succeeded",
    }
    assert (call.kind, call.status.code) == (KINDS.SPAN_KIND_INTERNAL, Status.STATUS_CODE_UNSET)
    assert (call.parent_span_id, run.parent_span_id) == (run.span_id, b"")
    assert {len(call.trace_id), len(call.span_id)} == {16, 8}
    assert call.trace_id == run.trace_id
    # A non-zero exit code is an error, and the span has the name of the program, never its arguments.
    backend.taken.clear()
    command = "cd /srv && TOKEN=hunter2 /opt/bin/pytest -q tests/secret"
    calls = (
        started("shell", command=command, at_ms=AT_MS),
        completed("shell", result=FAILED, at_ms=AT_MS + 9, command=command),
    )
    sent(recording(init(), user(), *calls, result()))
    span = backend.named("execute_tool shell pytest")
    found = attributes(span)
    assert (found["process.executable.name"], found["process.exit.code"]) == ("pytest", 3)
    assert (found["error.type"], found["agentwatch.outcome"]) == ("exit_3", "failed")
    assert (span.status.code, span.status.message) == (Status.STATUS_CODE_ERROR, "")
    # An unfinished call is neither a success nor an error, and lasts until the last event seen.
    backend.taken.clear()
    later = (started("read", "c-2", AT_MS + 40), completed("read", "c-2", EXIT_0, AT_MS + 70))
    sent(recording(init(), user(), started("shell", "c-1", AT_MS, command="sleep 9"), *later))
    span = backend.named("execute_tool shell sleep")
    assert times(span) == (0, 70)
    assert attributes(span)["agentwatch.outcome"] == "unfinished"
    assert "error.type" not in attributes(span)
    assert span.status.code == Status.STATUS_CODE_UNSET
    assert attributes(backend.named("invoke_agent cursor"))["agentwatch.outcome"] == "unfinished"
    # A call that an earlier run left open ends when the next run starts, not days later.
    backend.taken.clear()
    path = tmp_path / "two.ndjson"
    first = init() + user() + started("shell", "c-1", AT_MS, command="sleep 9")
    path.write_bytes(first + init() + user() + result())
    path.with_suffix(".times").write_text(
        f"0 {AT_MS}\n{len(first)} {AT_MS + 50}\n{len(first) + 400} {AT_MS + 90}\n"
    )
    sent(path)
    assert times(backend.named("execute_tool shell sleep")) == (0, 50)


def test_a_run_has_its_model_and_its_tokens(backend: Collector, recording: Saver, tmp_path: Path) -> None:
    """The span of a run includes its calls, and has its model, its tokens and its outcome."""
    # The resource is the service agentwatch, and the scope has the schema of the conventions.
    sent(recording(init(), user(), result()))
    [request] = backend.requests
    [resource] = request.parsed().resource_spans
    [scope] = resource.scope_spans
    assert request.headers["content-type"] == "application/x-protobuf"
    assert attributes(resource.resource)["service.name"] == "agentwatch"
    assert scope.scope.name == "agentwatch"
    assert scope.schema_url == "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
    backend.taken.clear()
    usage = {"inputTokens": 5, "outputTokens": 7, "cacheReadTokens": 20, "cacheWriteTokens": 0}
    calls = (started("read", at_ms=AT_MS), completed("read", result=EXIT_0, at_ms=AT_MS + 5))
    sent(recording(init(model="opus"), user(), *calls, result(usage=usage)))
    run = backend.named("invoke_agent cursor")
    found = attributes(run)
    assert found.items() >= {
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.provider.name", "cursor"),
        ("gen_ai.agent.name", "cursor"),
        ("gen_ai.request.model", "opus"),
        ("gen_ai.usage.input_tokens", 25),
        ("gen_ai.usage.cache_read.input_tokens", 20),
        ("gen_ai.usage.output_tokens", 7),
        ("openinference.span.kind", "AGENT"),
        ("agentwatch.outcome", "succeeded"),
        ("agentwatch.redacted", True),
    }
    assert "error.type" not in found
    start, end = times(run)
    assert start <= 0
    assert end >= 5
    # Texts with a start and an end are a span of the model; a text with a single time is none.
    backend.taken.clear()
    lines = (thought("Hm.", AT_MS), thought("Hm.", AT_MS + 30), thought_through(AT_MS + 60))
    call = (started("read", at_ms=AT_MS + 61), completed("read", result=EXIT_0, at_ms=AT_MS + 70))
    sent(recording(init(model="opus"), user(), *lines, *call, thought("x", AT_MS + 80), result()))
    step = backend.named("chat opus")
    assert times(step) == (0, 60)
    assert step.kind == KINDS.SPAN_KIND_CLIENT
    assert attributes(step)["gen_ai.operation.name"] == "chat"
    assert attributes(step)["openinference.span.kind"] == "LLM"
    assert step.parent_span_id == backend.named("invoke_agent cursor").span_id
    # The texts of a second run are in its trace, although texts do not name their run.
    backend.taken.clear()
    thinking = (thought("x", AT_MS + 50), thought("y", AT_MS + 60), thought_through(AT_MS + 70))
    first = (init(), user(), started("read", at_ms=AT_MS), completed("read", result=EXIT_0, at_ms=AT_MS + 5))
    sent(recording(*first, result(), init(), user(), *thinking, result()))
    runs = [span for span in backend.spans() if span.name == "invoke_agent cursor"]
    assert backend.named("chat Auto").trace_id == runs[1].trace_id != runs[0].trace_id
    # Two runs of a session are two traces with the same session id.
    backend.taken.clear()
    sent(RECORDINGS / "two-runs.ndjson")
    runs = [span for span in backend.spans() if span.name == "invoke_agent cursor"]
    assert len({span.trace_id for span in runs}) == 2
    assert len({attributes(span)["session.id"] for span in runs}) == 1
    of_runs = [span for span in backend.spans() if "agentwatch.call" in attributes(span)]
    assert [call.parent_span_id for call in of_runs] == [run.span_id for run in runs]
    assert runs[0].end_time_unix_nano < runs[1].start_time_unix_nano
    # Selected calls are sent with the ids that they have in the whole session, and with their run.
    backend.taken.clear()
    many = many_calls(tmp_path / "many.ndjson", 30)
    sent(many)
    whole = {span.span_id: span.SerializeToString() for span in backend.spans() if span.parent_span_id}
    backend.taken.clear()
    sent(many, words="7.py")
    part = {span.span_id: span for span in backend.spans()}
    assert len(part) == 4
    whole_run = backend.named("invoke_agent cursor")
    assert attributes(whole_run)["agentwatch.whole"] is False
    assert {
        key: span.SerializeToString() for key, span in part.items() if span.parent_span_id
    }.items() <= whole.items()
    assert all(span.parent_span_id in ("", b"", whole_run.span_id) for span in part.values())


def test_a_call_that_did_not_succeed_says_how(backend: Collector, recording: Saver) -> None:
    """A call that failed or was rejected is an error with that word, and without the agent's message."""
    # A call that starts a subagent has its span, even if the stream shows none of its calls.
    sent(RECORDINGS / "demo.ndjson")
    call, subagent = backend.named("execute_tool task"), backend.named("invoke_agent cursor subagent")
    assert subagent.parent_span_id == call.span_id
    assert times(subagent) == times(call)
    for outcome, error in (
        ({"error": {"errorMessage": "File not found"}}, "failed"),
        ({"rejected": {"reason": "no"}}, "rejected"),
    ):
        with case(error):
            backend.taken.clear()
            sent(recording(init(), user(), started("read"), completed("read", result=outcome), result()))
            span = backend.named("execute_tool read")
            assert attributes(span)["error.type"] == attributes(span)["agentwatch.outcome"] == error
            assert (span.status.code, span.status.message) == (Status.STATUS_CODE_ERROR, "")
    # The calls of a subagent are under its span, which is under the call that started it.
    for tool in ("Task", "Workflow"):
        with case(tool):
            backend.taken.clear()
            inner = {"type": "tool_use", "id": "t-2", "name": "Read", "input": {"file_path": "/x"}}
            lines = (
                claude_lines.init(),
                claude_lines.call(tool, "t-1", description="Look", prompt="p"),
                claude_lines.assistant(inner, parent_tool_use_id="t-1"),
            )
            sent(recording(claude_lines.written(*lines)))
            outer, read = backend.named(f"execute_tool {tool}"), backend.named("execute_tool Read")
            subagent = backend.named("invoke_agent claude subagent")
            assert subagent.parent_span_id == outer.span_id
            assert read.parent_span_id == subagent.span_id
            assert outer.parent_span_id == backend.named("invoke_agent claude").span_id
            assert attributes(subagent)["gen_ai.agent.id"] == "t-1"


@pytest.mark.system
def test_every_recording_becomes_valid_spans(captures: Captures, backend: Collector) -> None:
    """Each bundled and captured recording of each agent is sent completely: one span per run and per call."""
    paths = [path for path, _ in samples(captures)]
    for path in [*sorted(RECORDINGS.glob("*.ndjson")), *paths] if captures.is_own else paths:
        with case(path):
            backend.taken.clear()
            done = sent(path, content=True)
            assert done.is_complete, done.words
            check_spans(backend.spans(), len(session_at(path).session.runs))
            close_opened()


def check_spans(spans: list[Span], runs: int) -> None:
    """Check that the spans of a recording have times, short texts, and one root for each trace."""
    ids = {span.span_id for span in spans}
    assert len(ids) == len(spans) >= runs
    for span in spans:
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
        assert not span.parent_span_id or span.parent_span_id in ids
        assert all(
            len(value.encode()) <= 8192 for value in attributes(span).values() if isinstance(value, str)
        )
    roots = Counter(span.trace_id for span in spans if not span.parent_span_id)
    assert set(roots) == {span.trace_id for span in spans}
    assert max(roots.values(), default=1) == 1
    by_id = {span.span_id: span for span in spans}
    for span in spans:
        if span.parent_span_id and not by_id[span.parent_span_id].parent_span_id:
            root = by_id[span.parent_span_id]
            assert root.start_time_unix_nano <= span.start_time_unix_nano
            assert root.end_time_unix_nano >= span.end_time_unix_nano


@pytest.mark.parametrize("name", ["demo", "two-runs", "json-format", "hostile", "unfinished"])
def test_sending_twice_sends_the_same(name: str, backend: Collector) -> None:
    """The bytes of the second time equal those of the first, so that a backend can recognise them."""
    for _ in range(2):
        assert sent(RECORDINGS / f"{name}.ndjson", content=True).is_complete
    first, second = backend.requests
    assert first.data == second.data
