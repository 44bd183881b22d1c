"""Pi's stream: turns, texts, results, diffs and blocks."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from agentwatch.agents.pi.agent import AGENT, SESSION
from agentwatch.agents.pi.stream import MessageText, changed_lines, read_result, tool_named, unified
from agentwatch.agents.tool import Facts, Result
from agentwatch.session.blocks import (
    BinaryBlock,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    TextBlock,
)
from agentwatch.session.events import (
    Channel,
    Compaction,
    Notice,
    Outcome,
    Retry,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    ToolProgress,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from tests.agents.pi.lines import (
    HEADER,
    agent_end,
    assistant,
    call,
    delta,
    end,
    ended,
    entry,
    result,
    started,
    text,
    thought,
    update,
    user,
)
from tests.builders.agents.decoded import events_of, ids_in, session_of
from tests.conftest import case
from tests.harness.costs import takes_more

START: dict[str, Any] = {"type": "agent_start"}
STEP: dict[str, Any] = {"type": "turn_start"}
FAILED = assistant(stop="error", errorMessage="529 overloaded")
GOOD = assistant(text("Done."))


def test_nothing_is_said_twice() -> None:
    """A text that comes as deltas and at the end of its block, message, step and turn is one text."""
    message = assistant(thought("Hm."), text("I read."), usage={"input": 5, "cacheRead": 3, "output": 2})
    seen = session_of(
        None,
        *(HEADER, START, STEP, end(user("Go"))),
        *(delta("H", 0, "thinking"), delta("m.", 0, "thinking"), delta("I ", 1), delta("read.", 1)),
        *(update("thinking_end", 0, content="Hm."), update("text_end", 1, content="I read.")),
        end(message),
        {"type": "turn_end", "message": message, "toolResults": []},
        agent_end(user("Go"), message),
    )
    assert (seen.format, seen.text, seen.outcome, seen.run.turns) == ("pi", "I read.", "succeeded", 1)
    assert [(entry.kind.value, entry.text) for entry in seen.transcript][:3] == [
        ("prompt", "Go"),
        ("reasoning", "Hm."),
        ("answer", "I read."),
    ]
    assert (seen.run.tokens.input, seen.run.tokens.cached, seen.run.tokens.output) == (8, 3, 2)
    assert (seen.run.session_id, seen.run.cwd, seen.run.model) == ("s-1", "/w", "acme/m-1")


def test_only_the_delta_of_an_update_is_read() -> None:
    """The snapshots in an update are not looked into: a value there that cannot be read does no harm."""

    class Snapshot(dict[str, Any]):
        """An object that must not be read."""

        def get(self, key: str, default: object = None) -> object:
            raise AssertionError((key, default))

        __getitem__ = __iter__ = keys = values = items = get  # type: ignore[assignment]

    line = update("text_delta", 0, delta="x", partial=Snapshot())
    assert events_of(AGENT, {**line, "message": Snapshot()})[0] == Text(Channel.ANSWER, "x")


@pytest.mark.costs
def test_growing_snapshots_cost_time_by_their_bytes() -> None:
    """A stream of four times the bytes, because twice the deltas repeat twice the text, takes four times as
    long, and not sixteen times."""

    def stream(count: int) -> list[dict[str, Any]]:
        said, lines = "", []
        for number in range(count):
            piece = f"word {number} "
            said += piece
            message = assistant(text(said))
            lines.append({**update("text_delta", 0, delta=piece, partial=message), "message": message})
        return lines

    few, many = stream(250), stream(500)
    times = 3 * len(str(many)) / len(str(few))
    assert not takes_more(partial(session_of, AGENT, *many), times, partial(session_of, AGENT, *few), 0)


def test_a_call_has_its_arguments_its_output_and_its_exit_code() -> None:
    """The output of an open call is whole each time; the exit code is in Pi's own last line."""
    partial = {"type": "tool_execution_update", "toolCallId": "a|b", "toolName": "bash"}
    outputs = [{**partial, "partialResult": {"content": [text(words)]}} for words in ("1\n", "1\n2\n")]
    lines = [HEADER, START, started("a|b", "bash", command="make\ntest"), *outputs]
    events = events_of(AGENT, *lines)
    assert ToolProgress("a|b", None, "1\n2\n", is_whole=True) in events
    failed = ended("a|b", "bash", "1\n2\n\n\nCommand exited with code 3", is_error=True)
    seen = session_of(AGENT, *lines, failed).calls[0]
    assert (seen.target, seen.outcome, seen.exit_code, seen.error) == ("make", "failed", 3, "exit 3")


def test_the_last_message_decides_how_a_turn_ends() -> None:
    """The process of Pi exits with 0 even if the model has failed."""
    cases: list[tuple[str, Outcome, str | None]] = [
        ("stop", Outcome.SUCCEEDED, None),
        ("toolUse", Outcome.SUCCEEDED, None),
        ("error", Outcome.FAILED, "the model's request failed"),
        ("length", Outcome.FAILED, "the model's answer was cut at its length limit"),
        ("aborted", Outcome.CANCELLED, None),
    ]
    for stop, outcome, why in cases:
        with case((stop, outcome)):
            ended_turn = events_of(AGENT, HEADER, START, end(assistant(stop=stop)), agent_end())[-1]
            assert ended_turn == TurnEnded(outcome, why)
            alone = events_of(AGENT, START, agent_end(assistant(stop=stop, errorMessage="why")))[-1]
            assert alone == TurnEnded(outcome, "why" if stop not in ("stop", "toolUse") else None)


def test_a_turn_that_is_tried_again_is_one_turn() -> None:
    """A failure that the next line retries ends no turn, whether or not the failure says so."""
    retry = {
        "type": "auto_retry_start",
        "attempt": 1,
        "maxAttempts": 3,
        "delayMs": 2000,
        "errorMessage": "529",
    }
    ways: list[dict[str, Any]] = [{}, {"willRetry": True}]
    for more in ways:
        lines = [
            *(HEADER, START, end(user("Go")), end(FAILED), agent_end(FAILED, **more), retry),
            *(START, end(GOOD), agent_end(GOOD), {"type": "auto_retry_end", "success": True, "attempt": 1}),
        ]
        events = events_of(AGENT, *lines)
        assert [event for event in events if isinstance(event, TurnEnded | TurnStarted)] == [
            TurnStarted(),
            TurnEnded(Outcome.SUCCEEDED),
        ]
        assert Retry("529", 1, 3, 2000) in events
        assert (session_of(AGENT, *lines).run.turns, session_of(AGENT, *lines).outcome) == (1, "succeeded")


def test_a_failure_that_nothing_retries_ends_the_turn() -> None:
    """It ends at the next line that is about something else, or at the end of the stream."""
    over = TurnEnded(Outcome.FAILED, "529 overloaded")
    lines = [HEADER, START, end(FAILED), agent_end(FAILED)]
    assert events_of(AGENT, *lines)[-1] == over
    assert events_of(AGENT, *lines, {"type": "auto_compaction_start", "reason": "threshold"})[-2] == over
    assert session_of(AGENT, *lines, is_closed=False).outcome == "running"
    assert session_of(AGENT, *lines, {"type": "queue_update"}, is_closed=False).outcome == "failed"
    at_once = session_of(AGENT, *lines[:-1], agent_end(FAILED, willRetry=False), is_closed=False)
    assert at_once.outcome == "failed"


@pytest.mark.parametrize("prefix", ["", "auto_"])
def test_a_request_that_was_too_large_is_tried_again_after_a_compaction(prefix: str) -> None:
    """The compaction says whether the turn continues."""
    failed = [HEADER, START, end(FAILED), agent_end(FAILED)]
    start = {"type": f"{prefix}compaction_start", "reason": "overflow"}
    done = {"type": f"{prefix}compaction_end", "result": {"tokensBefore": 9, "estimatedTokensAfter": 4}}
    events = events_of(AGENT, *failed, start, {**done, "willRetry": True}, START, end(GOOD), agent_end(GOOD))
    assert [event for event in events if isinstance(event, TurnEnded)] == [TurnEnded(Outcome.SUCCEEDED)]
    assert Compaction(is_over=False, trigger="overflow") in events
    assert Compaction(is_over=True, tokens_before=9, tokens_after=4) in events
    given_up = events_of(AGENT, *failed, start, {**done, "willRetry": False})
    assert TurnEnded(Outcome.FAILED, "529 overloaded") in given_up


def test_a_compaction_that_failed_says_why() -> None:
    """It has no result, but an error, or it was interrupted."""
    line = {"type": "compaction_end", "willRetry": False}
    words: list[dict[str, Any]] = [{"errorMessage": "too long"}, {"aborted": True}, {}]
    found = [events_of(AGENT, {**line, **more})[1] for more in words]
    assert found == [Notice(f"compaction failed: {why}") for why in ("too long", "aborted", "no result")]


def test_a_retry_that_was_given_up_ends_the_turn() -> None:
    """The turn waits for the retry, which is cancelled or fails; `agent_settled` ends what is left open."""
    waiting = [HEADER, START, end(FAILED), agent_end(FAILED, willRetry=True)]
    given_up = {"type": "auto_retry_end", "success": False, "attempt": 1, "finalError": "Retry cancelled"}
    settled = {"type": "agent_settled"}
    assert events_of(AGENT, *waiting, given_up, settled)[-1] == TurnEnded(Outcome.FAILED, "Retry cancelled")
    assert events_of(AGENT, *waiting, settled)[-1] == TurnEnded(Outcome.FAILED, "529 overloaded")
    assert events_of(AGENT, START, settled)[-1] == TurnEnded(Outcome.SUCCEEDED)
    assert events_of(AGENT, given_up) == events_of(AGENT, settled) == []


def test_a_prompt_while_the_agent_works_is_a_turn_of_the_same_run() -> None:
    """A message that steers the agent is a second prompt, without a second end."""
    seen = session_of(
        AGENT, HEADER, START, end(user("Go")), end(user([text("Stop")])), end(GOOD), agent_end()
    )
    assert (seen.run.turns, seen.outcome, len(seen.runs)) == (2, "succeeded", 1)


def test_a_second_header_begins_a_second_run() -> None:
    """Two streams in one file are two runs, whose calls may have the same ids."""
    one = [HEADER, START, end(user("Go")), started("c", "ls"), ended("c", "ls"), end(GOOD), agent_end()]
    seen = session_of(None, *one, *one)
    assert (len(seen.runs), ids_in(seen), seen.text) == (2, ["c", "c"], "Done.Done.")
    assert [made.target for made in seen.calls] == [".", "."]


def test_other_lines_report_what_they_contain_and_nothing_else() -> None:
    """Errors of extensions and the user's commands are notices; other lines are silent or unknown."""
    assert events_of(AGENT, {"type": "extension_error", "error": "boom"}) == [Notice("boom", is_error=True)]
    assert events_of(AGENT, {"type": "notice", "message": "hi"}) == [Notice("hi")]
    assert events_of(AGENT, {"type": "notice"}) == [Notice("an extension failed")]
    own = {"role": "bashExecution", "command": "ls -la\n", "exitCode": 1}
    assert events_of(AGENT, end(own)) == [Notice("! ls -la (exit 1)")]
    assert events_of(AGENT, end({**own, "cancelled": True})) == [Notice("! ls -la (cancelled)")]
    assert events_of(AGENT, end({"role": "bashExecution"})) == [Notice("! ")]
    assert events_of(AGENT, end({"role": "toolResult"}), {"type": "entry_appended"}) == []
    assert events_of(AGENT, {"type": "weather"}, {"type": 7}) == [Unknown("type weather"), Unknown("type 7")]
    assert events_of(AGENT, update("start"), update("done"), update("toolcall_delta", delta="{")) == []
    assert events_of(AGENT, update("text_delta"), update("text_end", content="")) == []


def test_the_model_is_said_when_it_changes() -> None:
    """A message without a provider has the model's name alone."""
    other = {"role": "assistant", "content": [], "model": "m-2"}
    events = events_of(AGENT, HEADER, end(GOOD), end(GOOD), end(other))
    assert [event for event in events if isinstance(event, RunInfo | RunStarted)] == [
        RunStarted("pi", session_id="s-1", cwd="/w"),
        RunInfo(model="acme/m-1"),
        RunInfo(model="m-2"),
    ]


def test_a_message_that_was_cut_ends_its_text() -> None:
    """A text without an end does not go on in the next message."""
    events = events_of(AGENT, delta("Hal"), {"type": "message_start"}, delta("Hello"), HEADER)
    assert events[:3] == [
        Text(Channel.ANSWER, "Hal"),
        TextEnded(Channel.ANSWER),
        Text(Channel.ANSWER, "Hello"),
    ]
    assert events[3] == TextEnded(Channel.ANSWER)


def test_calls_of_one_step_have_one_group() -> None:
    """The calls that one model step requests run in parallel."""
    lines = [STEP, started("a", "ls"), started("b", "ls"), STEP, started("c", "ls")]
    seen = session_of(AGENT, START, *lines)
    assert [made.group for made in seen.calls] == ["1", "1", "2"]


def test_a_tool_call_in_a_message_is_no_call_of_its_own() -> None:
    """Only its execution is."""
    seen = session_of(AGENT, START, end(assistant(call("c", "ls"), stop="toolUse")))
    assert ids_in(seen) == []


def test_the_answers_to_commands_have_the_id_and_the_failures() -> None:
    """In the mode rpc, a command that failed is a notice, and the state has the id of the session."""
    state = {"type": "response", "id": "1", "command": "get_state", "success": True}
    failed = {"type": "response", "command": "compact", "success": False, "error": "too small"}
    found = events_of(
        AGENT,
        {**state, "data": {"sessionId": "s-9"}},
        {**state, "data": None},
        {**state, "command": "prompt", "data": {"sessionId": "s-8"}},
        failed,
        {"type": "response", "success": False},
    )
    assert found == [
        RunInfo(session_id="s-9"),
        Notice("compact failed: too small", is_error=True),
        Notice("a command failed: no reason given", is_error=True),
    ]


ANSWER, REASONING = Channel.ANSWER, Channel.REASONING


def test_a_message_without_deltas_is_said_by_its_end() -> None:
    """A stream that was cut, or that has no deltas, has the whole message."""
    seen = session_of(AGENT, end(assistant(thought("Hm."), text("One."), text("Two."))), agent_end())
    assert seen.text == "One.Two."
    assert [entry.text for entry in seen.transcript][:3] == ["Hm.", "One.", "Two."]
    assert session_of(AGENT, end({"role": "assistant", "content": "Old."})).text == "Old."


def test_the_end_of_a_block_completes_its_deltas() -> None:
    """What the deltas lack at their end is added, also to a thought that is not the last block."""
    seen = session_of(
        AGENT,
        delta("Hm", 0, "thinking"),
        delta("One", 1),
        update("thinking_end", 0, content="Hm."),
        update("text_end", 1, content="One."),
        update("text_end", 2, content="Two."),
        end(assistant(thought("Hm."), text("One."), text("Two."))),
    )
    assert seen.text == "One.Two."
    cut = [delta("Hm", 0, "thinking"), delta("One", 1), update("thinking_end", 0, content="Hm.")]
    seen = session_of(AGENT, *cut, update("text_end", 1, content="One."))
    assert [entry.text for entry in seen.transcript] == ["Hm", "One", ".", "."]


def test_a_message_that_differs_from_its_deltas_replaces_them() -> None:
    """The answers from the first that differs on are said again; what came before stays."""
    seen = session_of(
        AGENT,
        end(assistant(text("Before."))),
        *(delta("One.", 0), delta("Tow.", 1), delta("Three.", 2)),
        update("text_end", 1, content="Two."),
        end(assistant(text("One."), text("Two."), text("Three."))),
    )
    assert seen.text == "Before.One.Two.Three."
    lacking = session_of(AGENT, delta("Two.", 1), end(assistant(text("One."), text("Two."))))
    assert lacking.text == "One.Two."


def test_a_text_is_only_retracted_if_it_was_said() -> None:
    """A block that no delta had is new; an end without texts leaves the deltas as they are."""
    message = MessageText()
    assert message.add(0, ANSWER, "A") == [Text(ANSWER, "A")]
    assert message.end([(0, ANSWER, "A"), (1, ANSWER, "B")]) == [
        TextEnded(ANSWER),
        Text(ANSWER, "B"),
        TextEnded(ANSWER),
    ]
    message.add(0, ANSWER, "A")
    assert message.end([]) == [TextEnded(ANSWER)]
    message.add(0, ANSWER, "A")
    assert message.end([(0, ANSWER, "B")])[1] == TextRetracted(1)


def test_an_older_block_waits_for_the_end_of_its_message() -> None:
    """The end of an answer that is not the last block adds nothing; an empty block adds nothing either."""
    message = MessageText()
    message.add(0, ANSWER, "A")
    assert message.add(1, ANSWER, "B") == [TextEnded(ANSWER), Text(ANSWER, "B")]
    assert message.end_block(0, ANSWER, "AA") == []
    assert message.end_block(1, ANSWER, "C") == message.end_block(2, ANSWER, "") == []


def test_only_the_last_blocks_of_a_message_are_kept() -> None:
    """Of a hundred blocks the first are forgotten; the last are still compared."""
    message = MessageText()
    for index in range(100):
        message.add(index, REASONING, "x")
    assert message.end_block(99, REASONING, "xy") == [Text(REASONING, "y")]
    assert message.end_block(0, REASONING, "x") == [TextEnded(REASONING), Text(REASONING, "x")]


def test_half_an_emoji_is_replaced_by_the_whole_message() -> None:
    """Deltas that split an emoji are shown with a mark until the message repeats them whole."""
    seen = session_of(AGENT, delta("go \ud83d"), delta("\ude80"), end(assistant(text("go 🚀"))))
    assert seen.text == "go 🚀"


def test_a_failure_has_its_reason() -> None:
    """Interruptions and refusals are distinguished by Pi's own words."""
    cases: list[tuple[str, str, Result]] = [
        ("bash", "x\n\nCommand exited with code 3", Result(Outcome.FAILED, "exit 3", 3)),
        ("bash", "Command exited with code -1\n", Result(Outcome.FAILED, "exit -1", -1)),
        (
            "bash",
            "Command exited with code 3\nmore",
            Result(Outcome.FAILED, "Command exited with code 3\nmore"),
        ),
        ("bash", "Command exited with code x", Result(Outcome.FAILED, "Command exited with code x")),
        ("bash", "Command exited with code 99999", Result(Outcome.FAILED, "Command exited with code 99999")),
        ("read", "Command exited with code 3", Result(Outcome.FAILED, "Command exited with code 3")),
        (
            "bash",
            "a\nCommand timed out after 5 seconds",
            Result(Outcome.FAILED, "Command timed out after 5 seconds"),
        ),
        ("bash", "a\n\nCommand aborted", Result(Outcome.CANCELLED, "Command aborted")),
        ("grep", "Operation aborted", Result(Outcome.CANCELLED, "Operation aborted")),
        ("edit", "Tool execution was blocked", Result(Outcome.REJECTED, "Tool execution was blocked")),
        ("edit", "", Result(Outcome.FAILED, "the tool failed")),
    ]
    for name, words, found in cases:
        with case((name, words)):
            assert read_result(tool_named(name), result(words), is_error=True) == found


def test_a_result_without_a_flag_only_returned() -> None:
    """Neither success nor failure is assumed."""
    for flag in (None, "no", 0):
        found = read_result(tool_named("bash"), result("Command exited with code 3"), flag)
        assert (found.outcome, found.exit_code) == (Outcome.RETURNED, None)


def test_a_success_has_its_facts() -> None:
    """Lines are counted if the whole file was read; Pi's remark on lines that it left out is not a line."""
    cases: list[tuple[str, Any, dict[str, Any], Facts]] = [
        ("read", [{"type": "text", "text": "a\nb\n"}], {}, Facts("2 lines")),
        ("read", [{"type": "text", "text": "a\nb"}], {}, Facts("2 lines")),
        ("read", [{"type": "text", "text": "a\n\n[9 more lines in file]"}], {}, Facts()),
        ("read", [{"type": "image", "data": "AAAA"}], {}, Facts("1 image")),
        ("read", "a\n", {}, Facts("1 line")),
        ("read", [], {}, Facts()),
        ("ls", [{"type": "text", "text": "a\nb\n"}], {}, Facts()),
        ("edit", [], {"diff": " 1 a\n-2 b\n+2 c\n+3 d"}, Facts(lines_added=2, lines_removed=1)),
        ("edit", [], {"diff": 7}, Facts()),
    ]
    for name, content, details, facts in cases:
        with case((name, content, details)):
            found = read_result(tool_named(name), {"content": content, "details": details}, is_error=False)
            assert found == Result(Outcome.SUCCEEDED, facts=facts)


def test_a_written_file_has_the_lines_of_its_arguments() -> None:
    """The result only has the number of bytes; a call that failed has no lines."""
    lines = [HEADER, started("a", "write", path="/w/x.md", content="1\n2\n"), ended("a", "write")]
    seen = session_of(AGENT, *lines).calls[0]
    assert (seen.target, seen.path, seen.note) == ("x.md", "/w/x.md", "2 lines")
    failed = session_of(AGENT, *lines[:2], ended("a", "write", "no", is_error=True)).calls[0]
    assert (failed.note, failed.error) == (None, "no")


def test_an_edit_of_several_files_has_all_their_paths() -> None:
    """The target names them, relative to the cwd; tools that are not known show their main argument."""
    edits = [{"path": "/w/a"}, {"path": "b"}, {"path": "/w/a"}, 7]
    seen = session_of(
        AGENT,
        HEADER,
        started("1", "edit", edits=edits),
        started("2", "mine", query="x"),
        started("3", "find"),
    )
    assert [(made.target, made.path, made.more_paths) for made in seen.calls] == [
        ("a, b", "/w/a", ("b",)),
        ("mine x", None, ()),
        (None, None, ()),
    ]


def test_the_written_lines_of_few_open_calls_are_kept() -> None:
    """Of 1,100 calls that never end, the first are forgotten, and one with a huge id is not kept."""
    many = [started(f"c{number}", "write", path="x", content="1\n") for number in range(1100)]
    huge = "h" * 2000
    ends = [ended("c0", "write"), ended("c1099", "write"), ended(huge, "write")]
    seen = session_of(AGENT, *many, started(huge, "write", path="x", content="1\n"), *ends)
    assert [seen.calls[number].note for number in (0, 1099, 1100)] == [None, "1 line", None]


def test_newer_versions_give_the_exit_code() -> None:
    """The exit code of a command is read from the structured content, also if the command succeeded."""
    cases: list[tuple[str, object, bool, tuple[Outcome, int | None], str | None]] = [
        ("bash", 0, False, (Outcome.SUCCEEDED, 0), None),
        ("bash", 7, True, (Outcome.FAILED, 7), "exit 7"),
        ("bash", 0, True, (Outcome.FAILED, 0), "x"),
        ("bash", [7], False, (Outcome.SUCCEEDED, None), None),
        ("read", 7, False, (Outcome.SUCCEEDED, None), None),
    ]
    for name, code, is_error, outcome, error in cases:
        with case((name, code, is_error)):
            given = {**result("x"), "structuredContent": {"output": "x", "exit_code": code}}
            found = read_result(tool_named(name), given, is_error)
            assert ((found.outcome, found.exit_code), found.error) == (outcome, error)
            of_fork = {**result("x"), "details": {"status": "completed", "exitCode": code}}
            assert read_result(tool_named("exec" if name == "bash" else name), of_fork, is_error) == found


def test_a_command_that_exited_with_another_code_than_0_failed() -> None:
    """Agents that are built on Pi may not set the flag."""
    for flag in (False, None):
        found = read_result(tool_named("exec"), {**result("x"), "details": {"exitCode": 7}}, flag)
        assert (found.outcome, found.exit_code, found.error) == (Outcome.FAILED, 7, "exit 7")


NUMBERED = """\
    ...
  9 i
-10 old
+10 new
+11 more
 11 k
    ...
 40 x
-41 gone"""


def test_a_numbered_diff_becomes_hunks() -> None:
    """Left out lines divide the hunks; the second begins later in the new file by what the first added."""
    assert unified({"diff": NUMBERED}) == "\n".join(
        [
            *("@@ -9,3 +9,4 @@", " i", "-old", "+new", "+more", " k"),
            *("@@ -40,2 +41,1 @@", " x", "-gone"),
        ]
    )
    assert changed_lines({"diff": NUMBERED}) == (2, 2)


def test_an_added_line_has_its_new_number() -> None:
    """A hunk that begins with an added line begins at that line of the new file."""
    assert unified({"diff": "+1 a\n+2 b"}) == "@@ -1,0 +1,2 @@\n+a\n+b"
    assert unified({"diff": "+0 a"}) == "@@ -0,0 +0,1 @@\n+a"


def test_other_forms_are_kept() -> None:
    """A unified diff of a newer version is used as it is; so is a diff that has no numbers."""
    assert unified({"diff": NUMBERED, "patch": "@@ -1 +1 @@\n-a\n+b"}) == "@@ -1 +1 @@\n-a\n+b"
    assert unified({"diff": "-a\n+b"}) == "-a\n+b"
    assert unified({}) is None
    assert changed_lines({}) == (None, None)


def test_short_arguments_are_one_block() -> None:
    """Texts of several lines follow, each by itself; the content of a file is a change."""
    line = started("c", "write", path="a", content="1\n2", remark="x\ny", empty="")
    assert list(AGENT.blocks(line, "c")) == [
        ChangeBlock(None, after="1\n2"),
        FieldsBlock("arguments", {"path": "a"}),
        TextBlock("remark", "x\ny"),
    ]
    assert list(AGENT.blocks(started("c", "ls"), "c")) == []


def test_a_message_has_the_arguments_of_each_of_its_calls() -> None:
    """Only those of the call that is asked for are shown."""
    line = entry("e", None, assistant(call("a", "ls", path="x"), call("b", "ls", path="y"), stop="toolUse"))
    assert list(SESSION.blocks(line, "b")) == [FieldsBlock("arguments", {"path": "y"})]
    assert list(SESSION.blocks(line, "c")) == []


def test_a_result_is_what_its_tool_returns() -> None:
    """Output of a command, the content of a file, a diff, or why it failed."""
    results = {
        ("bash", "x\n", True): [OutputBlock("stdout", "x\n")],
        ("bash", "", False): [],
        ("read", "x\n", False): [ContentBlock("x\n")],
        ("read", "", False): [],
        ("write", "ok", False): [TextBlock("result", "ok")],
        ("read", "no", True): [ErrorBlock("no")],
        ("read", "", True): [ErrorBlock("the tool failed")],
    }
    for (name, words, is_error), expected in results.items():
        assert list(AGENT.blocks(ended("c", name, words, is_error=is_error), "c")) == expected
    edited = ended("c", "edit", "ok", diff="-1 a\n+1 b", firstChangedLine=1)
    assert list(AGENT.blocks(edited, "c")) == [
        ChangeBlock("@@ -1,1 +1,1 @@\n-a\n+b"),
        FieldsBlock("result", {"firstChangedLine": 1}),
    ]


def test_an_image_is_named_with_its_size() -> None:
    """Its data is never shown, in a session file as in the stream."""
    parts = [{"type": "image", "data": "AAA=", "mimeType": "image/png"}, {"type": "image"}]
    message = {"role": "toolResult", "toolName": ["?"], "content": parts, "isError": False}
    assert list(SESSION.blocks(entry("e", None, message), "c")) == [
        BinaryBlock("image/png", 2),
        BinaryBlock("image", None),
    ]
