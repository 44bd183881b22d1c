"""Claude Code's stream: recognition, turns, texts, incidents and limits."""

from typing import Any

from agentwatch.agents import Decoder, LineRole
from agentwatch.agents.claude.calls import limits_in
from agentwatch.agents.registry import agent_named, detect
from agentwatch.session.events import (
    Channel,
    Compaction,
    FormatDetected,
    Limits,
    LimitWindow,
    Notice,
    Retry,
    Text,
    TextEnded,
    TextRetracted,
    Tokens,
    ToolStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.claude_lines import (
    CWD,
    Json,
    answer,
    assistant,
    call,
    delta,
    events,
    init,
    line,
    result,
    say,
    user,
    written,
)
from tests.builders.lines import session
from tests.conftest import case

USAGE = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 10,
    "cache_read_input_tokens": 100,
    "output_tokens": 7,
}


def read(*lines: Json) -> Session:
    return session(written(*lines))


OUTCOMES: list[tuple[dict[str, Any], str, str | None]] = [
    ({}, "succeeded", "Done."),
    ({"is_error": True, "result": "API Error: 500"}, "failed", "API Error: 500"),
    ({"subtype": "error_max_turns", "errors": ["Reached 10"]}, "failed", "Reached 10"),
    (
        {"subtype": "error_during_execution", "error": {"type": "FatalError", "message": "Too many turns"}},
        "failed",
        "Too many turns",
    ),
    ({"subtype": "error_max_turns"}, "failed", "reached the maximum number of turns"),
    ({"subtype": "error_of_a_new_kind"}, "failed", "error of a new kind"),
    ({"is_error": None, "subtype": "paused"}, "failed", "paused"),
    ({"is_error": None, "subtype": None}, "failed", None),
    ({"is_error": None}, "succeeded", "Done."),
    ({"is_error": True, "error": "No login"}, "failed", "No login"),
    ({"subtype": "error_during_execution", "terminal_reason": "aborted_tools"}, "cancelled", "interrupted"),
    (
        {"subtype": "error_during_execution", "terminal_reason": "aborted", "errors": ["[ede_diagnostic] x"]},
        "cancelled",
        "interrupted",
    ),
    ({"terminal_reason": "aborted_streaming", "errors": ["x"]}, "cancelled", "x"),
    ({"result": 5}, "succeeded", None),
]


def test_inits_prompts_and_results_make_turns() -> None:
    """An init is a run or a turn, a prompt that is repeated is one, and a result ends it."""
    # After a result, an init of the same session continues the run; without one it is another run, or,
    # within a compaction, the same turn. Hooks before an init do not start a run. A result alone does.
    background = (call("Bash", command="make"), result("One"), init(model="claude-opus-5"), answer("done"))
    found = read(init(), *background, say("Two"), result("Two"))
    assert (len(found.runs), found.run.turns, found.run.model) == (1, 2, "claude-opus-5")
    assert (found.calls[0].outcome, found.never_completed) == ("succeeded", 0)
    assert (found.run.outcome, found.run.text_matches_result) == ("succeeded", True)
    found = read(init(), call("Bash", command="make"), init(), say("Two"), result("Two"))
    assert (len(found.runs), found.runs[0].outcome) == (2, "unfinished")
    assert (found.calls[0].outcome, found.never_completed) == ("unfinished", 1)
    assert len(read(init(), result(), init(session_id="s-2"), result()).runs) == 2
    compacting = line("system", "status", status="compacting")
    boundary = line("system", "compact_boundary", compact_metadata={"pre_tokens": 9, "post_tokens": 5})
    found = read(init(), say("a"), compacting, init(), boundary, say("b"), result("b"))
    assert (len(found.runs), found.run.turns, found.text) == (1, 1, "ab")
    assert len(read(init(), say("a"), compacting, boundary, init(), result()).runs) == 2
    hook = line("system", "hook_started", hook_id="h")
    found = read(hook, line("system", "status", status="requesting"), init(), say("a"), result("a"))
    assert (len(found.runs), found.run.turns, found.run.cwd, found.lines.unknown) == (1, 1, CWD, 0)
    found = read(result("Done.", total_cost_usd=0.5, usage=USAGE))
    assert (found.format, found.outcome, found.run.result) == ("claude-code", "succeeded", "Done.")
    assert found.run.text_matches_result is None
    # An echoed prompt is that of its turn; a summary and a notification are none. What the agent writes
    # after a result is a turn.
    found = read(
        init(), user("Go on.", isReplay=True), say("a"), user("Stop.", isReplay=True), say("b"), result("b")
    )
    assert (found.run.prompt, found.run.turns) == ("Go on.", 2)
    found = read(init(), user("Go on."), say("a"), result("a"), user("More."), say("b"), result("b"))
    assert (found.run.prompt, found.run.turns) == ("Go on.", 2)
    for own in [
        user("This session is being continued.", isSynthetic=True),
        user("<local-command-stdout>Compacted</local-command-stdout>", isReplay=True),
        user("<task-notification>x</task-notification>"),
    ]:
        with case(own):
            found = read(init(), own, say("a"), result("a"))
            assert (found.run.prompt, found.run.turns) == (None, 1)
            found = read(init(), say("a"), user("Base directory for this skill: /x"), result("a"))
            assert (found.run.prompt, found.run.turns) == (None, 1)
    found = read(init(), say("One"), result("One"), say("Two"), result("Two"))
    assert (len(found.runs), found.run.turns, found.run.outcome) == (1, 2, "succeeded")
    found = read(line("system", "hook_started"), delta("One"), say("One"), say("Two"))
    assert (found.run.turns, found.run.session_id, found.text) == (1, "s-1", "OneTwo")
    own = assistant({"type": "text", "text": "API Error"}, model="<synthetic>")
    assert read(line("system", "hook_started"), own).run.model is None
    written_by = assistant({"type": "text", "text": "a"}, model="claude-opus-5")
    assert read(line("system", "hook_started"), written_by).run.model == "claude-opus-5"
    found = read(line("system", "hook_started"), line("stream_event", event={"type": "message_start"}))
    assert found.run.turns == 1
    found = read(init(), result("One"), result("Two", local_command="compact"))
    assert (len(found.runs), found.run.turns) == (1, 2)
    # `success` with an error failed, an abort was cancelled; so was a turn that the user interrupted, if
    # its result says that it failed.
    for fields, outcome, text in OUTCOMES:
        with case((fields, outcome)):
            words = "Done." if outcome == "succeeded" else ""
            end = {**result(words), **fields}
            found = read(init(), say("Done."), end)
            assert (found.outcome, found.run.result) == (outcome, text)
    stop = user("[Request interrupted by user for tool use]")
    end = result(subtype="error_during_execution", is_error=True)
    assert read(init(), say("a"), stop, end).outcome == "cancelled"
    assert read(init(), say("a"), stop, result("a")).outcome == "succeeded"
    assert read(init(), say("a"), stop, end, init(), say("b"), end).outcome == "failed"


def test_tokens_are_those_of_the_results() -> None:
    """They are added over the turns and over the main agent's and the subagents' requests."""
    # The usage of each turn is added; without a result, that of each message counts once.
    models = {"claude-sonnet-5": {"contextWindow": 200_000}, "claude-haiku-4-5": {"contextWindow": 100_000}}
    lines = [init(model="claude-sonnet-5[1m]")]
    for cost in (0.25, 0.75):
        lines += [say("a", message_id=f"m-{cost}", usage=USAGE), call("Bash"), answer("x"), init()]
        lines[-1] = result("a", usage=USAGE, total_cost_usd=cost, modelUsage=models)
        lines.append(init(model="claude-sonnet-5[1m]"))
    tokens = read(*lines[:-1]).run.tokens
    assert tokens[:6] == (226, 200, 14, 0.75, 113, 200_000)
    found = read(
        init(), say("a", usage=USAGE), say("b", usage=USAGE), say("c", message_id="m-2", usage=USAGE)
    )
    assert found.run.tokens[:6] == (226, 200, None, None, 113, None)
    # Behind a gateway, messages have no ids, or all the same.
    grown = {**USAGE, "input_tokens": 4}
    for name in ("", "msg_relay"):
        lines = [
            say(words, message_id=name, usage=usage) for words in "ab" for usage in (USAGE, USAGE, grown)
        ]
        assert read(init(), *lines).run.tokens.input == 2 * (113 + 114)
    # An init after the end of a background task continues the turn.
    task = (line("system", "task_started", task_id="1"), line("system", "task_notification", task_id="1"))
    for between, turns in (((), 2), (task, 1)):
        assert read(init(), result("a"), *between, init(), say("b"), result("b")).run.turns == turns
    written_so_far = line("stream_event", event={"type": "message_delta", "usage": {"output_tokens": 9}})
    assert read(init(), written_so_far).run.tokens.output == 9
    more = line("stream_event", event={"type": "message_delta", "usage": {"output_tokens": 12}})
    start = line("stream_event", event={"type": "message_start"})
    rows = (written_so_far, more, written_so_far, start, more)
    assert read(init(), *rows).run.tokens.output == 24
    inner = say("a", usage=USAGE, parent_tool_use_id="t-1")
    assert read(init(), inner, line("stream_event", event={"type": "ping"})).run.tokens[:6] == (
        113,
        100,
        None,
        None,
        None,
        None,
    )
    # A result counts only the main agent's. It is not known whether those of other agents contain them.
    inner = say("a", message_id="m-2", usage=USAGE, parent_tool_use_id="t-1")
    lines = [init(), say("a", usage=USAGE), inner, inner, result("a", usage=USAGE)]
    assert read(*lines).run.tokens[:3] == (226, 200, 14)
    assert read(*lines, init(), result("b", usage=USAGE)).run.tokens[:3] == (339, 300, 21)
    inner = say("a", usage=USAGE, parent_tool_use_id="t-1")
    assert not any(isinstance(event, Usage) for event in events(inner, agent="amp"))
    assert any(isinstance(event, Usage) for event in events(init(), inner))


ANSWER, REASONING = Channel.ANSWER, Channel.REASONING
START = line("stream_event", event={"type": "message_start", "message": {"id": "msg_1"}})
STOP = line("stream_event", event={"type": "content_block_stop", "index": 0})


def text_of(*lines: Json) -> str:
    """Return the text of a session of Claude Code."""
    return session(written(init(), *lines)).text


def think(words: str, **fields: object) -> Json:
    """Return a full block of reasoning."""
    return assistant({"type": "thinking", "thinking": words, "signature": "x"}, **fields)


def test_each_text_is_there_once() -> None:
    """Blocks repeat their deltas, and a message may replace an earlier one."""
    # The text is there once, whichever comes first; a block that differs replaces its deltas, and
    # reasoning keeps them. A message that was broken off does not belong to the text.
    assert (
        text_of(START, delta("On"), delta("e"), say("One"), STOP, delta("Two"), STOP, say("Two")) == "OneTwo"
    )
    assert events(delta("One"), say("One"))[-1] == TextEnded(ANSWER)
    assert text_of(say("Zero"), delta("Onr"), say("One")) == "ZeroOne"
    assert text_of(say("Zero"), delta("One"), say("")) == "Zero"
    assert TextRetracted(3) in events(delta("Onr"), say("One"))
    assert text_of(START, delta("Half of"), START, delta("All"), say("All")) == "All"
    assert text_of(START, delta("Half of")) == "Half of"
    assert events(delta("Hm", "thinking"), think(""))[-2:] == [Text(REASONING, "Hm"), TextEnded(REASONING)]
    assert events(think("Hm"))[-2:] == [Text(REASONING, "Hm"), TextEnded(REASONING)]
    assert not [event for event in events(think("")) if isinstance(event, Text)]
    # Reasoning, text and calls are separate lines or one, calls of a message share a group, and what is
    # neither is passed over.
    found = events(
        think("Hm"), say("I look."), call("Read", "t-1", file_path="/a"), call("Bash", "t-2", command="ls")
    )
    kinds = [type(event) for event in found if isinstance(event, Text | ToolStarted)]
    assert kinds == [Text, Text, ToolStarted, ToolStarted]
    assert {event.group for event in found if isinstance(event, ToolStarted)} == {"msg_1"}
    uses = [
        {"type": "tool_use", "id": f"t-{n}", "name": "Read", "input": {"file_path": "/a"}} for n in (1, 2)
    ]
    found = events(assistant({"type": "text", "text": "I read."}, *uses))
    assert [event.call_id for event in found if isinstance(event, ToolStarted)] == ["t-1", "t-2"]
    use = {"type": "server_tool_use", "id": "s-1", "name": "web_search", "input": {"query": "tide"}}
    seen = session(
        written(init(), assistant(use), assistant({"type": "web_search_tool_result", "tool_use_id": "s-1"}))
    )
    assert [(call.tool, call.target, call.outcome) for call in seen.calls] == [
        ("web_search", "web_search tide", "succeeded")
    ]
    assert text_of(line("assistant", message={"role": "assistant", "content": "Hm"})) == "Hm"
    block = {"type": "redacted_thinking", "data": "x"}
    assert text_of(assistant(block, {"type": "text", "text": "Yes"}), assistant(block)) == "Yes"
    odd = line("stream_event", event={"type": "content_block_delta", "index": 0, "delta": "Hm"})
    assert text_of(START, odd) == ""
    # A subagent's text and prompt belong to its call. Its deltas are left out: the full block follows.
    inner = {"parent_tool_use_id": "t-1"}
    lines = (call("Task", description="Look"), user("Look there.", **inner), delta("I s", **inner))
    more = (say("I see.", **inner), think("Hm", **inner), think("", **inner), say("Done."))
    other_found = session(written(init(), *lines, *more, answer("ok"), result("Done.")))
    assert other_found.text == "Done."
    shown = [(entry.kind, entry.text, entry.parent) for entry in other_found.transcript if entry.parent]
    assert shown == [(Kind.PROMPT, "Look there.", 1), (Kind.ANSWER, "I see.", 1), (Kind.REASONING, "Hm", 1)]
    assert other_found.run.turns == 1
    # Messages that another one supersedes or retracts are not part of the text; the newest 256 can be.
    for is_partial in [False, True]:
        with case(is_partial):
            first = [delta("No"), say("No", uuid="u-9")] if is_partial else [say("No", uuid="u-9")]
            fallback = line(
                "system", "model_refusal_fallback", retracted_message_uuids=["u-9"], message="Another model."
            )
            assert text_of(say("So: ", uuid="u-8"), *first, say("Yes", supersedes=["u-9"])) == "So: Yes"
            assert text_of(say("So: ", uuid="u-8"), *first, fallback, say("Yes", uuid="u-10")) == "So: Yes"
            assert text_of(say("So: ", uuid="u-8"), say("Yes", supersedes=["u-77"], uuid="u-9")) == "So: Yes"
    many = [say(str(number), uuid=f"u-{number}") for number in range(300)]
    assert text_of(*many, say("!", supersedes=["u-299"])).endswith("298!")
    assert text_of(*many, say("!", supersedes=["u-0"])).endswith("299!")


def test_a_run_has_its_facts_and_times() -> None:
    """The init has the facts of the run, and each line its time."""
    # Model, folder, mode and version are shown; the context of the only model counts; an absurd cost does
    # not.
    found = read(init(permissionMode="plan", apiKeySource="none"), result("a", usage={"a": 1, "b": []}))
    run = found.run
    assert (run.permission_mode, run.api_key_source, run.agent_version) == ("plan", "none", "2.1.330")
    assert (run.usage, found.agent_name) == ({"a": 1}, "claude")
    assert read(init(), result("a", usage=None)).run.usage is None
    one = {"claude-x": {"contextWindow": 5}}
    assert read(init(), result("a", modelUsage=one)).run.tokens.context_size == 5
    two = {**one, "claude-y": {"contextWindow": 6}}
    assert read(init(), result("a", modelUsage=two)).run.tokens.context_size is None
    cases: list[object] = ["1", True, -1.0, 1e300, None]
    for cost in cases:
        with case(cost):
            assert read(init(), result("a", total_cost_usd=cost)).run.tokens.cost_usd is None
    # The time of a line is that of its ISO timestamp with a time zone; another form is none.
    for stamp in ["2026-11-20T14:03:07.250Z", "2026-11-20T15:03:07.250+01:00"]:
        with case(stamp):
            assert events(answer("x", timestamp=stamp))[-1].at_ms == 1_795_183_387_250
    further: list[object] = [
        None,
        5,
        "",
        "soon",
        "2026-11-20T14:03:07",
        "x" * 99,
        "0001-01-01T00:00:00+23:00",
    ]
    for other_stamp in further:
        with case(other_stamp):
            assert events(answer("x", timestamp=other_stamp))[-1].at_ms is None


TASK = line("system", "task_started", task_id="k", tool_use_id="t-1", description="make all")
ENDED = line("system", "task_notification", task_id="k", tool_use_id="t-1", status="completed", summary="x")


def system(subtype: Any, **fields: Any) -> Json:
    return line("system", subtype, **fields)


LINES: list[tuple[Json, list[Any]]] = [
    (system("thinking_tokens", estimated_tokens=5), []),
    (system("hook_started", hook_name="Stop"), []),
    (system("hook_response", hook_name="Stop", exit_code=0, outcome="success"), []),
    (system("hook_response", hook_name="Stop"), []),
    (
        system("hook_response", hook_name="Stop", exit_code=2, outcome="error", stderr=" no\n"),
        [Notice("hook Stop failed: exit 2: no")],
    ),
    (system("hook_response", hook_name="Stop", outcome="cancelled"), [Notice("hook Stop failed: cancelled")]),
    (
        system("hook_response", hook_name="Stop", exit_code=1, output="bad"),
        [Notice("hook Stop failed: exit 1: bad")],
    ),
    (system("status", status="requesting"), []),
    (system("status", status="compacting"), [Compaction(is_over=False)]),
    (system("status", status=None, compact_result="success"), []),
    (system("status", compact_result="failed"), [Notice("compaction failed: failed")]),
    (system("status", compact_result="failed", compact_error="full"), [Notice("compaction failed: full")]),
    (
        system("compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9, "post_tokens": 5}),
        [Compaction(True, "auto", 9, 5), Usage(Tokens(context_used=5), UsageScope.REQUEST)],
    ),
    (system("compact_boundary", compact_metadata={"pre_tokens": 9}), [Compaction(True, None, 9, None)]),
    (
        system(
            "api_retry", attempt=2, max_retries=10, retry_delay_ms=512.4, error_status=529, error="overloaded"
        ),
        [Retry("overloaded (529)", 2, 10, 512)],
    ),
    (
        system("api_retry", attempt=2, retry_delay_ms=500, error={"message": "full"}),
        [Retry("full", 2, None, 500)],
    ),
    (system("api_retry", retry_delay_ms=-1.0), [Retry("", None, None, None)]),
    (system("informational", content="Update soon."), [Notice("Update soon.")]),
    (system("notification", message="Update soon."), [Notice("Update soon.")]),
    (system("notification", text="Update soon."), [Notice("Update soon.")]),
    (system("notification"), []),
    (system("weather"), [Unknown("type system/weather")]),
    (line("system"), [Unknown("type system/None")]),
    (line("weather"), [Unknown("type weather")]),
    (line("tool_progress", tool_use_id="t-1", elapsed_time_seconds=3), []),
    (line("keep_alive"), []),
    (line("auth_status", isAuthenticating=True), []),
    (line("auth_status", error="expired"), [Notice("authentication failed: expired", is_error=True)]),
    (line("rate_limit_event", rate_limit_info={"status": "allowed", "utilization": 0.5}), []),
    (
        line(
            "rate_limit_event",
            rate_limit_info={"status": "allowed_warning", "rateLimitType": "five_hour", "utilization": 0.91},
        ),
        [
            Limits((LimitWindow("5h", 91.0),), is_refused=False),
            Notice("rate limit five hour allowed warning 91% used"),
        ],
    ),
    (
        line("rate_limit_event", rate_limit_info={"status": "rejected", "utilization": True}),
        [Limits((), is_refused=True), Notice("rate limit rejected", is_error=True)],
    ),
    (line("rate_limit_event", rate_limit_info={"requests_remaining": 0}), [Notice("rate limit")]),
]


RESET_S, WEEK_S = 1_790_184_600, 1_790_290_800
SHORT, WEEK = LimitWindow("5h", 33.0, RESET_S * 1000), LimitWindow("7d", 55.0, WEEK_S * 1000)
UNIFIED = {
    "five_hour": {"utilization": 0.33, "resetsAt": RESET_S},
    "seven_day": {"utilization": 0.55, "resetsAt": WEEK_S},
}


def test_a_line_reports_its_incident() -> None:
    """Each form of a report has its event, once."""
    # Each kind of line has its own event, or none.
    for fields, expected in LINES:
        with case(fields):
            assert events(fields) == expected
    # It is reported once, unless it is the end of an open call; of more than 256 tasks the oldest are
    # forgotten.
    background = (call("Bash", command="make"), TASK, answer("x", result={"backgroundTaskId": "k"}))
    assert events(*background, ENDED)[-1] == Notice("background task completed: make all")
    patch = system("task_updated", task_id="k", patch={"status": "failed", "end_time": 5})
    assert events(*background, patch, ENDED)[-1] == Notice("background task failed: make all", is_error=True)
    running = system("task_updated", task_id="k", patch={"status": "running"})
    assert not [event for event in events(*background, running) if isinstance(event, Notice)]
    unnamed = system("task_started", task_id="k")
    assert events(unnamed, ENDED) == [Notice("background task completed: x")]
    found = events(call("Task", description="Look"), TASK, ENDED, answer("x"))
    assert not [event for event in found if isinstance(event, Notice)]
    assert events(ENDED) == []
    many = [system("task_started", task_id=f"k-{n}", description="x") for n in range(260)]
    ends = [system("task_notification", task_id=f"k-{n}", status="stopped") for n in (0, 259)]
    assert events(*many, *ends) == [Notice("background task stopped: x")]
    # All windows of a limit where they are reported, at most 6; an impossible share or time is unknown.
    own = {"rateLimitType": "five_hour", "resetsAt": RESET_S}
    bare = SHORT._replace(used_percent=None)
    cases: list[tuple[dict[str, object], list[Limits]]] = [
        ({"status": "allowed", **own, "unifiedWindows": UNIFIED}, [Limits((SHORT, WEEK), False)]),
        ({"status": "allowed", **own}, [Limits((bare,), False)]),
        ({"status": "allowed_warning", **own, "utilization": 0.33}, [Limits((SHORT,), False)]),
        ({"status": "rejected", **own}, [Limits((bare,), True, RESET_S * 1000)]),
        ({"status": "rejected", **own, "isUsingOverage": True}, [Limits((bare,), False)]),
        ({"status": "rejected"}, [Limits((), True)]),
        ({**own}, [Limits((bare,), None)]),
        ({"status": "allowed"}, []),
        ({}, []),
        ({"status": "allowed", "rateLimitType": "overage", "resetsAt": RESET_S}, []),
        (
            {"unifiedWindows": {"seven_day_opus": {"utilization": 0.29}}},
            [Limits((LimitWindow("7d opus", 29.0),))],
        ),
        ({"unifiedWindows": {"five_hour": {}, "five_hours": 3, "x": {"utilization": 1}}}, []),
        ({"unifiedWindows": "x", "rateLimitType": 7, "status": ["rejected"]}, []),
    ]
    for info, expected in cases:
        with case(info):
            assert limits_in(info) == expected
    further: list[tuple[object, object]] = [
        *((True, 0), (-0.1, -5), (1e9, 1 << 70), ("0.5", "soon"), (None, None), ([], {})),
    ]
    for used, resets in further:
        others: dict[str, object] = {
            "unifiedWindows": {"five_hour": {"utilization": used, "resetsAt": resets}}
        }
        with case(others):
            assert limits_in(others) == []
    other_many = {f"seven_day_{'m' * 99}{number}": {"utilization": 0.1} for number in range(9)}
    few = {f"seven_day_{number}": {"utilization": 0.1} for number in range(9)}
    assert [len(window.name) for window in limits_in({"unifiedWindows": other_many})[0].windows] == [33]
    assert len(limits_in({"unifiedWindows": few})[0].windows) == 6


# Lines are recognised, and may have any value in any field.

BARE = {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/x", "tools": []}
DETECTED: list[tuple[Json, str | None]] = [
    (init(), "claude-code"),
    ({**BARE, "uuid": "u"}, "claude-code"),
    ({**BARE, "permissionMode": "default", "apiKeySource": "none"}, "claude-code"),
    ({**BARE, "permissionMode": "default", "apiKeySource": "login"}, "cursor"),
    ({**BARE, "qwen_code_version": "0.15", "uuid": "u"}, "qwen"),
    ({**BARE, "permission_mode": "yolo", "uuid": "u"}, "qwen"),
    ({**BARE, "mcp_servers": []}, "amp"),
    ({**BARE, "session_id": "T-1"}, "amp"),
    ({**BARE, "session_id": "T-1", "agent_mode": "smart", "reasoning_effort": "high"}, "amp"),
    ({"type": "system", "subtype": "init", "session_id": "T-1", "cwd": "/x"}, "amp"),
    ({**BARE, "tools": None, "mcp_servers": []}, None),
    (BARE, "droid"),
    ({**BARE, "reasoning_effort": "high", "mcp_servers": []}, None),
    ({**init(), "sessionId": "s"}, "claude-code"),
    (line("system", "hook_started"), "claude-code"),
    ({"type": "system", "subtype": "hook_started"}, None),
    ({"type": "rate_limit_event"}, "claude-code"),
    ({"type": "rate_limit_event", "sessionId": "s"}, None),
    ({"type": "result", "total_cost_usd": 1}, "claude-code"),
    ({"type": "result", "num_turns": 1}, "claude-family"),
    ({"type": "result", "is_error": True, "error": "no login"}, "amp"),
    ({"type": "result", "is_error": True, "error": {"a": 1}}, None),
    ({"type": "result", "request_id": "r", "session_id": "s"}, "cursor"),
    ({"type": "assistant", "session_id": "T-1", "message": {}}, "amp"),
    ({"type": "assistant", "session_id": "T-1", "message": {}, "uuid": "u"}, None),
    ({"type": "assistant", "message": {"id": "m"}}, "claude-family"),
    ({"type": "assistant", "message": {"usage": {}}}, "claude-family"),
    ({"type": "assistant", "message": {"id": "m"}, "timestamp_ms": 5}, None),
    ({"type": "assistant", "message": {"content": [{"type": "tool_use"}]}}, "claude-family"),
    ({"type": "assistant", "message": {"id": "m"}, "sessionId": "s"}, "claude-transcript"),
    ({"type": "user", "message": {"content": []}, "parent_tool_use_id": None}, "claude-family"),
    ({"type": "stream_event", "event": {}}, "claude-family"),
    ({"type": "stream_event", "event": 5}, None),
    ({"type": "control_request", "request": {"subtype": "interrupt"}}, "claude-family"),
    ({"type": "control_response", "response": 5}, None),
    ({"type": 5}, None),
]


def test_a_line_shows_its_agent() -> None:
    """The keys of a line decide, and the family becomes its agent."""
    # The keys at the top of a line decide. Inits and prompts start a run; lines with calls are calls.
    for fields, name in DETECTED:
        with case(fields):
            for each in (fields, dict(reversed(fields.items()))):
                found = detect(each)
                assert (None if found is None else found.name) == name
    for fields, role in ROLES:
        with case(fields):
            assert Decoder(agent_named("claude-code")).role(written(fields)) is role
    # A stream without its head is the family's until a line shows the agent, and its run continues. Only
    # Qwen Code says success of an error. Another agent's run is read in its format.
    head = (say("One", uuid=None), call("read_file", file_path="/a"), answer("x"), result("One"))
    assert session(written(*head)).format == "claude-family"
    ends: list[tuple[Any, str]] = [
        (init(), "claude-code"),
        ({"type": "system", "subtype": "init", "session_id": "s-1", "qwen_code_version": "1"}, "qwen"),
    ]
    for end, name in ends:
        other_found = session(written(*head, end, say("Two"), result("Two")))
        assert (other_found.format, len(other_found.runs), other_found.run.turns, other_found.text) == (
            name,
            1,
            2,
            "OneTwo",
        )
        assert [(each.tool, each.kind) for each in other_found.calls] == [("read_file", "read")]
    assert (
        session(written(say("[API Error: 400]", uuid=None), result("[API Error: 400]"))).outcome == "failed"
    )
    decoder = Decoder(agent_named("claude-code"))
    qwens = {"type": "system", "subtype": "init", "session_id": "q", "qwen_code_version": "1"}
    seen = [event for each in (init(), qwens) for event in decoder.decode(written(each))]
    assert [event.format for event in seen if isinstance(event, FormatDetected)] == ["qwen"]


ROLES: list[tuple[Json, LineRole]] = [
    (init(), LineRole.START),
    (user("Go on."), LineRole.START),
    (user("Go on.", parent_tool_use_id="t"), LineRole.OTHER),
    (user("A summary.", isSynthetic=True), LineRole.OTHER),
    (call("Bash"), LineRole.CALL),
    (answer("x"), LineRole.CALL),
    (say("x"), LineRole.OTHER),
    (assistant(), LineRole.OTHER),
    (delta("x"), LineRole.OTHER),
    (result(), LineRole.OTHER),
    (line("system", "status"), LineRole.OTHER),
]
