"""The entries of Mistral Vibe: lines of a stream, and the changes in a journal."""

from typing import Any

import orjson

from agentwatch.agents import LineRole
from agentwatch.agents.vibe.agent import AGENT, JOURNAL, RECORD
from agentwatch.agents.vibe.entries import JournalDecoder, VibeDecoder, entry_blocks, record_blocks
from agentwatch.session.blocks import ChangeBlock, ContentBlock, ErrorBlock, OutputBlock, PlanBlock
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Permission,
    Plan,
    Prompt,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Unknown,
    Usage,
)
from tests.conftest import case

Json = dict[str, Any]


def entry(kind: Any, key: str, status: str = "completed", /, **fields: Any) -> Json:
    times = {"createdAt": 1000, "updatedAt": 1500}
    return {"id": key, "sessionId": "s", **times, "generationStatus": status, "type": kind, **fields}


def message(role: str, words: str, key: str = "m", **fields: Any) -> Json:
    content = [{"type": "text", "text": words}]
    return entry("message", key, role=role, content=content, **fields)


def effect(name: str, given: Json, status: str = "completed", key: str = "e", **state: Any) -> Json:
    detail = {"toolName": name, "kind": "tool", "input": given}
    return entry("effect", key, detail=detail, state={"status": status, **state})


def change(op: str, **fields: Any) -> Json:
    return {RECORD: 1, "type": "projection_delta", "payload": {"delta": [{"op": op, **fields}]}}


def decoded(*lines: Json) -> list[Event]:
    decoder = VibeDecoder()
    return [event for line in lines for event in decoder.decode(line)][1:] + decoder.end()


def test_both_formats_are_recognised() -> None:
    """An entry has the status of its generation, and a line of a journal the version of its record."""
    started = effect("file_system.bash", {})
    for line, role in (
        (message("user", "x"), LineRole.START),
        (message("assistant", "x"), LineRole.OTHER),
        (started, LineRole.CALL),
    ):
        with case(line):
            assert (AGENT.recognises(line), AGENT.role(line)) == (True, role)
            record = change("append_entry", entry=line)
            assert (JOURNAL.recognises(record), JOURNAL.role(record)) == (True, role)
    assert not AGENT.recognises({"type": "message"})
    assert not JOURNAL.recognises({"type": "projection_delta"})
    assert JOURNAL.time_of is not None
    assert JOURNAL.time_of(change("append_entry", entry=started)) == 1500
    assert JOURNAL.time_of(change("set_envelope", state={"session": {"updatedAt": 7}})) == 7
    assert JOURNAL.time_of(change("set_facts")) is None


def test_messages_are_read() -> None:
    """Prompts, answers and thoughts are shown when they are complete, and what was discarded is not."""
    assert VibeDecoder().decode(message("user", "Run ls.")) == [RunStarted("vibe", "s"), Prompt("Run ls.")]
    thought = entry("reasoning", "r", text="Hm")
    assert decoded(thought, message("assistant", "I do.")) == [
        Text(Channel.REASONING, "Hm", 1500),
        TextEnded(Channel.REASONING, 1500),
        Text(Channel.ANSWER, "I do.", 1500),
        TextEnded(Channel.ANSWER, 1500),
    ]
    for silent in (
        message("system", "x"),
        message("assistant", "x", outcome={"type": "discarded"}),
        entry("message", "m", "in_progress", role="user", content=[{"text": "x"}]),
        entry("notice", "n", level="info", message="x"),
        entry("checkpoint", "k", kind="plan"),
    ):
        with case(silent):
            assert decoded(silent) == []
    assert decoded(entry("notice", "n", level="error")) == [Notice("notice", 1500, is_error=True)]
    assert decoded(entry("checkpoint", "k", kind="context_compacted")) == [
        Compaction(is_over=True, at_ms=1500)
    ]
    assert decoded(entry("new", "x")) == [Unknown("type new")]


def test_calls_are_read() -> None:
    """An entry starts and ends a call; a command that fails is complete, with the code of a journal."""
    made = {"structured_content": {"returncode": 3, "stdout": "", "stderr": "oops\n"}}
    cases: list[tuple[str, Json, Outcome, int | None, str | None]] = [
        ("file_system.bash", {"output": {"stdout": "a"}}, Outcome.SUCCEEDED, None, None),
        ("file_system.bash", {"output": made}, Outcome.FAILED, 3, "exit 3"),
        ("file_system.bash", {"display": {"success": False}, "outputText": "no"}, Outcome.FAILED, None, "no"),
        ("x", {"status": "failed", "error": {"message": "no"}}, Outcome.FAILED, None, "no"),
        ("x", {"status": "cancelled", "reason": "stop"}, Outcome.CANCELLED, None, "stop"),
        ("x", {"status": "skipped", "display": {"message": "no"}}, Outcome.REJECTED, None, "no"),
        ("x", {"status": "new"}, Outcome.RETURNED, None, "came back without a status"),
    ]
    for name, state, outcome, code, error in cases:
        with case(state):
            started, ended = decoded(effect(name, {"command": "ls"}, **{"status": "completed", **state}))
            assert isinstance(started, ToolStarted)
            assert isinstance(ended, ToolEnded)
            assert (ended.outcome, ended.exit_code, ended.error) == (outcome, code, error)
            assert (started.at_ms, ended.at_ms) == (1000, 1500)


def test_an_edit_and_a_list_are_read() -> None:
    """The texts that an edit replaces count its lines; a new file is one; a list is that of its arguments."""
    edits = {"filePath": "/w/a", "changes": [{"oldString": "b", "newString": "c\nd"}]}
    _, ended = decoded(effect("file_system.search_replace", edits))
    assert isinstance(ended, ToolEnded)
    assert (ended.lines_added, ended.lines_removed, ended.is_new_file) == (2, 1, False)
    _, ended = decoded(effect("file_system.write_file", {}, output={"fileExisted": False}))
    assert isinstance(ended, ToolEnded)
    assert ended.is_new_file
    todos = {"todos": [{"content": "One", "status": "completed"}]}
    _, _, plan = decoded(effect("vibe.todo", todos))
    assert isinstance(plan, Plan)
    assert [each.text for each in plan.entries] == ["One"]


def test_a_call_in_a_journal_runs_until_it_is_replaced() -> None:
    """An entry that runs starts its call, its complete one ends it, and a repeated one is not read again."""
    running = change("append_entry", entry=effect("file_system.bash", {"command": "ls"}, "running"))
    done = change("replace_entry", entry=effect("file_system.bash", {"command": "ls"}), id="e")
    decoder = JournalDecoder()
    found = [event for line in (running, done, done) for event in decoder.decode(line)]
    assert [type(event) for event in found] == [RunStarted, ToolStarted, ToolEnded]


def test_a_question_has_its_answer() -> None:
    """A callback asks, and has the decision once it is answered."""
    call = {"toolName": "file_system.bash", "input": {"command": "ls"}}
    detail = {"kind": "approval", "effect": call, "relatedEntryId": "e", "reason": "risky"}
    answered = {"status": "answered", "output": {"decision": {"type": "approve"}}}
    asked = entry("callback", "q", callbackId="k", title="t", detail=detail, state={"status": "open"})
    assert decoded(asked, {**asked, "state": answered}) == [
        Permission("file_system.bash", None, "risky", 1500, "k", "e", "ls"),
        Permission("file_system.bash", "approve", "risky", 1500, "k", "e", "ls"),
    ]
    [question] = decoded(entry("callback", "q", state={"status": "expired"}))
    assert question == Permission("question", "expired", at_ms=1500, key="q", target="question")


def test_a_question_in_a_journal_has_its_answer() -> None:
    """A record of its own asks, and another one answers."""
    call = {"toolName": "file_system.bash", "input": {"command": "ls"}}
    asked = entry("callback", "q", callbackId="k", detail={"effect": call}, state={"status": "open"})
    records: list[Json] = [
        {"type": "callback_registered", "payload": {"callback_id": "k", "routing": asked}},
        {
            "type": "callback_resolved",
            "payload": {"callback_id": "k", "result": {"output": {"decision": {"type": "approve"}}}},
        },
        {"type": "callback_resolved", "payload": {}},
    ]
    decoder = JournalDecoder()
    assert [each for record in records for each in decoder.decode({RECORD: 1, **record})] == [
        Permission("file_system.bash", None, at_ms=1500, key="k", target="ls"),
        Permission("file_system.bash", "approve", key="k"),
        Permission("question", "answered"),
    ]


def test_the_state_of_a_session_is_read() -> None:
    """Its sums are those of the run; a turn ends once; what is beside the journal has the folder."""
    usage = {"inputTokens": 30, "cachedInputTokens": 10, "outputTokens": 5}
    session = {"id": "s", "updatedAt": 9, "tokenUsage": usage, "contextUsage": {"inputTokens": 20}}
    failed = {"id": "t", "status": "failed", "startedAt": 5, "completedAt": 9, "error": {"message": "400"}}
    state = change("set_envelope", state={"session": session, "latestTurn": failed})
    facts = {"session_id": "s", "environment": {"working_directory": "/w"}, "config": {"active_model": "m"}}
    decoder = JournalDecoder()
    found = [
        each for line in (change("set_facts", facts=facts), state, state) for each in decoder.decode(line)
    ]
    assert found[:2] == [RunStarted("vibe-journal", "s"), RunInfo(model="m", cwd="/w")]
    [counted] = [each for each in found if isinstance(each, Usage)]
    assert (counted.tokens.input, counted.tokens.context_used) == (30, 20)
    assert found[-1] == TurnEnded(Outcome.FAILED, "400", duration_ms=4)
    # Sums that are nested too deeply to be compared do not end the session.
    for _ in range(2):
        nested = orjson.loads("[" * 990 + "]" * 990)
        session = {"tokenUsage": {**usage, "other": nested}}
        assert decoder.decode(change("set_envelope", state={"session": session})) == []
    for turn, ended in (
        ({"status": "in_progress"}, []),
        ({"id": "u", "status": "interrupted"}, [TurnEnded(Outcome.CANCELLED)]),
    ):
        assert decoder.decode(change("set_envelope", state={"latestTurn": turn})) == ended
    assert decoder.decode(change("move_entry")) == [Unknown("op move_entry")]
    assert decoder.decode({"type": "x"}) == [Unknown("type x")]


def test_the_detail_of_a_call() -> None:
    """An entry has the arguments and the result; one that runs has only the arguments."""
    made = {"structured_content": {"returncode": 3, "stdout": "a\n", "stderr": "oops\n"}}
    failed = effect("file_system.bash", {"command": "ls"}, output=made)
    assert [*entry_blocks(failed, "e")][1:] == [ErrorBlock("exit 3"), OutputBlock("stdout", "a\noops\n")]
    assert len([*entry_blocks(effect("file_system.bash", {"command": "ls"}, "running"), "e")]) == 1
    edits = {"filePath": "/w/a", "changes": [{"oldString": "b", "newString": "c"}]}
    assert isinstance(next(entry_blocks(effect("edit", edits), "e")), ChangeBlock)
    assert isinstance(next(entry_blocks(effect("todo", {"todos": [{"content": "x"}]}), "e")), PlanBlock)
    read = effect("file_system.read_file", {}, output={"content": "text"})
    assert [*record_blocks(change("append_entry", entry=read), "e")] == [ContentBlock("text")]
    assert [*record_blocks(change("append_entry", entry=read), "other")] == []
