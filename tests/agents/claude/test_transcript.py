"""Claude Code's transcripts: turns, texts, calls, subagents, and what is beside the file."""

from typing import Any

import pytest

from agentwatch.agents.agent import LineRole
from agentwatch.agents.claude.agent import TRANSCRIPT as AGENT
from agentwatch.agents.claude.calls import Requests
from agentwatch.agents.claude.transcript import Calls, ClaudeTranscriptDecoder, Subagents
from agentwatch.session.blocks import Block, ChangeBlock, FieldsBlock, OutputBlock
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Permission,
    Plan,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    Text,
    TextEnded,
    TextRetracted,
    Tokens,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from agentwatch.session.session import repeated_calls
from tests.builders.on_disk.transcript import (
    AT,
    AT_MS,
    answer,
    call,
    decoded,
    ended,
    line,
    returned,
    said,
    session_of,
    user,
)
from tests.conftest import case


def system(subtype: object, **more: Any) -> dict[str, Any]:
    return line("system", subtype=subtype, **more)


def test_other_lines_are_read_or_say_nothing() -> None:
    """Lines beside the messages are reported once, counted or silent."""
    # Compactions, retries, commands, errors, queued prompts and failed hooks are reported, an unknown
    # subtype is counted; snapshots, requests and settings say nothing.
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
    further: list[tuple[object, list[Event]]] = [
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
    for attached, expected in further:
        with case(attached):
            assert decoded(line("attachment", attachment=attached)) == expected
    others: list[str] = ["mode", "api-request-blob", "file-history-snapshot", "queue-operation", "tools-used"]
    for kind in others:
        with case(kind):
            message = {"content": [{"type": "text", "text": "x"}]}
            made = {"type": kind, "sessionId": "s", "message": message}
            assert decoded(made, user("Go"), made) == decoded(user("Go"))
    # A request that follows another without a message between is another try of it.
    requests = [
        line("api-request", querySource=source) for source in ("sdk", "agent:builtin:x", "sdk", "sdk", None)
    ]
    retries = [Retry("", 1, at_ms=AT_MS), Retry("", 2, at_ms=AT_MS)]
    assert decoded(user("Go"), *requests, said("x"), requests[0])[1:3] == retries
    # A prompt that is handed over during a turn has no line of its own, but one or two about the queue.
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
    """Each fact is reported when it changes; another id begins no run. The last cost counts, and the
    timestamp of a line is its time.
    """
    decoder = ClaudeTranscriptDecoder()
    first = decoder.decode({"type": "permission-mode", "permissionMode": "default", "sessionId": "s"})
    assert first[1] == RunInfo(session_id="s", permission_mode="default")
    assert decoder.decode(said("A", permissionMode="plan", sessionId="t"))[0] == RunInfo(
        session_id="t", model="opus", cwd="/w", permission_mode="plan", agent_version="2.1.330"
    )
    assert not any(isinstance(event, RunInfo) for event in decoder.decode(said("B", sessionId="t")))
    synthetic = said("x", message={"model": "<synthetic>"}, sessionId="t")
    assert not any(isinstance(event, RunInfo) for event in decoder.decode(synthetic))
    lines = [line("cost-state", totalCostUSD=cost) for cost in (0.1, 0.2, "x", True, -1, float("nan"))]
    assert session_of(user("Go"), *lines).run.tokens.cost_usd == 0.2
    assert AGENT.time_of is not None
    assert AGENT.time_of({"timestamp": AT}) == AT_MS
    assert AGENT.time_of({"timestamp": 5}) is None
    assert answer()["type"] == "assistant"


def test_a_request_is_counted_once() -> None:
    """The lines of a message, of a subagent and of a fork count in their own session, once."""
    # The lines of a message repeat its counts. A subagent's requests are the session's, not its context.
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 10,
        "cache_creation_input_tokens": 5,
        "cache_creation": {"ephemeral_1h_input_tokens": 4, "ephemeral_5m_input_tokens": 1},
        "output_tokens": 1,
    }
    first = said("A", message={"id": "m", "usage": usage})
    last = call("c", message={"id": "m", "usage": {**usage, "output_tokens": 40}})
    other = said("B", message={"id": "n", "usage": {"output_tokens": 2}})
    none = said("C", message={"id": "o", "usage": {"input_tokens": 0, "output_tokens": 0}})
    run = session_of(user("Go"), first, first, last, other, none).run
    assert run.tokens == Tokens(18, 10, 42, context_used=18, written=5, written_1h=4)
    requests = Requests()
    for number in range(1000):
        assert requests.usage({"id": f"{number}", "usage": usage}, None) is not None
    assert not any(requests.usage({"id": f"{number}", "usage": usage}, None) for number in range(1000))
    assert requests.usage({"usage": usage}, None) is None
    assert requests.usage({"id": "x" * 5000, "usage": usage}, None) is None
    usage = {"input_tokens": 3, "output_tokens": 1}
    own = said("A", uuid="a", message={"id": "m", "usage": usage})
    inner = said("B", uuid="b", isSidechain=True, message={"id": "n", "usage": {**usage, "input_tokens": 50}})
    wrapped = said("C", uuid="c", message={"id": "o", "usage": {**usage, "input_tokens": 200}})
    data = {"type": "agent_progress", "message": wrapped}
    progress = [line("progress", number, data=data, parentToolUseID="t-1") for number in ("d", "e")]
    run = session_of(user("Go", "u"), own, inner, *progress).run
    assert run.tokens == Tokens(253, None, 3, context_used=3)
    requests = Requests()
    first, second = ({"id": name, "usage": {"input_tokens": 10, "output_tokens": 2}} for name in "ab")
    assert [requests.usage(each, None) is None for each in (first, second, first)] == [False, False, True]
    # They name the session from which they were copied. Their requests and calls count there.
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


def test_answers_without_an_id_of_their_own_are_told_apart_by_time() -> None:
    """Behind a gateway, ids may be missing or all the same; the lines of an answer still count once."""
    usage = {"input_tokens": 10, "output_tokens": 1}

    def answers(begin: int, **ids: Any) -> list[dict[str, Any]]:
        """Return three answers to two prompts: the first has two lines and a call, the others a line each."""
        message = {**ids, "usage": usage}
        grown = {**ids, "usage": {"input_tokens": 30, "output_tokens": 2}}
        lines = [
            *(user("Go"), said("A", message=message)),
            *(call("c", message={**message, "usage": {**usage, "output_tokens": 5}}), returned("c")),
            *(said("B", message=grown), user("More"), said("C", message=grown)),
        ]
        times = (f"2026-11-28T09:00:{begin + second:02}.000Z" for second in range(len(lines)))
        own = ({"timestamp": time, "uuid": f"{ids}{time}"} for time in times)
        return [each | more for each, more in zip(lines, own, strict=True)]

    for name, ids in {"empty": {"id": ""}, "missing": {}, "the same": {"id": "msg_relay"}}.items():
        with case(name):
            lines = answers(10, **ids)
            copied = [each | {"uuid": f"copy of {each['uuid']}"} for each in lines]
            for more, count in (((), 1), (copied, 1), (answers(30, **ids), 2)):
                tokens = session_of(*lines, *more).run.tokens
                assert (tokens.input, tokens.output) == (70 * count, 9 * count)


def test_a_line_is_recognised_and_has_its_role() -> None:
    """A transcript has `sessionId`; other agents have data beside it. The lines before the first answer
    belong to the start.
    """
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
    further: list[tuple[dict[str, Any], bool]] = [
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
    for made, is_own in further:
        with case(made):
            assert AGENT.recognises(made) is is_own


def blocks(made: dict[str, Any], call_id: str = "c") -> list[Block]:
    return list(AGENT.blocks(made, call_id))


def test_blocks_are_those_of_the_line_of_the_call() -> None:
    """The result has the printed text and the change of a file; a progress line those of its inner line; a
    call without an id has that of its line.
    """
    assert blocks(call("c")) == [FieldsBlock("arguments", {"command": "ls"})]
    printed = returned("c", toolUseResult={"stdout": "hi", "stderr": "", "interrupted": False})
    assert OutputBlock("stdout", "hi") in blocks(printed)
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-two", "+zwei"]}]
    edited = returned("c", toolUseResult={"filePath": "a", "structuredPatch": patch})
    (change,) = [block for block in blocks(edited) if isinstance(block, ChangeBlock)]
    assert change.diff is not None
    assert change.diff.endswith("-two\n+zwei")
    wrapped = line("progress", data={"type": "agent_progress", "message": call("c")})
    assert blocks(wrapped) == blocks(call("c"))
    assert blocks(line("progress")) == []
    bare = answer({"type": "tool_use", "name": "bash", "input": {"command": "ls"}}, uuid="a1")
    assert blocks(bare, "a1") == [FieldsBlock("arguments", {"command": "ls"})]
    ended = user([{"type": "tool_result", "content": "ok"}], toolUseResult={"stdout": "ok", "stderr": ""})
    assert OutputBlock("stdout", "ok") in blocks(ended, "a1")
    assert blocks(call("d"), "c") == []


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


def end_of(*lines: dict[str, object]) -> ToolEnded:
    """Return the only end of a call."""
    (end,) = [event for event in decoded(*lines) if isinstance(event, ToolEnded)]
    return end


STOPPED = "[Request interrupted by user for tool use]"


def test_a_call_has_the_outcome_that_the_agent_gives() -> None:
    """Its result, or the line after it, decides, also for a call without an id."""
    # A failure, a refusal, an interruption and a command in the background are distinguished.
    cases: list[tuple[dict[str, object], Outcome, int | None]] = [
        (returned("c"), Outcome.SUCCEEDED, None),
        (returned("c", is_error=False), Outcome.SUCCEEDED, None),
        (returned("c", "Exit code 3\nno", is_error=True), Outcome.FAILED, 3),
        (returned("c", "no such file", is_error=True), Outcome.FAILED, None),
        (returned("c", REFUSED, is_error=True), Outcome.REJECTED, None),
        (returned("c", "no", is_error=True, toolDenialKind="user-rejected"), Outcome.REJECTED, None),
        (returned("c", "no", is_error=True, toolDenialKind="interrupted"), Outcome.CANCELLED, None),
        (returned("c", toolUseResult={"interrupted": True}), Outcome.CANCELLED, None),
        (returned("c", toolUseResult={"backgroundTaskId": "b1"}), Outcome.RETURNED, None),
    ]
    for made, outcome, exit_code in cases:
        with case((made, outcome)):
            found = end_of(call("c"), made)
            assert (found.outcome, found.exit_code, found.at_ms) == (outcome, exit_code, AT_MS)
    # The next text of the user says whether the call ran and was interrupted. Parallel calls end at once.
    decoder = ClaudeTranscriptDecoder()
    for each in (call("c"), call("d"), returned("c", REFUSED, is_error=True)):
        assert not [event for event in decoder.decode(each) if isinstance(event, ToolEnded)]
    assert not decoder.decode(returned("d", REFUSED, is_error=True))
    ends = decoder.decode(user(STOPPED, interruptedMessageId="m"))
    further_found = [
        (other_event.call_id, other_event.outcome)
        for other_event in ends
        if isinstance(other_event, ToolEnded)
    ]
    assert further_found == [("c", Outcome.CANCELLED), ("d", Outcome.CANCELLED)]
    further: list[tuple[dict[str, object], list[dict[str, object]], Outcome]] = [
        ({}, [user([{"type": "text", "text": STOPPED}], interruptedMessageId="m")], Outcome.CANCELLED),
        ({}, [line("attachment"), user(STOPPED, interruptedMessageId="m")], Outcome.CANCELLED),
        ({}, [user(STOPPED, interruptedMessageId=5)], Outcome.REJECTED),
        ({}, [user(STOPPED)], Outcome.REJECTED),
        ({}, [user("No, do this."), user(STOPPED, interruptedMessageId="m")], Outcome.REJECTED),
        ({}, [said("I see."), user(STOPPED, interruptedMessageId="m")], Outcome.REJECTED),
        ({}, [], Outcome.REJECTED),
        (
            {"toolDenialBeforeRun": True},
            [user(STOPPED, interruptedMessageId="m")],
            Outcome.REJECTED,
        ),
    ]
    for denial, later, outcome in further:
        with case((denial, later)):
            refused = returned("c", REFUSED, is_error=True, toolDenialKind="user-rejected", **denial)
            assert end_of(call("c"), refused, *later).outcome is outcome
    # It has that of its line, which its result names; a search of the service is answered by the agent. A
    # call that never ends is forgotten in the end.
    block = {"type": "tool_use", "name": "bash", "input": {"command": "ls"}}
    events = decoded(
        answer(block, block, uuid="a1"),
        user([{"type": "tool_result", "content": "ok"}], parent="a1"),
        user([{"type": "tool_result", "content": "ok"}], sourceToolAssistantUUID="a1#1"),
        user([{"type": "tool_result", "content": "ok"}]),
    )
    started = [event.call_id for event in events if isinstance(event, ToolStarted)]
    assert started == ["a1", "a1#1"]
    assert [event.call_id for event in events if isinstance(event, ToolEnded)] == ["a1", "a1#1", ""]
    search = answer({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}})
    other_found = answer({"type": "web_search_tool_result", "tool_use_id": "s", "content": []})
    assert end_of(search, other_found).outcome is Outcome.SUCCEEDED
    calls = Calls()
    for number in range(2000):
        list(calls.started({"name": "Bash"}, str(number), None, None, None))
    assert not calls.is_open("0")
    assert calls.is_open("1999")
    assert calls.has_open()
    long = Calls()
    list(long.started({"name": "Bash"}, "x" * 5000, None, None, None))
    assert not long.has_open()


def test_a_call_shows_what_it_asks_plans_and_prints() -> None:
    """Calls that wait for the user are questions, a to-do list is the plan, and progress lines replace the
    output. Paths are relative to the first folder.
    """
    asked = call("c", "AskUserQuestion", {"questions": [{"question": "Which?"}, 5]})
    question = Permission("AskUserQuestion", None, at_ms=AT_MS, key="c", call_id="c", target="Which?")
    assert question in decoded(asked)
    answered = returned("c", toolUseResult={"answers": {"Which?": "SQLite", "x": 5}})
    events = decoded(asked, answered)
    assert question._replace(answer="answered", reason="SQLite", target=None) in events
    plan = call("c", "ExitPlanMode", {"plan": "\n# Plan\nmore"})
    assert decoded(plan)[1] == question._replace(subject="ExitPlanMode", target="# Plan")
    refused = decoded(plan, returned("c", REFUSED, is_error=True))
    assert Permission("ExitPlanMode", "rejected", at_ms=AT_MS, key="c", call_id="c") in refused
    failed = decoded(asked, returned("c", "no", is_error=True))
    assert question._replace(answer="answered", target=None) in failed
    todos = [{"content": "A", "status": "completed"}]
    written = decoded(
        call("c", "TodoWrite", {"todos": todos}), returned("c", toolUseResult={"newTodos": todos})
    )
    assert [event.entries[0].text for event in written if isinstance(event, Plan)] == ["A"]
    progress = line("progress", data={"type": "bash_progress", "fullOutput": "50 %"}, parentToolUseID="c")
    session = session_of(call("c"), progress)
    assert session.calls[0].output == "50 %"
    assert decoded(line("progress", data={"type": "bash_progress"})) == []
    assert decoded(line("progress", data={"type": "hook_progress"})) == []
    first = call("c", "Read", {"file_path": "/w/a.py"})
    second = call("d", "Read", {"file_path": "/w/a.py"}, cwd="/w/sub")
    started = [event for event in decoded(first, second) if isinstance(event, ToolStarted)]
    assert [event.target for event in started] == ["a.py", "a.py"]


TASK = call("t", "Task", {"prompt": "Count the files.", "description": "Count"})
OTHER = call("u", "Agent", {"prompt": "Find the bug."})


def agents(events: list[Event]) -> set[str | None]:
    """Return the agents of all texts, prompts and calls."""
    kinds = (Text, Prompt, ToolStarted, ToolEnded)
    return {event.parent_call for event in events if isinstance(event, kinds)}


def of_agent(made: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**made, "isSidechain": True, **more}


def test_the_lines_of_a_subagent_are_its_own() -> None:
    """They belong to its call, and do not change the run."""
    # By the progress line that wraps its messages, the id in its lines or beside the result, its prompt,
    # or as the only call without an agent. Only the newest subagents are kept.
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
    told = returned("u", toolUseResult={"isAsync": True, "agentId": "a2"})
    meta = {"type": "subagent-meta", "agentId": "a1", "toolUseId": "t", "sessionId": ""}
    lines = [of_agent(said("One"), agentId="a1"), of_agent(said("Two"), agentId="a2")]
    events = decoded(TASK, OTHER, told, meta, *lines)
    assert [event.parent_call for event in events if isinstance(event, Text)] == ["t", "u"]
    first = of_agent(user("Find the bug."), agentId="a2")
    assert Prompt("Find the bug.", "u") in decoded(TASK, OTHER, first)
    old = [of_agent(user("Count the files.", "s1")), of_agent(said("Ls.", uuid="s2", parent="s1"))]
    assert agents(decoded(said("Main"), TASK, OTHER, *old)[4:]) == {"t"}
    first = of_agent(user("Do it.", "s1"), agentId="a9")
    assert Prompt("Do it.", "t") in decoded(TASK, first)
    assert Prompt("Do it.", "a9") in decoded(TASK, OTHER, first)
    assert Prompt("Do it.", "s1") in decoded(TASK, OTHER, of_agent(user("Do it.", "s1")))
    done = returned("t", agentId="e1")
    late = [of_agent(said("Ls.", uuid="s1")), of_agent(returned("x"), agentId="e1")]
    events = decoded(user("Go"), TASK, done, *late)
    assert [event.parent_call for event in events if isinstance(event, Text)] == ["t"]
    assert [event.parent_call for event in events if isinstance(event, ToolEnded)] == [None, "t"]
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
    # Its session id, folder, model, errors and ends are its own; a reminder is nothing. A file that
    # begins with its line shows it as the main agent.
    lines = [
        user("Go"),
        TASK,
        of_agent(ended(message={"model": "haiku", "id": "m"}), agentId="a", sessionId="agent-a", cwd="/x"),
    ]
    run = session_of(*lines).run
    assert (run.session_id, run.cwd, run.model, run.ended) == ("s", "/w", "opus", None)
    failed = of_agent(said("API Error", isApiErrorMessage=True), agentId="a")
    assert Notice("API Error", AT_MS, is_error=True) in decoded(user("Go"), TASK, failed)
    done = of_agent(line("system", subtype="turn_duration", durationMs=5), agentId="a")
    told = of_agent(line("system", subtype="informational", content="x"), agentId="a")
    session = session_of(user("Go"), TASK, done, told)
    assert session.run.ended is None
    assert decoded(user("Go"), done, told)[1:] == [Notice("x", AT_MS)]
    for text in ["<system-reminder>x</system-reminder>", "", None]:
        with case(text):
            reminder = of_agent(user(text), agentId="a")
            assert agents(decoded(user("Go"), TASK, reminder)) == {None}
            meta = of_agent(user("skill", isMeta=True), agentId="a")
            assert agents(decoded(user("Go"), TASK, meta)) == {None}
    lines = [of_agent(user("Count."), agentId="a1"), of_agent(ended("3"), agentId="a1")]
    session = session_of(*lines)
    assert (session.text, session.run.turns, session.run.prompt) == ("3", 1, "Count.")
    nested = of_agent(said("x"), agentId="a2")
    assert session_of(*lines, nested).text == "3"
    bare = [of_agent(user("Count.")), of_agent(said("3"))]
    assert session_of(*bare).text == "3"


CLEAR = "<command-name>/clear</command-name>\n <command-message>clear</command-message>"
DONE = (
    "<task-notification>\n<task-id>a9</task-id>\n<status>completed</status>\n"
    '<summary>Agent "Count" finished</summary>\n<result>3</result>\n</task-notification>'
)


def test_what_the_program_writes_is_no_prompt() -> None:
    """Commands, outputs and ends of tasks are notices; reminders, skills and summaries are nothing. A prompt
    is the user's own text, without what the editor adds.
    """
    cases: list[tuple[str, str]] = [
        (CLEAR, "/clear"),
        ("<command-message>review</command-message>\n<command-args>all</command-args>", "review all"),
        ("<local-command-stdout>Kept model</local-command-stdout>", "Kept model"),
        ("<bash-input>sleep 3; echo hi</bash-input>", "! sleep 3; echo hi"),
        ("<bash-stdout>hi</bash-stdout><bash-stderr></bash-stderr>", "hi"),
        ("<bash-stdout></bash-stdout><bash-stderr>no</bash-stderr>", "no"),
        (DONE, 'Agent "Count" finished · completed'),
        ("<task-notification><task-id>b1</task-id></task-notification>", "background task b1"),
        ("<bash-input>cut", "! cut"),
    ]
    for text, words in cases:
        with case(text):
            assert decoded(user(text)) == [Notice(words, AT_MS)]
            assert decoded(user([{"type": "text", "text": text}])) == [Notice(words, AT_MS)]
    further: list[dict[str, object]] = [
        user("Caveat: The messages below were generated by the user while running local commands."),
        user("<local-command-stdout></local-command-stdout>"),
        user("<system-reminder>Be kind.</system-reminder>"),
        user("Base directory for this skill: /x", isMeta=True),
        user("This session is being continued", isCompactSummary=True),
        user("  "),
        user(None),
        user([None, {"type": "text"}, 5]),
        line("user"),
        line("user", message="x"),
    ]
    for made in further:
        with case(made):
            assert decoded(made) == []
    assert decoded(user(" Go on ")) == [Prompt("Go on")]
    blocks = [{"type": "text", "text": "<ide_opened_file>x</ide_opened_file>"}, {"type": "text", "text": "A"}]
    assert decoded(user([*blocks, {"type": "text", "text": "B"}])) == [Prompt("A\nB")]
    assert decoded(user([{"type": "image"}])) == [Prompt("[image]")]
    assert decoded(user("<b>bold</b>")) == [Prompt("<b>bold</b>")]
    more = {"type": "text", "text": "[Request interrupted by user]"}
    beside = returned("c")
    beside["message"]["content"].append({"type": "text", "text": "more"})
    assert not any(isinstance(event, Prompt) for event in decoded(beside))
    beside["message"]["content"].append(more)
    assert type(decoded(beside)[-1]).__name__ == "TurnEnded"


def test_the_blocks_of_an_answer_are_texts() -> None:
    """Texts and thoughts have their channels; a redacted thought is nothing, an unknown block is counted, and
    a model that takes over is named.
    """
    line_ = answer({"type": "thinking", "thinking": ""}, {"type": "redacted_thinking"})
    assert decoded(line_) == []
    expected: list[Event] = [
        Text(Channel.REASONING, "Hm", AT_MS),
        TextEnded(Channel.REASONING, AT_MS),
        Text(Channel.ANSWER, "A", AT_MS),
        TextEnded(Channel.ANSWER, AT_MS),
    ]
    assert decoded(answer({"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "A"})) == expected
    assert decoded(line("assistant", message={"content": "A"})) == expected[2:]
    assert decoded(answer({"type": "hologram"})) == [Unknown("content hologram")]
    assert decoded(answer({})) == [Unknown("content None")]
    assert decoded(line("weather")) == [Unknown("type weather")]
    assert decoded(line("progress", data={"type": "x"})) == [Unknown("progress x")]
    assert decoded({"type": ["x"]}) == [Unknown("type an array")]
    session = session_of(user("Go"), line("weather"))
    assert session.lines.unknown == 1
    switched = answer({"type": "fallback", "to": {"model": "opus-4"}})
    assert decoded(switched) == [Notice("continues with the model opus-4", AT_MS)]
    assert decoded(answer({"type": "fallback"})) == [Notice("continues with another model", AT_MS)]


def test_a_text_that_is_written_again_replaces_the_first() -> None:
    """A line may supersede the last lines of the answer; others cannot be taken back."""
    first, second = said("One", uuid="a1"), said("Two", uuid="a2")
    again = said("Three", uuid="a3", supersedesUuids=["a1", "a2", 5])
    assert TextRetracted(6) in decoded(user("Go"), first, second, again)
    assert session_of(user("Go"), first, second, again).text == "Three"
    assert session_of(user("Go"), first, second, said("x", supersedesUuids=["a1"])).text == "OneTwox"
    assert (
        session_of(user("Go"), first, user("On", "p2", "a1"), said("x", supersedesUuids=["a1"])).text
        == "Onex"
    )
    refused = line("system", subtype="model_refusal_fallback", content="x", retractedMessageUuids=["a2"])
    assert session_of(user("Go"), first, second, refused).text == "One"


OK = TurnEnded(Outcome.SUCCEEDED)


def ends(*lines: dict[str, object]) -> list[object]:
    """Return the events of lines that begin or end turns."""
    return [
        event for event in decoded(*lines) if isinstance(event, TurnEnded | TurnStarted | Prompt | Rewound)
    ]


def test_the_last_text_of_a_turn_ends_it() -> None:
    """An answer with `end_turn` ends the turn once, unless a call is open; older versions end it by its
    hooks.
    """
    assert ends(user("Go"), said("Hm"), ended()) == [Prompt("Go"), OK]
    measured = line("system", subtype="turn_duration", durationMs=1311)
    assert ends(user("Go"), ended(), measured)[1:] == [OK, OK._replace(duration_ms=1311)]
    session = session_of(user("Go"), ended(), measured)
    assert (session.outcome, session.run.duration_ms, session.run.turns) == (Outcome.SUCCEEDED, 1311, 1)
    assert len(session.transcript) == 3
    thought = answer({"type": "thinking", "thinking": "Hm"}, message={"id": "m", "stop_reason": "end_turn"})
    text = said("A", message={"id": "m", "stop_reason": "end_turn"})
    assert ends(user("Go"), thought, text, text) == [Prompt("Go"), OK]
    assert ends(user("Go"), call("c"), ended(), returned("c"), ended()) == [Prompt("Go"), OK]
    hooks = line("system", subtype="stop_hook_summary", hookErrors=[], preventedContinuation=False)
    assert ends(user("Go"), said("A"), hooks) == [Prompt("Go"), OK]
    assert ends(user("Go"), hooks) == [Prompt("Go")]
    assert ends(user("Go"), said("A"), call("c"), hooks) == [Prompt("Go")]
    blocked = line("system", subtype="stop_hook_summary", hookErrors=["lint"])
    assert decoded(said("A"), blocked)[-1] == Notice("hook failed: lint", AT_MS)


def test_an_interruption_cancels_the_turn() -> None:
    """The line after Esc ends the turn as cancelled, once, and not that of a prompt which was queued before
    it.
    """
    stop = user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    assert ends(user("Go"), said("A"), stop) == [Prompt("Go"), TurnEnded(Outcome.CANCELLED)]
    assert ends(user("Go"), ended(), stop) == [Prompt("Go"), OK]
    lines = (
        user("wait", "p1"),
        call("c", uuid="a1", parent="p1", message={"id": "m"}),
        user("x", "p2", "a1", promptId="2"),
        returned("c", "The user doesn't want to proceed", is_error=True, uuid="r", parent="a1", promptId="2"),
        user("[Request interrupted by user]", "i", "r", interruptedMessageId="m", promptId="2"),
        ended(uuid="a2", parent="i"),
        user("next", "p3", "a2"),
    )
    assert Notice("interrupted by the user", AT_MS) in decoded(*lines)
    assert ends(*lines) == [Prompt("wait"), Prompt("x"), OK, Prompt("next")]


def test_an_error_of_the_service_fails_the_turn() -> None:
    """The error is the result, and no text of the agent; that of a limit has the window or the words."""
    error = said("API Error: 400", isApiErrorMessage=True, message={"model": "<synthetic>"})
    assert ends(user("Go"), error) == [Prompt("Go"), TurnEnded(Outcome.FAILED, "API Error: 400")]
    session = session_of(user("Go"), error)
    assert (session.outcome, session.text, session.run.result) == (Outcome.FAILED, "", "API Error: 400")
    bare = answer(isApiErrorMessage=True, error="overloaded")
    assert ends(bare) == [TurnEnded(Outcome.FAILED, "overloaded")]
    words = "You've hit your session limit · resets 2pm (Europe/Berlin)"
    quota = {"status": "rejected", "resetsAt": 1_789_846_800, "rateLimitType": "five_hour"}
    named = said(words, isApiErrorMessage=True, error="rate_limit", quotaLimits=quota)
    limits = session_of(user("Go"), named).limits
    assert (limits.is_refused, limits.until_ms) == (True, 1_789_846_800_000)
    other_bare = session_of(user("Go"), said(words, isApiErrorMessage=True, error="rate_limit"))
    assert (other_bare.limits.is_refused, other_bare.limits.until_ms, other_bare.outcome) == (
        True,
        None,
        Outcome.FAILED,
    )
    for other in (said("API Error: 429", isApiErrorMessage=True, error="rate_limit"), said(words)):
        assert not session_of(user("Go"), other).limits.is_refused
    assert not session_of(user("Go"), named, user("on")).limits.is_refused


def test_an_answer_after_the_end_of_a_turn_begins_or_continues_one() -> None:
    """A command of the user begins a turn without a prompt, a notification continues the last."""
    commanded = "<command-name>/init</command-name>"
    notified = "<task-notification><summary>Done</summary></task-notification>"
    for words in (commanded, notified):
        lines = (
            user("Go", "p"),
            ended(uuid="a", parent="p", message={"id": "m1"}),
            user(words, "n", "a"),
            said("B", uuid="b", parent="n", message={"id": "m2"}),
        )
        begun = TurnStarted(is_prompted=words is commanded)
        assert ends(*lines) == [Prompt("Go"), OK, begun]
        session = session_of(*lines)
        assert (session.run.turns, session.outcome) == (1 + begun.is_prompted, Outcome.UNFINISHED)
        more = (user("next", "q", "b"), ended(uuid="e", parent="q"), user("not that", "r", "b"))
        assert session_of(*lines, *more).run.turns == 2 + begun.is_prompted
    assert ends(said("cut"), user("Go")) == [Prompt("Go")]


def test_a_rewind_is_reported_before_the_prompt_that_follows_it() -> None:
    """The turns since the earlier prompt are taken out of the text; decoder and session count the same turns,
    also one without a prompt.
    """
    lines = (
        user("One", "p1"),
        ended("A", uuid="a1", parent="p1"),
        user("Two", "p2", "a1"),
        ended("B", uuid="a2", parent="p2"),
        user("Three", "p3", "a2"),
        user("Other", "p4", "a1"),
        ended("C", uuid="a4", parent="p4"),
    )
    assert ends(*lines)[-3:] == [Rewound(2), Prompt("Other"), OK]
    session = session_of(*lines)
    assert (session.text, session.run.turns) == ("AC", 2)
    rows = (
        user("One", "p1"),
        ended("A", uuid="a1", parent="p1", message={"id": "m1"}),
        said("B", uuid="b1", parent="a1", message={"id": "m2"}),
        user("Other", "p2", "a1"),
        ended("C", uuid="c1", parent="p2"),
    )
    session = session_of(*rows)
    assert (session.text, session.run.turns) == ("AC", 2)


@pytest.mark.parametrize("kind", ["progress", "attachment", "system"])
def test_a_repeated_line_is_decoded_once(kind: str) -> None:
    """A resumed session repeats its history: a line with a known UUID says nothing new."""
    first = ended("A", uuid="b2553a24-ae87-478f-98ad-8c56d614c0be")
    other = line(kind, uuid="c2553a24-ae87-478f-98ad-8c56d614c0be", subtype="local_command")
    assert session_of(user("Go"), first, other, first, other).text == "A"
