"""Sessions, prompts and their ends in the Agent Client Protocol."""

from __future__ import annotations

import pytest

from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.formats.acp import (
    SESSION,
    called,
    changed,
    chunk,
    opening,
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
    """Return the notices in a transcript."""
    return [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]


def test_the_run_has_the_facts_of_its_session() -> None:
    """The agent's name and version, the mode, the model and the folder come from the responses."""
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


def test_the_mode_and_the_model_may_change() -> None:
    """Updates, and requests that the agent confirms, replace the mode and the model."""
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


def test_the_stop_reason_decides() -> None:
    """Only `end_turn` is a success; a failure has the reason as its message."""
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


def test_an_unknown_stop_reason_is_a_failure() -> None:
    """A reason that this version does not know is no success, and is counted as unknown."""
    read = session(DIRECT, stopped("tired"))
    assert (read.outcome, read.run.result, read.lines.unknown) == ("failed", "tired", 1)


def test_an_error_ends_the_turn() -> None:
    """The error of a prompt is a failure with its message and details."""
    cases: list[tuple[object, str]] = [
        (None, "Internal error"),
        ("no quota", "Internal error: no quota"),
        ({"details": "no quota"}, "Internal error: no quota"),
        ({"message": "no quota"}, "Internal error: no quota"),
        ({"message": "Internal error"}, "Internal error"),
        ([1], "Internal error"),
    ]
    for data, message in cases:
        with case(data):
            read = session(DIRECT, refused(2, "Internal error", data=data))
            assert (read.outcome, read.run.result) == ("failed", message)
            cancelled = session(DIRECT, refused(2, "cancelled", code=-32800))
            assert (cancelled.outcome, cancelled.run.result) == ("cancelled", None)


def test_a_run_without_a_response_is_unfinished() -> None:
    """A stream that ends within a turn has no result."""
    assert session(DIRECT, chunk("Hm")).outcome == "unfinished"
    assert session(DIRECT, stopped(), prompt("More.", 3), chunk("Hm")).outcome == "unfinished"


def test_turns_continue_a_run() -> None:
    """Each prompt of a session is a turn of the same run."""
    read = session(DIRECT, chunk("One."), stopped(), prompt("More.", 3), chunk("Two."), stopped("refusal", 3))
    assert (len(read.runs), read.run.turns, read.outcome, read.run.text) == (1, 2, "failed", "One.Two.")


def test_a_queued_prompt_keeps_the_turn_open() -> None:
    """The response to a prompt ends the run only if no later prompt waits for one."""
    lines = DIRECT + prompt("And this.", 3) + chunk("One.")
    assert session(lines, stopped(), is_over=False).outcome == "running"
    assert session(lines, stopped(), stopped("refusal", 3)).outcome == "failed"
    assert session(lines, stopped("end_turn", 3)).outcome == "succeeded"


@pytest.mark.parametrize("pieces", [["Do it."], ["Do ", "it."], ["Do it.", ""]])
def test_the_echo_of_a_prompt_is_no_prompt(pieces: list[str]) -> None:
    """An agent may repeat the prompt that the client sent; a message that differs is another prompt."""
    echo = [chunk(piece, "user_message", messageId=f"m-{nth}") for nth, piece in enumerate(pieces)]
    assert session(DIRECT, *echo, chunk("Hi."), stopped()).run.turns == 1
    assert session(DIRECT, chunk("Also.", "user_message"), chunk("Hi.")).run.turns == 2


def test_the_attachments_of_a_prompt_are_named() -> None:
    """Files and images in a prompt are named, not dumped."""
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


def test_a_log_of_the_agent_alone_has_its_turns() -> None:
    """Without the client's lines, the agent's own lines give session, turns, texts and outcome."""
    lines = opening().splitlines(keepends=True)
    agents = lines[1] + lines[3]
    read = session(agents, chunk("Hi."), stopped(), chunk("More."), refused(3, "no quota"))
    assert (read.format, read.agent_name, read.run.session_id) == ("acp", "tern", SESSION)
    assert (read.run.turns, read.outcome, read.run.result) == (2, "failed", "no quota")
    assert session(agents, chunk("Go.", "user_message"), chunk("Hi."), stopped()).run.prompt == "Go."
    alone = session(agents, refused(3, "no auth"))
    assert (alone.run.turns, alone.last_error) == (0, "no auth")
    assert session(agents, stopped()).outcome == "succeeded"


def test_client_and_agent_number_their_requests_independently() -> None:
    """Of two open requests with one id, the result says which one it answers; else the later is answered."""
    ask = request("fs/read_text_file", 2, sessionId=SESSION, path="a.txt")
    assert session(DIRECT, ask, response(2, {"content": "x"}), is_over=False).outcome == "running"
    assert session(DIRECT, ask, response(2, {"content": "x"}), stopped()).outcome == "succeeded"
    assert session(DIRECT, ask, refused(2, "no file"), stopped()).outcome == "succeeded"
    assert session(DIRECT, ask, stopped(), is_over=False).outcome == "succeeded"
    assert session(opening(), ask, prompt(), refused(2, "no quota")).outcome == "failed"
    assert session(opening(), ask, stopped()).outcome == "succeeded"
    assert session(DIRECT, response(2, {})).outcome == "unfinished"


def test_what_is_unknown_is_counted() -> None:
    """A method, an update and a line that the protocol does not have are unknown."""
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


def test_known_methods_are_silent() -> None:
    """Requests that show nothing, and those that agents add, are understood; so are their errors."""
    for method in ["_vendor/x", "$/cancel_request", "authenticate", "session/list", "fs/x"]:
        with case(method):
            read = session(
                DIRECT, request(method, 9), response(9, {}), request(method, 10), refused(10, "no")
            )
            assert read.lines.unknown == 0
            assert notices(read) == [f"{method}: no"]


def test_messages_end_with_their_id() -> None:
    """A new message id ends a text; without ids, consecutive chunks are one text."""
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


def test_half_an_emoji_waits_for_its_other_half() -> None:
    """An emoji that two chunks split is joined; a half that stays alone becomes U+FFFD."""
    assert session(DIRECT, chunk("a\ud83d"), chunk("\ude80b"), stopped()).run.text == "a🚀b"
    assert session(DIRECT, chunk("a\ud83d", messageId="1"), chunk("b", messageId="2")).run.text == "a\ufffdb"
    assert session(DIRECT, chunk("a\ud83d"), stopped()).run.text == "a\ufffd"
    assert session(DIRECT, chunk("a\ud83d"), called(kind="read"), chunk("b")).run.text == "a\ufffdb"


def test_version_2_of_the_protocol_is_read() -> None:
    """In the draft of version 2, an update ends the turn, and messages may be repeated as a whole."""
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
