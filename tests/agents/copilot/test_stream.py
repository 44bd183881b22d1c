"""Copilot's lines, on disk and in the stream: turns, texts, incidents, tokens, recognition."""

import random
from typing import Any

from agentwatch.agents.agent import LineRole
from agentwatch.agents.copilot.agent import AGENT
from agentwatch.agents.registry import detect
from agentwatch.session.events import (
    Compaction,
    Notice,
    Outcome,
    Plan,
    PlanEntry,
    PlanStatus,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    RunStarted,
    Tokens,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from tests.agents.copilot.lines import (
    STREAM,
    begin,
    delta,
    done,
    ended,
    failed,
    line,
    message,
    passing,
    request,
    start,
    started,
    user,
)
from tests.builders.agents.decoded import events_of, ids_in, session_of
from tests.conftest import case


def test_a_line_is_recognised_and_has_its_role() -> None:
    """On disk, in the stream, and its result line; not an envelope that others use too. A message to a
    subagent starts nothing.
    """
    cases: list[dict[str, Any]] = [
        start(),
        message("x"),
        passing("mcp.tools.list_changed"),
        {"type": "result", "sessionId": "s", "exitCode": 0},
        {"type": "assistant.message", "data": {"messageId": "m", "content": "x"}},
        {"type": "tool.execution_start", "data": {"toolCallId": "c"}},
        {"type": "session.start", "data": {"copilotVersion": "1.0.7"}},
    ]
    for each in cases:
        with case(each):
            assert detect(each) is AGENT
    further: list[dict[str, Any]] = [
        {"type": "org.example.event", "data": {}, "id": "1", "specversion": "1.0"},
        *({"type": "session.start", "data": [], "id": "1"}, {"type": "session.start", "data": {}}),
        *({"type": "assistant.message", "data": {"text": "x"}}, {"type": "user.message", "data": {}}),
        *({"type": "session", "data": {}, "id": "1"}, {"type": 7, "data": {}, "id": "1"}),
        *({"type": "result", "exitCode": 0}, {"type": "result", "sessionId": "s"}),
    ]
    for each in further:
        with case(each):
            assert detect(each) is not AGENT
    assert AGENT.role(start()) is AGENT.role(user("x")) is LineRole.START
    assert AGENT.role(started("c", "ls")) is AGENT.role(ended("c")) is LineRole.CALL
    assert AGENT.role(user("x", "a")) is AGENT.role(message("x")) is LineRole.OTHER


def ends_of(*lines: dict[str, Any]) -> list[TurnEnded]:
    return [event for event in events_of(AGENT, *lines) if isinstance(event, TurnEnded)]


def session_time(of_line: dict[str, Any]) -> int | None:
    assert AGENT.time_of is not None
    return AGENT.time_of(of_line)


def test_a_turn_ends() -> None:
    """On disk with a step, in the stream with the result line, and with an error or an abort."""
    # `turn_start` and `turn_end` are steps of the model: the last of them ends the turn, unless it is a
    # subagent's. Older versions write the answer after it.
    lines = [
        *(start(), user("Go"), begin("0"), message("I look.", request("c", "bash"))),
        *(
            started("c", "bash", {"command": "ls"}),
            ended("c", "x", shellExecution={"exitCode": 0}),
            done("0"),
        ),
        *(begin("1"), message("Done."), done("1")),
    ]
    seen = session_of(None, *lines)
    assert (seen.format, seen.text, seen.outcome, seen.run.turns) == (
        "copilot",
        "I look.Done.",
        "succeeded",
        1,
    )
    assert (seen.run.session_id, seen.run.model, seen.run.agent_version) == ("s-1", "m-1", "1.0.102")
    assert session_of(None, *lines[:-1], is_closed=False).outcome == "running"
    assert session_of(None, *lines[:-3]).outcome == "unfinished"
    again = session_of(None, *lines, user("More"), begin(), message("", request("d", "view")), done())
    assert (again.outcome, again.run.turns) == ("unfinished", 2)
    assert session_of(AGENT, begin(), done(), begin("1"), message("Done."), done("1")).run.turns == 1
    assert session_of(AGENT, start(), user("Go"), begin(), message("Done."), done()).run.turns == 1
    end = line("session.shutdown", {"shutdownType": "routine"})
    assert ends_of(user("Go"), begin(), done(), message("Done."), end) == [TurnEnded(Outcome.SUCCEEDED)]
    assert ends_of(user("Go"), begin(), message("", request("c", "bash")), end) == []
    lines = [start(), user("Go"), begin(), message("Done."), begin("9", agentId="a"), done()]
    assert ends_of(*lines) == [TurnEnded(Outcome.SUCCEEDED)]
    assert session_of(None, *lines, begin("9", agentId="a")).outcome == "succeeded"
    # The stream has no start line; its result line has the session's id and the exit code.
    lines = [
        *(passing("session.tools_updated", {"model": "m-2"}), user("Go"), begin(), delta("Do"), delta("ne.")),
        *(message("Done."), done(), passing("assistant.idle")),
    ]
    good = {"type": "result", "timestamp": "2026-11-21T23:00:00Z", "sessionId": "s-9", "exitCode": 0}
    usage = {"premiumRequests": 1, "totalApiDurationMs": 79, "sessionDurationMs": 99}
    seen = session_of(None, *lines, {**good, "usage": usage})
    assert (seen.text, seen.outcome, seen.run.session_id, seen.run.model) == (
        "Done.",
        "succeeded",
        "s-9",
        "m-2",
    )
    assert (seen.run.duration_ms, seen.run.duration_api_ms) == (99, 79)
    assert session_of(None, *lines).outcome == "unfinished"
    assert session_of(None, *lines, {**good, "exitCode": 1}).run.result == "exit code 1"
    assert session_of(None, *lines, {**good, "exitCode": None}).outcome == "unfinished"
    assert session_of(None, good).format == "copilot"
    # The result line of a turn that has failed adds the session's id; that of a good turn has the last
    # word.
    for code in [0, 1]:
        with case(code):
            error = line("session.error", {"errorType": "query", "message": "400 refused", "statusCode": 400})
            lines = [start(), user("Go"), begin(), done(), error]
            assert ends_of(*lines) == [TurnEnded(Outcome.FAILED, "400 refused")]
            assert Notice("400 refused", session_time(error), is_error=True) in events_of(AGENT, *lines)
            result = {"type": "result", "sessionId": "s-1", "exitCode": code}
            assert ends_of(*lines, result) == [TurnEnded(Outcome.FAILED, "400 refused")]
            assert ends_of(start(), error) == []
            assert ends_of(*lines, begin(), message("Done."), done())[-1] == TurnEnded(Outcome.SUCCEEDED)
    lines = [start(), user("Go"), begin(), message("Done."), done()]
    bad = {"type": "result", "sessionId": "s-1", "exitCode": 3}
    assert [each.outcome for each in ends_of(*lines, bad)] == [Outcome.SUCCEEDED, Outcome.FAILED]
    assert ends_of(*lines, {**bad, "exitCode": 0}) == [TurnEnded(Outcome.SUCCEEDED)]
    # An abort cancels, with its reason; an idle session says whether it was aborted.
    turn = [start(), user("Go"), begin()]
    abort = line("abort", {"reason": "user_initiated"})
    assert ends_of(*turn, abort, abort) == [TurnEnded(Outcome.CANCELLED, "user initiated")]
    assert ends_of(*turn, line("abort")) == [TurnEnded(Outcome.CANCELLED)]
    assert ends_of(*turn, passing("session.idle")) == [TurnEnded(Outcome.SUCCEEDED)]
    assert ends_of(*turn, passing("session.idle", {"aborted": True})) == [TurnEnded(Outcome.CANCELLED)]
    of_subagents = (line(kind, agentId="a") for kind in ("abort", "session.idle"))
    assert ends_of(*turn, *of_subagents) == []
    died = line("session.shutdown", {"shutdownType": "error", "errorReason": "heap"})
    assert ends_of(*turn, died) == [TurnEnded(Outcome.FAILED, "heap")]
    assert ends_of(*turn, line("session.shutdown", {"shutdownType": "routine"})) == []


def test_a_subagent_is_shown_below_its_call() -> None:
    """Its lines have its id, which its start gives to a call; in a file that was cut, the id replaces it."""
    begun = line("subagent.started", {"toolCallId": "t", "agentName": "general"}, agentId="a-1")
    own = {"agentId": "a-1"}
    lines = [
        *(start(), user("Go"), begin(), message("I ask.", request("t", "task"))),
        *(
            started("t", "task", {"description": "Count files"}),
            begun,
            user("Count.", "a-1", source="agent-s-1"),
        ),
        line("session.model_change", {"newModel": "m-9"}, **own),
        begin(**own),
        message("", request("c", "bash"), agent="a-1"),
        {**started("c", "bash", {"command": "ls | wc -l"}), **own},
        {**ended("c", "2", shellExecution={"exitCode": 0}), **own},
        *(
            done(**own),
            {**delta("Th", agentId="a-1"), "ephemeral": False},
            message("Three.", agent="a-1"),
            done(**own),
        ),
        line("subagent.completed", {"toolCallId": "t"}, **own),
        *(ended("t", "Three."), done(), begin("1"), message("Done."), done("1")),
    ]
    seen = session_of(None, *lines)
    assert (seen.text, seen.run.turns, seen.run.model, seen.outcome) == ("I ask.Done.", 1, "m-1", "succeeded")
    assert [(call.call_id, call.parent_call, call.parent, call.target) for call in seen.calls] == [
        ("t", None, None, "Count files"),
        ("c", "t", 1, "ls | wc -l"),
    ]
    below = [entry.text for entry in seen.transcript if entry.parent == 1 and entry.text]
    assert below == ["Count.", "Three."]
    seen = session_of(AGENT, message("Sub.", agent="a-1"), {**started("c", "ls"), "agentId": "a-1"})
    assert (seen.text, seen.calls[0].parent_call) == ("", "a-1")
    older = session_of(AGENT, message("Sub.", parentToolCallId="t"), started("c", "ls", parentToolCallId="t"))
    assert (older.text, older.calls[0].parent_call) == ("", "t")


def test_a_prompt_is_the_users() -> None:
    """The program's messages are none, and a rewind takes one back."""
    # A notification that wakes the agent begins a turn without a prompt; while the agent works, none.
    own = user("<note>Shell 1 has ended</note>\n", source="system")
    ended_turn = [start(), user("Go"), begin(), message("Done."), done()]
    assert events_of(AGENT, *ended_turn, own)[-2:] == [
        TurnStarted(),
        Notice("system: <note>Shell 1 has ended</note>"),
    ]
    assert TurnStarted() not in events_of(AGENT, *ended_turn[:-1], own)
    went_on = user("go on", isAutopilotContinuation=True)
    assert events_of(AGENT, *ended_turn, went_on)[-1] == Notice("autopilot: go on")
    prompts = (user("a", source="user"), user("b", source="command-review"), user(""))
    assert events_of(AGENT, *prompts) == [Prompt("a"), Prompt("b"), Prompt("")]
    # An event that is not a prompt, or that the file does not contain, takes nothing back.
    first, second = user("One"), user("Two")
    lines = [start(), first, begin(), message("A."), done(), second, begin(), message("B."), done()]
    back = line("session.snapshot_rewind", {"upToEventId": first["id"], "eventsRemoved": 8})
    assert events_of(AGENT, *lines, back)[-1] == Rewound(2)
    assert session_of(AGENT, *lines, back, user("Three"), begin(), message("C."), done()).text == "C."
    targets: tuple[object, ...] = ("e0", None, [], lines[3]["id"])
    for target in targets:
        assert events_of(AGENT, *lines, line("session.snapshot_rewind", {"upToEventId": target}))[
            -1
        ] != Rewound(1)


_OF_MAIN = (
    *("session.start", "session.resume", "session.context_changed", "session.model_change"),
    *("session.tools_updated", "session.usage_info"),
)


def answer(*lines: dict[str, Any]) -> str:
    return session_of(AGENT, user("Go"), *lines).text


def thoughts(*lines: dict[str, Any]) -> list[str]:
    """Return the thoughts of a session, in order."""
    transcript = session_of(AGENT, user("Go"), *lines).transcript
    return [entry.text for entry in transcript if entry.kind.value == "reasoning"]


def think(words: str, thought: str = "t") -> dict[str, Any]:
    return passing("assistant.reasoning_delta", {"reasoningId": thought, "deltaContent": words})


def thought(words: Any, number: str = "t") -> dict[str, Any]:
    return passing("assistant.reasoning", {"reasoningId": number, "content": words})


def test_texts_and_thoughts_are_shown_once() -> None:
    """What a line repeats adds nothing."""
    # It may be longer than its deltas, or differ from them; without deltas, each chunk is a part.
    assert answer(delta("Do"), delta("ne."), message("Done.")) == "Done."
    assert answer(delta("Do"), message("Done.")) == "Done."
    assert answer(delta("Dune"), message("Done.")) == "Done."
    assert answer(message("Before."), delta("Dune"), message("Done.")) == "Before.Done."
    assert answer(message("Done."), message("Done.")) == "Done.Done."
    assert answer(delta("Do", "m-1"), delta("More.", "m-2"), message("More.", messageId="m-2")) == "DoMore."
    assert answer(delta("Do", "m-1"), message("Other.", messageId="m-2")) == "DoOther."
    assert answer(delta("Do"), message(None)) == answer(delta("Do"), line("assistant.message_delta")) == "Do"
    chunks = [message(words, chunkIndex=number, chunkCount=2) for number, words in enumerate(("Do", "ne."))]
    assert answer(*chunks) == "Done."
    assert answer(delta("Done."), chunks[0]) == "Done."
    # It comes as deltas, in the message that follows, and by itself. Subagents' deltas are held back;
    # only the newest are compared.
    whole = message("", reasoningText="Hm. Yes.")
    assert thoughts(think("Hm. "), think("Yes."), whole, thought("Hm. Yes.")) == ["Hm. Yes."]
    assert thoughts(whole, thought("Hm. Yes.")) == ["Hm. Yes."]
    assert thoughts(thought("Hm. Yes."), whole) == ["Hm. Yes."]
    assert thoughts(whole, whole) == ["Hm. Yes.", "Hm. Yes."]
    two = [think("Hm. ", "t-1"), think("Yes.", "t-2")]
    assert thoughts(*two, whole, thought("Hm. ", "t-1"), thought("Yes.", "t-2")) == ["Hm. Yes."]
    assert thoughts(thought("Hm. ", "t-1"), thought("Yes.", "t-2"), whole) == ["Hm. ", "Yes."]
    assert thoughts(thought(None), message(""), think("x"), thought("x")) == ["x"]
    own = {"agentId": "a"}
    sub = message("", agent="a", reasoningText="Sub.")
    assert thoughts(think("Ma"), {**think("Su"), **own}, think("in."), sub, {**thought("Sub."), **own}) == [
        "Main.",
        "Sub.",
    ]
    many = [{**thought("x", f"t{number}"), "agentId": f"a{number}"} for number in range(70)]
    assert len(thoughts(*many, many[0], many[69])) == 71
    ids = [thought(f"{number}", f"t{number}") for number in range(20)]
    assert len(thoughts(*ids, ids[0], ids[19], thought("x", "h" * 2000), thought("x", "h" * 2000))) == 23


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
    return session_of(AGENT, user("Go"), *lines).run.tokens


def test_facts_and_requests_are_those_of_the_session() -> None:
    """They are said when they change, counted once, and bounded."""
    # The model and the folder may change; another session in the same file is another run.
    changed = line("session.model_change", {"newModel": "m-2", "previousModel": "m-1"})
    moved = line("session.context_changed", {"cwd": "/w/sub"})
    resumed = line("session.resume", {"context": {"cwd": "/w"}, "selectedModel": "m-3"})
    lines = [
        changed,
        changed,
        moved,
        started("c", "view", {"path": "/w/sub/a"}),
        resumed,
        line("session.resume"),
    ]
    events = events_of(AGENT, start(), *lines)
    assert [event for event in events if isinstance(event, RunStarted | RunInfo)] == [
        RunStarted("copilot", "s-1", "m-1", "/w", agent_version="1.0.102"),
        RunInfo(model="m-2"),
        RunInfo(cwd="/w/sub"),
        RunInfo(cwd="/w"),
        RunInfo(model="m-3"),
    ]
    assert session_of(AGENT, start(), *lines).calls[0].target == "a"
    of_subagent = (line(kind, {"cwd": "/", "newModel": "x"}, agentId="a") for kind in _OF_MAIN)
    assert events_of(AGENT, *of_subagent) == []
    assert len(session_of(AGENT, start(), user("a"), start(), user("b")).runs) == 2
    assert events_of(AGENT, line("session.auto_mode_resolved", {"chosenModel": "m-4"})) == [
        RunInfo(model="m-4")
    ]
    # Of 1,100 subagents and 10,100 prompts the first are forgotten. In older files the message announces
    # the call.
    huge = "h" * 2000
    begun = [line("subagent.started", {"toolCallId": f"t{n}"}, agentId=f"a{n}") for n in range(1100)]
    odd = line("subagent.started", {"toolCallId": huge}, agentId="a-huge")
    calls = [{**started(f"c{n}", "ls"), "agentId": f"a{n}"} for n in (0, 1099)]
    seen = session_of(AGENT, *begun, odd, *calls, {**started("c", "ls"), "agentId": "a-huge"})
    assert [call.parent_call for call in seen.calls] == ["a0", "t1099", "a-huge"]
    prompts = [{**user("x"), "id": f"p{n}"} for n in range(10_100)]
    back = [line("session.snapshot_rewind", {"upToEventId": target}) for target in ("p0", huge, "p10099")]
    events = events_of(AGENT, *prompts, {**user("x"), "id": huge}, *back)
    assert [event for event in events if isinstance(event, Rewound)] == [Rewound(1)]
    seen = session_of(AGENT, start(), message("", request("c", "bash", {"command": "ls"})), ended("c", "x"))
    assert ids_in(seen) == ["c"]
    assert (seen.calls[0].target, seen.calls[0].tool, seen.calls[0].outcome) == ("ls", "bash", "succeeded")
    bare = session_of(AGENT, failed("c", "no"))
    assert (bare.calls[0].tool, bare.calls[0].error) == ("", "no")
    # By its id; if none was counted, the end of the session, or the messages, have the counts. The last
    # line has the context.
    twice = passing("assistant.usage", {**USAGE, "apiCallId": "r-1"})
    assert tokens(record(apiCallId="r-1"), twice, record(apiCallId="r-2")) == Tokens(
        2000, 800, 40, None, 1020, 128_000
    )
    assert tokens(record(), record()).input == 2000
    assert tokens(record(inputTokens=0, outputTokens=0)) == Tokens()
    other_of_subagent = {**record(), "agentId": "a"}
    assert tokens(other_of_subagent) == Tokens(1000, 400, 20)
    many = [record(apiCallId=f"r-{number}") for number in range(70)]
    assert tokens(*many, many[69], many[0], record(apiCallId="h" * 2000)).input == 71_000
    usage = {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 4}
    metrics = {"m-1": {"usage": usage}, "m-2": {"usage": {"inputTokens": 5}}, "m-3": 7}
    end = line("session.shutdown", {"modelMetrics": metrics, "currentTokens": 9})
    assert tokens(end) == Tokens(15, 4, 2, None, 9)
    assert tokens(record(), end).input == 1000
    # A process begins its counts anew, or with those of the last one: by the number of its requests.
    for name, (numbers, counts, total) in {
        "fewer tokens": ((2, 2), (9000, 2000), 11_000),
        "more tokens, of as many requests as messages": ((2, 2), (2000, 9000), 11_000),
        "more tokens, of the requests of both": ((2, 4), (2000, 9000), 9000),
        "twice anew": ((2, 2, 2), (9000, 2000, 3000), 14_000),
        "nothing was asked": ((2, 2), (2000, 2000), 2000),
    }.items():
        with case(name):
            lines = []
            for number, count in zip(numbers, counts, strict=True):
                messages = 0 if name.startswith("nothing") and lines else 2
                lines += [line("assistant.message", {"messageId": "m", "content": "x"})] * messages
                model = {"requests": {"count": number}, "usage": {"inputTokens": count}}
                lines.append(line("session.shutdown", {"modelMetrics": {"m": model}}))
            assert tokens(*lines).input == total
    details = {"input": {"tokenCount": 100}, "output": {"tokenCount": 15}, "cache_read": {"tokenCount": 5}}
    older = line("session.shutdown", {"modelMetrics": {"m": {"requests": 2}}, "tokenDetails": details})
    assert tokens(older) == Tokens(100, 5, 15)
    assert events_of(AGENT, line("session.shutdown")) == []
    said = [
        line("assistant.message", {"messageId": "m", "content": "x", "outputTokens": n}) for n in (20, 3, -9)
    ]
    done = {"type": "result", "sessionId": "s", "exitCode": 0}
    assert tokens(*said, done) == Tokens(output=23)
    assert tokens(record(), *said, done).output == 20
    assert tokens(*said[2:], done) == Tokens()
    info = passing("session.usage_info", {"currentTokens": 5000, "tokenLimit": 64_000})
    assert tokens(record(), info) == Tokens(1000, 400, 20, None, 5000, 64_000)


def test_incidents_and_lists_are_shown() -> None:
    """A line of an incident is a notice, and one of a list is a plan."""
    # Each with its words; lines that are known and report nothing are silent, others are unknown.
    at = 0
    time = {"timestamp": "1970-01-01T00:00:00Z"}
    expected: list[tuple[str, dict[str, Any], object]] = [
        ("session.info", {"message": "trusted"}, Notice("trusted", at)),
        ("session.warning", {"message": "careful"}, Notice("careful", at)),
        (
            "session.truncation",
            {"tokensRemovedDuringTruncation": 1234},
            Notice("context truncated: 1,234 tokens removed", at),
        ),
        ("session.truncation", {}, Notice("context truncated", at)),
        ("session.compaction_start", {"trigger": "manual"}, Compaction(False, "manual", at_ms=at)),
        ("model.call_failure", {"errorMessage": "529"}, Retry("529", at_ms=at)),
        (
            "model.call_failure",
            {"statusCode": 529},
            Retry("the model's request failed with status 529", at_ms=at),
        ),
        ("model.call_failure", {}, Retry("the model's request failed", at_ms=at)),
        (
            "hook.end",
            {"success": False, "hookType": "preToolUse", "error": {"message": "no"}},
            Notice("hook preToolUse failed: no", at),
        ),
        ("hook.end", {"success": False}, Notice("hook None failed: no reason given", at)),
        ("system.notification", {"content": "\nShell 1\nx"}, Notice("notification: Shell 1 ⏎ +1 line", at)),
        ("system.notification", {"kind": {"description": "Count"}}, Notice("notification: Count", at)),
        ("subagent.failed", {"agentName": "explore", "error": "boom"}, Notice("explore failed: boom", at)),
        ("subagent.failed", {}, Notice("subagent failed: no reason given", at)),
        ("subagent.completed", {"agentDisplayName": "x", "cancelled": True}, Notice("x was cancelled", at)),
    ]
    for kind, data, event in expected:
        assert events_of(AGENT, line(kind, data, **time)) == [event], kind
    compacted = {"success": False, "error": "no", "preCompactionTokens": 9, "postCompactionTokens": 4}
    assert events_of(AGENT, line("session.compaction_complete", compacted, **time)) == [
        Compaction(True, None, 9, 4, at),
        Notice("compaction failed: no", at),
    ]
    assert events_of(AGENT, line("session.compaction_complete", **time)) == [Compaction(True, at_ms=at)]
    of_subagent = line("session.error", {"errorType": "query"}, agentId="a", **time)
    assert events_of(AGENT, of_subagent) == [Notice("query", at)]
    bare = line("session.error", **time)
    assert events_of(AGENT, bare) == [Notice("an error without a message", at, is_error=True)]
    cases: list[str] = [
        *(
            "session.info",
            "session.title_changed",
            "assistant.intent",
            "assistant.message_delta",
            "hook.start",
        ),
        *(
            "tool.user_requested",
            "subagent.configured",
            "system.message",
            "system.notification",
            "skill.invoked",
        ),
        *("subagent.started", "assistant.reasoning", "assistant.reasoning_delta", "session.usage_info"),
    ]
    for kind in cases:
        with case(kind):
            assert events_of(AGENT, line(kind)) == []
    further: list[str] = [
        *("session.weather", "assistant.weather", "tool.weather", "subagent.weather", "permission.weather"),
        *("weather", "weather.rain", "user.weather"),
    ]
    for kind in further:
        with case(kind):
            assert events_of(AGENT, line(kind)) == [Unknown(f"type {kind}")]
            assert events_of(AGENT, line("x.y") | {"type": 7}) == [Unknown("type 7")]
    # Its boxes say how far each entry is; a list without boxes is not a plan.
    todos = "# Plan\n- [x] Read\n - [>] Write\n- [ ] Check\n- [~] Wait\n- note"
    events = events_of(AGENT, started("c", "update_todo", {"todos": todos}))
    assert events[1] == Plan(
        (
            PlanEntry("Read", PlanStatus.COMPLETED),
            PlanEntry("Write", PlanStatus.IN_PROGRESS),
            PlanEntry("Check", PlanStatus.PENDING),
            PlanEntry("Wait", PlanStatus.IN_PROGRESS),
        )
    )
    assert len(events_of(AGENT, started("c", "update_todo", {"todos": "x"}))) == 1
    # The question, the late thought and the output of a call may come in any order, or more than once.
    whole = session_of(AGENT, *STREAM)
    assert (whole.text, whole.outcome, whole.calls[0].outcome) == ("I look.Done.", "succeeded", "succeeded")
    movable = [*STREAM[9:12], STREAM[13]]
    for seed in range(30):
        rng = random.Random(seed)
        lines = [each for each in STREAM if each not in movable]
        at = lines.index(STREAM[8]) + 1
        for number in sorted(rng.randrange(at, at + 3) for _ in movable)[::-1]:
            lines.insert(number, movable[rng.randrange(len(movable))])
        seen = session_of(AGENT, *lines)
        assert (seen.text, seen.outcome, seen.calls[0].outcome) == (whole.text, whole.outcome, "succeeded")
        assert [entry.text for entry in seen.transcript if entry.kind.value == "reasoning"] == ["Hm."]
