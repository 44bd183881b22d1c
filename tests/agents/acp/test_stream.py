"""Streams of the Agent Client Protocol: sessions, turns, and what is bounded."""

from collections.abc import Callable

from agentwatch.agents import Decoder
from agentwatch.agents.registry import agent_named
from agentwatch.session.events import Tokens
from agentwatch.session.session import Session, calls_by_outcome
from agentwatch.session.transcript import Kind
from tests.builders.formats.acp import (
    SESSION,
    called,
    changed,
    chose,
    chunk,
    opening,
    permission,
    prompt,
    refused,
    request,
    response,
    stopped,
    update,
)
from tests.builders.lines import line, session
from tests.conftest import case

DIRECT = opening() + prompt()


def notices(read: Session) -> list[str]:
    return [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]


def test_the_lines_of_other_sessions_are_told_apart() -> None:
    """Another session, and a subagent, have texts and calls of their own."""
    # The text and the calls of another session belong to it, while the turn of the main one is open.
    read = session(
        DIRECT,
        chunk("One "),
        prompt("Other.", 9, "ses-2"),
        chunk("Again?", "user_message", "ses-2"),
        chunk("Foreign", "agent_message", "ses-2"),
        chunk(" text.", "agent_message", "ses-2"),
        chunk("two."),
        called("c-1", "ses-2", kind="read", status="pending"),
        called("c-1", kind="edit", status="pending"),
        changed("c-1", "ses-2", status="completed"),
        stopped("refusal", 9),
        chunk("Late.", "agent_thought", "ses-2"),
        stopped(),
    )
    assert (read.run.text, read.outcome, len(read.runs)) == ("One two.", "succeeded", 1)
    assert [(call.kind, call.parent_call, call.outcome) for call in read.calls] == [
        ("read", "ses-2", "succeeded"),
        ("edit", None, "unfinished"),
    ]
    foreign = [entry.text for entry in read.transcript if entry.parent is not None and entry.call is None]
    assert foreign == ["Other.", "Again?", "Foreign text.", "Late."]
    cancel = request("session/cancel", sessionId=SESSION)
    aside = called("c-1", "ses-2", kind="read", status="pending") + changed("c-1", "ses-2", status="failed")
    assert session(DIRECT, aside[: aside.index(b"\n") + 1], cancel, aside).calls[0].outcome == "failed"
    # The lines of a subagent belong to its call, or to its session; its text waits until it is complete.
    claude = {"_meta": {"claudeCode": {"parentToolUseId": "c-1"}}}
    read = session(
        DIRECT,
        called(rawInput={"description": "Look", "prompt": "x", "subagent_type": "explore"}, status="pending"),
        chunk("Sub ", **claude, messageId="m-1"),
        called("c-2", kind="read", status="pending", **claude),
        chunk("text", **claude, messageId="m-1"),
        chunk("next", **claude, messageId="m-2"),
        changed("c-1", status="completed"),
        chunk("Main."),
        stopped(),
    )
    assert [(call.kind, call.parent_call, call.target) for call in read.calls] == [
        ("delegate", None, "Look"),
        ("read", "c-1", None),
    ]
    assert read.run.text == "Main."
    assert [each.text for each in read.transcript if each.parent == 1 and each.kind is Kind.ANSWER] == [
        "Sub ",
        "text",
        "next",
    ]
    native = session(
        DIRECT,
        update("subagent_update", sessionId="kid", title="Plan it"),
        update("subagent_update", sessionId="kid", state={"state": "idle"}),
        chunk("Sub.", "agent_message", "kid"),
        update("plan", "kid", entries=[{"content": "x"}]),
        update("usage_update", "kid", used=1, size=2),
        stopped(),
    )
    assert (native.run.text, native.plan, native.run.tokens.context_used) == ("", (), None)
    assert notices(native) == ["subagent started: Plan it"]


def test_the_run_has_the_facts_of_its_session() -> None:
    """Name, version, mode, model and folder come from responses; updates replace the mode and the model.
    Tokens and cost are those of the whole session. A cost in another currency is left out.
    """
    facts = {"modes": {"currentModeId": "ask"}, "models": {"currentModelId": "arctic-2"}}
    read = session(opening(**facts), prompt(), chunk("Hi."), stopped())
    run = read.run
    assert (run.session_id, run.cwd, run.model, run.permission_mode) == (
        SESSION,
        "/home/ada/app",
        "arctic-2",
        "ask",
    )
    assert (read.agent_name, run.agent_version, run.turns, run.prompt) == ("tern", "2.1", 1, "Do it.")
    assert (read.outcome, run.text, read.lines.unknown) == ("succeeded", "Hi.", 0)
    options = [{"id": "model", "currentValue": "a"}, {"id": "x", "category": "mode", "currentValue": "b"}]
    read = session(opening(configOptions=options))
    assert (read.run.model, read.run.permission_mode) == ("a", "b")
    lines = opening() + update("current_mode_update", currentModeId="plan")
    lines += request("session/set_model", 5, sessionId=SESSION, modelId="big") + response(5, {})
    assert session(lines).run.permission_mode == "plan"
    assert session(lines).run.model == "big"
    lines += request("session/set_mode", 6, sessionId=SESSION, modeId="yolo")
    assert session(lines).run.permission_mode == "plan"
    assert session(lines + refused(6, "no")).run.permission_mode == "plan"
    assert session(lines + response(6, {})).run.permission_mode == "yolo"
    lines += request("session/set_config_option", 7, sessionId=SESSION, configId="model", value="c")
    lines += response(7, {"configOptions": [{"id": "model", "currentValue": "c"}]})
    assert session(lines).run.model == "c"
    changed_later = [{"id": "model", "currentValue": "d"}, {"id": "effort", "currentValue": "low"}]
    assert session(lines, update("config_option_update", configOptions=changed_later)).run.model == "d"
    first = {
        "inputTokens": 10,
        "outputTokens": 5,
        "totalTokens": 118,
        "thoughtTokens": 3,
        "cachedReadTokens": 100,
    }
    second = {"inputTokens": 200, "outputTokens": 9, "totalTokens": 209, "cachedReadTokens": 150}
    read = session(
        DIRECT,
        update("usage_update", used=7, size=100, cost={"amount": 0.5, "currency": "USD"}),
        stopped(usage=first),
    )
    assert read.run.tokens == Tokens(110, 100, 8, 0.5, 7, 100)
    assert read.run.usage == first
    read = session(DIRECT, stopped(usage=first), prompt("x", 3), stopped("end_turn", 3, usage=second))
    assert read.run.tokens == Tokens(200, 150, 9)
    quota = {"quota": {"token_count": {"input_tokens": 3, "output_tokens": 4}}}
    gemini = session(DIRECT, stopped(_meta=quota), prompt("x", 3), stopped("end_turn", 3, _meta=quota))
    assert gemini.run.tokens == Tokens(6, None, 8)
    for cost in ({"amount": 1, "currency": "EUR"}, {"amount": "1", "currency": "USD"}, {"amount": -1}, {}):
        assert session(DIRECT, update("usage_update", used=-1, cost=cost)).run.tokens == Tokens()


def test_turns_follow_their_prompts_and_stop_reasons() -> None:
    """A turn begins with its prompt and ends with its stop reason, in the run of its session."""
    # A session that is created after a turn begins a run, before any prompt none. Loading replays it: a
    # history that is in the log is not added again.
    second = request("session/new", 7, cwd="/b") + response(7, {"sessionId": "ses-2"})
    read = session(DIRECT, chunk("One."), stopped(), second, prompt("Go.", 8, "ses-2"), stopped("refusal", 8))
    assert (len(read.runs), read.run.cwd, read.outcome) == (2, "/b", "failed")
    assert len(session(opening(), second, prompt("Go.", 8, "ses-2")).runs) == 1
    back = session(
        DIRECT, stopped(), second, prompt("Go.", 8, "ses-2"), stopped("end_turn", 8), prompt("x", 9)
    )
    assert [run.session_id for run in back.runs] == [SESSION, "ses-2", SESSION]
    twice = session(DIRECT, stopped(), opening("ses-3"))
    assert [run.session_id for run in twice.runs] == [SESSION, "ses-3"]
    history = chunk("Do it.", "user_message") + called(status="completed", kind="read") + chunk("Hi.")
    load = request("session/load", 8, sessionId=SESSION, cwd="/srv")
    done = response(8, {"modes": {"currentModeId": "plan"}})
    connect = request("initialize", 0, protocolVersion=1) + response(0, {"protocolVersion": 1})
    first = session(connect, load, history, done)
    assert (first.run.text, first.run.turns, len(first.calls), first.outcome) == ("Hi.", 1, 1, "unfinished")
    assert (first.run.cwd, first.run.permission_mode, first.run.session_id) == ("/srv", "plan", SESSION)
    more = session(connect, load, history, done, prompt("More.", 9), chunk("Yes."), stopped("end_turn", 9))
    assert (more.run.text, more.run.turns, more.outcome) == ("Hi.Yes.", 2, "succeeded")
    # What is replayed was counted in the log of its time.
    own = session(connect, load, history, done, prompt("More.", 9), called("own", status="completed"))
    counts = [(sum(calls_by_outcome(each).values()), each.run.copied_turns) for each in (first, more, own)]
    assert counts == [(0, 1), (0, 1), (1, 1)]
    again = session(
        DIRECT, called(status="completed", kind="read"), chunk("Hi."), stopped(), load, history, done
    )
    assert (again.run.text, again.run.turns, len(again.calls)) == ("Hi.", 1, 1)
    failed = session(DIRECT, chunk("Hi."), stopped(), load, refused(8, "gone"), chunk("Yes."))
    assert (failed.run.text, failed.last_error) == ("Hi.Yes.", "session/load: gone")
    # Only `end_turn` is a success. An unknown reason, and an error, are failures; without a response the
    # run is unfinished.
    cases: list[tuple[str, str]] = [
        ("end_turn", "succeeded"),
        ("cancelled", "cancelled"),
        ("max_tokens", "failed"),
        ("max_turn_requests", "failed"),
        ("refusal", "failed"),
    ]
    for reason, outcome in cases:
        with case(reason):
            read = session(DIRECT, stopped(reason))
            assert (read.outcome, read.run.result) == (outcome, reason if outcome == "failed" else None)
            assert read.lines.unknown == 0
    read = session(DIRECT, stopped("tired"))
    assert (read.outcome, read.run.result, read.lines.unknown) == ("failed", "tired", 1)
    further: list[tuple[object, str]] = [
        (None, "Internal error"),
        ("no quota", "Internal error: no quota"),
        ({"details": "no quota"}, "Internal error: no quota"),
        ({"message": "no quota"}, "Internal error: no quota"),
        ({"message": "Internal error"}, "Internal error"),
        ([1], "Internal error"),
    ]
    for data, message in further:
        with case(data):
            read = session(DIRECT, refused(2, "Internal error", data=data))
            assert (read.outcome, read.run.result) == ("failed", message)
            cancelled = session(DIRECT, refused(2, "cancelled", code=-32800))
            assert (cancelled.outcome, cancelled.run.result) == ("cancelled", None)
    assert session(DIRECT, chunk("Hm")).outcome == "unfinished"
    assert session(DIRECT, stopped(), prompt("More.", 3), chunk("Hm")).outcome == "unfinished"
    # Each prompt is a turn of the same run. An echo of a prompt is not. A queued prompt keeps the turn open.
    # Attachments are named, not dumped.
    read = session(DIRECT, chunk("One."), stopped(), prompt("More.", 3), chunk("Two."), stopped("refusal", 3))
    assert (len(read.runs), read.run.turns, read.outcome, read.run.text) == (1, 2, "failed", "One.Two.")
    lines = DIRECT + prompt("And this.", 3) + chunk("One.")
    assert session(lines, stopped(), is_over=False).outcome == "running"
    assert session(lines, stopped(), stopped("refusal", 3)).outcome == "failed"
    assert session(lines, stopped("end_turn", 3)).outcome == "succeeded"
    for pieces in [["Do it."], ["Do ", "it."], ["Do it.", ""]]:
        with case(pieces):
            echo = [chunk(piece, "user_message", messageId=f"m-{nth}") for nth, piece in enumerate(pieces)]
            assert session(DIRECT, *echo, chunk("Hi."), stopped()).run.turns == 1
            assert session(DIRECT, chunk("Also.", "user_message"), chunk("Hi.")).run.turns == 2
    blocks = [
        {"type": "text", "text": "See "},
        {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"},
        {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "long"}},
        {"type": "image", "mimeType": "image/png", "data": "eA=="},
        {"type": "audio"},
        7,
    ]
    read = session(opening(), request("session/prompt", 2, sessionId=SESSION, prompt=blocks))
    assert read.run.prompt == "See @a.txt@file:///b.txt[image/png 1 B][audio]"
    # Client and agent number their requests independently; without the client's lines, the agent's own
    # give turns, texts and outcome.
    ask = request("fs/read_text_file", 2, sessionId=SESSION, path="a.txt")
    assert session(DIRECT, ask, response(2, {"content": "x"}), is_over=False).outcome == "running"
    assert session(DIRECT, ask, response(2, {"content": "x"}), stopped()).outcome == "succeeded"
    assert session(DIRECT, ask, refused(2, "no file"), stopped()).outcome == "succeeded"
    assert session(DIRECT, ask, stopped(), is_over=False).outcome == "succeeded"
    assert session(opening(), ask, prompt(), refused(2, "no quota")).outcome == "failed"
    assert session(opening(), ask, stopped()).outcome == "succeeded"
    assert session(DIRECT, response(2, {})).outcome == "unfinished"
    other_lines = opening().splitlines(keepends=True)
    agents = other_lines[1] + other_lines[3]
    read = session(agents, chunk("Hi."), stopped(), chunk("More."), refused(3, "no quota"))
    assert (read.format, read.agent_name, read.run.session_id) == ("acp", "tern", SESSION)
    assert (read.run.turns, read.outcome, read.run.result) == (2, "failed", "no quota")
    assert session(agents, chunk("Go.", "user_message"), chunk("Hi."), stopped()).run.prompt == "Go."
    alone = session(agents, refused(3, "no auth"))
    assert (alone.run.turns, alone.last_error) == (0, "no auth")
    assert session(agents, stopped()).outcome == "succeeded"


def test_updates_and_methods_are_understood_or_counted() -> None:
    """What the protocol has is shown or silent, and what it does not have is unknown."""
    # Plans, notices and compactions are shown; commands and titles are known and silent.
    entry = {"content": "Measure", "status": "in_progress", "priority": "high"}
    read = session(
        DIRECT,
        update("plan", entries=[entry]),
        update("available_commands_update", availableCommands=[]),
        update("session_info_update", title="x"),
        update("_vendor/thing", x=1),
        update("notice", severity="warning", title="Rate limited", description="wait"),
        update("notice", severity="error"),
        update("compaction_update", compactionId="c", status="in_progress"),
        update("compaction_summary_chunk", compactionId="c"),
        update("compaction_update", compactionId="c", status="failed", error="too long"),
        update("compaction_update", compactionId="c", status="completed"),
        update("terminal_update", terminalId="t"),
    )
    assert [(each.text, each.status) for each in read.plan] == [("Measure", "in_progress")]
    assert read.lines.unknown == 0
    assert notices(read) == [
        "Rate limited: wait",
        "notice",
        "compaction failed: too long",
        "context compacted",
    ]
    plan = {"type": "items", "entries": [{"content": "Ship", "status": "completed"}]}
    assert session(DIRECT, update("plan_update", plan=plan)).plan[0].text == "Ship"
    assert session(DIRECT, update("plan_update", plan={})).plan == ()
    # A method, an update and a line that the protocol does not have are unknown; requests that show
    # nothing are understood.
    cases: list[bytes] = [
        update("mood_update"),
        update(""),
        request("session/update"),
        request("weather/today", 9),
        line({"jsonrpc": "2.0", "id": 4}),
        line({"type": "greeting"}),
        called(""),
    ]
    for unknown in cases:
        with case(unknown):
            assert session(DIRECT, unknown).lines.unknown == 1
    for method in ["_vendor/x", "$/cancel_request", "authenticate", "session/list", "fs/x"]:
        with case(method):
            read = session(
                DIRECT, request(method, 9), response(9, {}), request(method, 10), refused(10, "no")
            )
            assert read.lines.unknown == 0
            assert notices(read) == [f"{method}: no"]


LONG = "s" * 10_000


def test_messages_end_and_are_bounded(session_of: Callable[[bytes], Session]) -> None:
    """A message ends with its id or its turn, and no text or id grows without end."""
    # A new id ends a text; without ids, consecutive chunks are one, also an emoji that two of them split.
    # A burst of chunks gives the text of its lines.
    read = session(
        DIRECT,
        chunk("a", messageId="1"),
        chunk("b", messageId="1"),
        chunk("c", messageId="2"),
        chunk("d"),
    )
    assert [entry.text for entry in read.transcript if entry.kind is Kind.ANSWER] == ["ab", "cd"]
    picture = update(
        "agent_message_chunk", content={"type": "image", "mimeType": "image/png", "data": "eHh4"}
    )
    assert notices(session(DIRECT, picture)) == ["the agent attached [image/png 3 B]"]
    assert session(DIRECT, chunk("a\ud83d"), chunk("\ude80b"), stopped()).run.text == "a🚀b"
    assert session(DIRECT, chunk("a\ud83d", messageId="1"), chunk("b", messageId="2")).run.text == "a\ufffdb"
    assert session(DIRECT, chunk("a\ud83d"), stopped()).run.text == "a\ufffd"
    assert session(DIRECT, chunk("a\ud83d"), called(kind="read"), chunk("b")).run.text == "a\ufffdb"
    lines = b"".join(chunk(f"word {number} ") for number in range(500))
    thoughts = b"".join(chunk(f"thought {number} ", "agent_thought") for number in range(500))
    read = session_of(DIRECT + lines + thoughts + lines + called(kind="read", status="completed") + stopped())
    assert read.run.text == 2 * "".join(f"word {number} " for number in range(500))
    assert read.lines.total == 5 + 1500 + 2
    decoder = Decoder(agent_named("acp"))
    for each in DIRECT.splitlines():
        decoder.decode(each)
    rows = lines.splitlines(keepends=True)
    decoder.decode(rows[0])
    assert decoder.burst(rows, 1) is not None
    decoder.decode(changed(status="completed").rstrip())
    assert decoder.burst(rows, 1) is None
    # In the draft of version 2, an update ends the turn, and messages may be repeated as a whole.
    whole = [{"type": "text", "text": "Hello."}]
    read = session(
        request("initialize", 0, protocolVersion=2),
        response(0, {"protocolVersion": 2, "info": {"name": "tern", "version": "3"}}),
        request("session/new", 1, cwd="/a"),
        response(1, {"sessionId": SESSION, "configOptions": [{"configId": "model", "currentValue": "m"}]}),
        prompt(),
        update("user_message", messageId="u", content=[{"type": "text", "text": "Do it."}]),
        response(2, {"messageId": "u"}),
        update("state_update", state="running"),
        chunk("Hel", messageId="m-1"),
        chunk("lo.", messageId="m-1"),
        update("agent_message", messageId="m-1", content=whole),
        update("agent_message", messageId="m-2", content=whole),
        update("agent_thought", messageId="m-3", content=[{"type": "text", "text": "Hm."}]),
        update("terminal_update", terminalId="t", command="make", exitStatus={"exitCode": 2}),
        changed(kind="execute", status="pending", content=[{"type": "terminal", "terminalId": "t"}]),
        changed(status="completed"),
        update("state_update", state="idle"),
        update("state_update", state="idle", stopReason="end_turn"),
    )
    assert (read.run.text, read.run.turns, read.outcome) == ("Hello.Hello.", 1, "succeeded")
    assert read.run.model == "m"
    [call] = read.calls
    assert (call.target, call.exit_code, call.outcome) == ("make", 2, "failed")
    assert (read.lines.unknown, read.run.agent_version) == (0, "3")
    # Ids of ended calls, sessions, terminals and long texts beyond the limits are read, and each call
    # keeps its outcome.
    lines = b"".join(called(f"c-{number}", kind="read", status="completed") for number in range(5000))
    assert {call.outcome for call in session(DIRECT, lines).calls} == {"succeeded"}
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
    claude = {"_meta": {"claudeCode": {"parentToolUseId": "c-1"}}}
    pieces = b"".join(chunk("x" * 600_000, **claude) for _ in range(3))
    read = session(DIRECT, called(kind="think", status="pending"), pieces, stopped())
    assert sum(len(each.text) for each in read.transcript if each.parent == 1) == 1_800_000
    pieces = b"".join(chunk("x" * 600_000, "user_message") for _ in range(3))
    read = session(opening(), pieces, chunk("Hi."))
    assert len(read.run.prompt or "") == 1 << 20
    assert session(opening(), chunk("", "user_message"), chunk("Hi."), stopped()).run.turns == 1
    assert session(DIRECT, chunk("", "user_message", "kid"), stopped()).run.turns == 1
    ask = request(
        "session/request_permission", 0, sessionId=SESSION, options=[{"optionId": "x"}, 7], toolCall={}
    )
    read = session(DIRECT, ask, chose("x"), stopped())
    assert (read.questions.count, len(read.calls), read.lines.unknown) == (1, 0, 1)
    late = session(DIRECT, called(kind="read", status="completed"), permission(), chose("no"))
    assert late.calls[0].outcome == "succeeded"
