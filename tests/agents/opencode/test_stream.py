"""opencode's stream: steps, texts, recognition, and what is unknown."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents import Decoder
from agentwatch.agents.opencode.agent import AGENT
from agentwatch.agents.opening import store_for
from agentwatch.agents.registry import detect
from agentwatch.session.events import LineTime, Outcome
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.agents.opencode.lines import (
    SESSION,
    begun,
    finished,
    message,
    part_line,
    said,
    session_line,
    stored,
    stored_call,
    streamed,
    used,
)
from tests.builders.captures import OURS
from tests.builders.lines import event, events, line, session, started
from tests.builders.payloads import PAYLOADS
from tests.conftest import case
from tests.harness.program import watch
from tests.harness.terminal_oracle import acting, driving


def test_a_session_is_in_its_order() -> None:
    """Steps end a turn, texts and calls are in order, and tokens are summed."""
    # A step with `stop` ends it well, unless it has calls; a limit, a filter or an error end it badly. A
    # step after the end begins another turn, another session another run.
    found = session(begun(), said("Hello"), finished(), is_over=False)
    assert (found.format, found.run.session_id, found.run.turns) == ("opencode", SESSION, 1)
    assert (found.outcome, found.text, found.run.result) == (Outcome.SUCCEEDED, "Hello", None)
    cases: list[object] = ["tool-calls", "unknown", "other", None, 7, [], {}]
    for reason in cases:
        with case(reason):
            assert session(begun(), finished(reason), is_over=False).outcome == Outcome.RUNNING
            assert session(begun(), finished(reason)).outcome == Outcome.UNFINISHED
    for reason in ["length", "content-filter", "error"]:
        with case(reason):
            found = session(begun(), finished(reason))
            assert (found.outcome, found.run.result) == (Outcome.FAILED, f"the model stopped: {reason}")
    found = session(begun(), used("glob"), finished(), is_over=False)
    assert found.outcome == Outcome.RUNNING
    found = session(begun(), used("glob"), finished(), begun(), said("x"), finished())
    assert (found.outcome, found.run.turns) == (Outcome.SUCCEEDED, 1)
    # A call that the user refuses without a word ends the turn; with one, the model is asked again.
    refused = "The user rejected permission to use this specific tool call."
    for words, outcome in ((refused, Outcome.CANCELLED), (f"{refused} Use ls.", Outcome.RUNNING)):
        with case(words):
            lines = [begun(), used("bash", "error", error=words), used("bash"), finished("tool-calls")]
            assert session(*lines, is_over=False).outcome == outcome
            assert session(*lines, begun(), is_over=False).outcome == Outcome.RUNNING
            assert session(*lines, begun(), finished(), is_over=False).outcome == Outcome.SUCCEEDED
    found = session(begun(), said("a"), finished(), begun(), is_over=False)
    assert (found.outcome, found.run.turns, len(found.runs)) == (Outcome.RUNNING, 2, 1)
    further: list[tuple[object, Outcome, str]] = [
        ({"name": "APIError", "data": {"message": "no such model"}}, Outcome.FAILED, "no such model"),
        ({"name": "MessageAbortedError", "data": {"message": "Aborted"}}, Outcome.CANCELLED, "Aborted"),
        ({"name": "MessageOutputLengthError", "data": {}}, Outcome.FAILED, "MessageOutputLengthError"),
        ({"message": "plain"}, Outcome.FAILED, "plain"),
        ("text", Outcome.FAILED, "text"),
        ("", Outcome.FAILED, "an error without a message"),
        (None, Outcome.FAILED, "an error without a message"),
        ([1], Outcome.FAILED, "an error without a message"),
    ]
    for error, outcome, words in further:
        with case((error, outcome)):
            found = session(streamed("error", error=error))
            assert (found.outcome, found.run.result, found.run.turns) == (outcome, words, 1)
    other = line({"type": "text", "sessionID": "ses_2", "part": {"type": "text", "text": "b"}})
    found = session(begun(), said("a", time={"start": 1}), finished("tool-calls"), other)
    assert [run.session_id for run in found.runs] == [SESSION, "ses_2"]
    assert [run.text for run in found.runs] == ["a", "b"]
    # A call appears once with both times; texts are in order and are closed by what follows; reasoning is
    # no part of the text.
    state = {"input": {"filePath": "/a/b.py"}, "metadata": {"display": {"totalLines": 3}}}
    [call] = session(begun(), used("read", **state)).calls
    assert (call.started_ms, call.ended_ms, call.duration_ms) == (10, 30, 20)
    assert (call.target, call.path, call.group, call.note) == ("/a/b.py", "/a/b.py", "msg_1", "3 lines")
    found = session(begun(), used("read", **state))
    assert (found.completed_without_started, found.never_completed) == (0, 0)
    found = session(begun(), used("glob"), said("First.", "prt_2"), said("Second.", "prt_3"))
    assert found.text == "First.Second."
    assert [entry.kind for entry in found.transcript] == [Kind.CALL, Kind.ANSWER, Kind.ANSWER]
    found = session(begun(), part_line("reasoning", "reasoning", text="Hm.", time={"start": 1, "end": 2}))
    assert found.text == ""
    assert [(entry.kind, str(entry.content)) for entry in found.transcript] == [(Kind.REASONING, "Hm.")]
    for closing in (used("glob"), finished("other"), begun(), stored("text", "user", text="x")):
        found = session(begun(), said("a", time={"start": 1}), closing, said("b", "prt_2"), is_over=False)
        assert [str(each.content) for each in found.transcript if each.kind is Kind.ANSWER] == ["a", "b"]
    # The cache is added to the input, the reasoning to the output; a cost beyond reason stays unknown.
    # The list is that of the metadata or the arguments.
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 100, "write": 7}}
    sums = session(begun(), *[finished("tool-calls", tokens=tokens, cost=0.25)] * 2).run.tokens
    assert (sums.input, sums.cached, sums.output, sums.cost_usd) == (
        234,
        200,
        14,
        0.5,
    )
    assert sums.context_used == 124
    others: list[object] = [True, "1", -1, 1e300, {"usd": 1}]
    for cost in others:
        with case(cost):
            assert session(begun(), finished(cost=cost)).run.tokens.cost_usd is None
    todos = [{"content": "A", "status": "completed"}, {"content": "B", "status": "odd"}, {"content": ""}, 7]
    ended = session(begun(), used("todowrite", metadata={"todos": todos}))
    assert [(entry.text, entry.status) for entry in ended.plan] == [("A", "completed"), ("B", "pending")]
    assert ended.calls[0].note == "1 of 2 done"
    seen = session(begun(), used("todowrite", input={"todos": todos}))
    assert len(seen.plan) == 2
    assert session(begun(), used("todowrite", "error", input={"todos": todos}, error="no")).plan == ()


def written(text: str, part_id: str = "prt_1", **part: Any) -> bytes:
    """Return the line of a text that may still grow."""
    return stored("text", id=part_id, text=text, **part)


def answers(found: Session) -> list[str]:
    """Return the texts of the answer as the transcript shows them."""
    return [str(entry.content) for entry in found.transcript if entry.kind is Kind.ANSWER]


def test_what_a_line_is_and_adds() -> None:
    """The spelling of the session decides whose a line is, and a text grows with it."""
    # `sessionID` with one of its types decides, also after another agent's run. Lines that begin a run,
    # and those of calls, are found alone; stored lines have the agent's clock.
    for kind in ("step_start", "text", "reasoning", "tool_use", "error", "session", "message", "part"):
        found = detect({"type": kind, "sessionID": "ses_1"}, is_first=False)
        assert found is not None
        assert found.name == "opencode"
    for fields in (
        {"type": "text", "session_id": "ses_1"},
        {"type": "text", "sessionID": None},
        {"type": [], "sessionID": "ses_1"},
        {"type": "weather", "sessionID": "ses_1"},
        {"type": "message.part.delta", "properties": {"sessionID": "ses_1"}},
    ):
        assert detect(fields, is_first=False) is None
    cases: list[tuple[bytes, str]] = [
        (begun(), "start"),
        (session_line(), "start"),
        (message(), "start"),
        (stored("text", "user", text="x"), "start"),
        (stored("text", text="x"), "other"),
        (stored_call("running"), "call"),
        (used("bash"), "call"),
        (said("x"), "other"),
    ]
    for data, role in cases:
        with case(data):
            assert Decoder().role(data).value == role
    cursor = event("system", "init", apiKeySource="login", cwd="/", model="Auto", permissionMode="default")
    seen = session(cursor, started("read"), begun(), said("Hello"))
    assert (seen.format, len(seen.runs), seen.text) == ("opencode", 2, "Hello")
    assert LineTime(1000) in events(session_line())
    assert LineTime(1000) not in events(begun())
    # Of each line only the new part is added; after a call it is an entry of its own. Only the last text
    # of the answer can be replaced; texts of two parts or agents, or without an id, do not mix.
    next_found = session(session_line(), written("He"), written("Hello"), written("Hello", time={"end": 5}))
    assert (next_found.text, answers(next_found)) == ("Hello", ["Hello"])
    tool = stored("tool", id="prt_9", tool="glob", callID="c", state={"status": "running"})
    next_found = session(session_line(), written("He"), tool, written("Hello"))
    assert (next_found.text, answers(next_found)) == ("Hello", ["He", "llo"])
    next_found = session(session_line(), written("He", time={"end": 1}), written("Hello", time={"end": 2}))
    assert (next_found.text, answers(next_found)) == ("Hello", ["He", "llo"])
    next_found = session(session_line(), written("Hallo"), written("Hello you"), written("Hello"))
    assert next_found.text == "Hello"
    assert "the agent replaced the text above" in [str(entry.content) for entry in next_found.transcript]
    next_found = session(session_line(), written("a"), written("b", "prt_2"), written("x"))
    assert next_found.text == "ab"
    thoughts = [stored("reasoning", id="prt_1", text=text) for text in ("Hm", "Well")]
    assert session(session_line(), *thoughts).transcript[-1].kind is Kind.REASONING
    assert len(session(session_line(), *thoughts).transcript) == 1
    last_seen_found = session(session_line(), written("a"), written("b", "prt_2"))
    assert answers(last_seen_found) == ["a", "b"]
    later_found = session(session_line(), written("a", ""), written("a", ""))
    assert answers(later_found) == ["a", "a"]
    child = stored("text", agent="call_x", id="prt_5", text="child")
    further_found = session(session_line(), written("a"), child, written("ab"))
    assert (further_found.text, answers(further_found)) == ("ab", ["a", "child", "b"])
    sums = session(session_line(), written(""), stored("text", id="prt_2", text=7, time={"end": 3}))
    assert len(sums.transcript) == 0
    many = [written("x", f"prt_{number}", time={"end": 1}) for number in range(65)]
    assert len(session(session_line(), *many, written("x", "prt_64")).text) == 65
    assert len(session(session_line(), *many, written("x", "prt_0")).text) == 66


def test_a_message_that_is_completed_without_an_answer_was_stopped() -> None:
    """Stopped between two tries of a request, opencode writes no error, no reason and no tokens."""
    prompt = stored("text", "user", text="Do it", message_id="msg_0")
    over: dict[str, Any] = {"time": {"created": 1, "completed": 2}, "tokens": {"input": 0, "output": 0}}
    for lines, outcome in (
        ([message()], Outcome.RUNNING),
        ([message(), message(**over)], Outcome.CANCELLED),
        ([message(), message(**over, summary=True)], Outcome.RUNNING),
        ([message(), message(**over, finish="other")], Outcome.RUNNING),
        ([message(), message(**over | {"tokens": {"output": 7}})], Outcome.RUNNING),
        ([message(), message(**over | {"tokens": None})], Outcome.RUNNING),
    ):
        with case((len(lines), outcome)):
            assert session(session_line(), prompt, *lines, is_over=False).outcome is outcome
    found = session(
        session_line(), prompt, message(**over), stored("text", "user", text="Again"), is_over=False
    )
    assert (found.outcome, found.run.turns) == (Outcome.RUNNING, 2)


KNOWN = [
    *(begun(), said("x"), finished(tokens={"input": 1}), used("bash")),
    *(session_line(), message(), stored_call("running")),
]


def unknown(data: bytes, **more: Any) -> list[str]:
    """Return the names of what is unknown in a line."""
    assert AGENT.unknown_fields is not None
    return [what for what, _ in AGENT.unknown_fields(json.loads(data) | more)]


def test_what_is_unknown_is_counted_and_named() -> None:
    """Parts that repeat others are quiet, and a new type, part or field is named."""
    # A part has its own type or that of its line; those that repeat others are quiet, unknown ones are
    # counted by name.
    for kind in ["snapshot", "patch", "agent", "file"]:
        with case(kind):
            found = session(session_line(), stored(kind))
            assert (found.lines.unknown, len(found.transcript)) == (0, 0)
    call = {"tool": "bash", "callID": "c", "state": {"status": "completed", "metadata": {"exit": 0}}}
    found = session(
        streamed("step_start", part={}),
        streamed("tool_use", part=call),
        streamed("text", part={"text": "Hello"}),
        streamed("step_start", part={}),
        streamed("step_finish", part={"reason": "stop"}),
    )
    assert (found.text, len(found.calls), found.outcome) == ("Hello", 1, Outcome.SUCCEEDED)
    cases: list[object] = ["weather", "", 7, [], {}, True]
    for other_kind in cases:
        with case(other_kind):
            assert session(begun(), streamed("text", part={"type": other_kind})).lines.unknown == 1
    found = session(begun(), streamed("weather"), used("bash", "paused"))
    assert (found.lines.unknown, found.calls[0].outcome) == (2, Outcome.RETURNED)
    assert found.calls[0].error == "unknown outcome paused"
    # The lines of captures have nothing unknown; a new type, part, state or field is named.
    for data in KNOWN:
        with case(data):
            assert unknown(data) == []
    assert unknown(streamed("weather")) == ["type weather"]
    assert unknown(begun(), mood=1) == ["field mood of an opencode line step_start"]
    assert unknown(streamed("text", part={"type": "poem"})) == ["part poem"]
    assert unknown(said("x", mood=1)) == ["field mood of a part text"]
    assert unknown(used("bash", "paused")) == ["state paused of a call"]
    assert unknown(used("bash", mood=1)) == ["field mood of a completed call"]
    assert unknown(finished(tokens={"mood": 1})) == ["field mood of the tokens of a step"]


STREAM = OURS.root / "agents/opencode/own-1.18.33-full.jsonl"
STORED = OURS.root / "disk/opencode-db/own-1.18.33/opencode.db/ses_dffa9fa12ffeEeBbv1p8Var6C9"
SAMPLES = [STREAM, STORED]


def lines(path: Path) -> list[bytes]:
    """Return the lines of a sample, or those of a stored session."""
    store = store_for(path)
    return path.read_bytes().splitlines(keepends=True) if store is None else store.new_lines()


FORMATS = (["-p", "--times"], ["doctor"], ["-p"], ["-p", "--brief"], ["--output-format", "summary"])
KEPT = ("type", "status", "role", "reason")
"""The fields that decide how a line is read."""


def hostile(value: Any, payload: str, key: str = "") -> Any:
    """Return a JSON value whose strings are followed by a payload."""
    if isinstance(value, dict):
        return {name: hostile(member, payload, name) for name, member in value.items()}
    if isinstance(value, list):
        return [hostile(member, payload) for member in value]
    return value + payload if isinstance(value, str) and key not in KEPT else value


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.parametrize("arguments", FORMATS, ids=" ".join)
def test_nothing_acts_in_what_is_printed(tmp_path: Path, arguments: list[str]) -> None:
    """With every payload in every string of every line, no output contains a byte that acts."""
    path = tmp_path / "case.ndjson"
    lines = [json.loads(data) for data in STREAM.read_bytes().splitlines()]
    changed = (line(hostile(fields, payload)) for payload in PAYLOADS.values() for fields in lines)
    path.write_bytes(b"".join(changed))
    done = watch(*arguments, path)
    assert done.stdout.count(b"\n") >= 1
    printed = done.stdout.decode()
    assert (driving(printed) if "summary" in arguments else acting(printed)) == []
    assert acting(done.stderr.decode()) == []
