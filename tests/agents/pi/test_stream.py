"""Pi's stream: turns, texts, results, diffs and blocks."""

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


def test_a_turn_ends_once() -> None:
    """The last message decides, unless the turn is tried again or continues after a compaction."""
    # The process of Pi exits with 0 even if the model has failed.
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
    # A failure that the next line retries ends no turn. Another ends it at the next line about something
    # else, or when the retry is given up.
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
    over = TurnEnded(Outcome.FAILED, "529 overloaded")
    lines = [HEADER, START, end(FAILED), agent_end(FAILED)]
    assert events_of(AGENT, *lines)[-1] == over
    assert events_of(AGENT, *lines, {"type": "auto_compaction_start", "reason": "threshold"})[-2] == over
    assert session_of(AGENT, *lines, is_closed=False).outcome == "running"
    assert session_of(AGENT, *lines, {"type": "queue_update"}, is_closed=False).outcome == "failed"
    at_once = session_of(AGENT, *lines[:-1], agent_end(FAILED, willRetry=False), is_closed=False)
    assert at_once.outcome == "failed"
    waiting = [HEADER, START, end(FAILED), agent_end(FAILED, willRetry=True)]
    given_up = {"type": "auto_retry_end", "success": False, "attempt": 1, "finalError": "Retry cancelled"}
    settled = {"type": "agent_settled"}
    assert events_of(AGENT, *waiting, given_up, settled)[-1] == TurnEnded(Outcome.FAILED, "Retry cancelled")
    assert events_of(AGENT, *waiting, settled)[-1] == TurnEnded(Outcome.FAILED, "529 overloaded")
    assert events_of(AGENT, START, settled)[-1] == TurnEnded(Outcome.SUCCEEDED)
    assert events_of(AGENT, given_up) == events_of(AGENT, settled) == []
    # The compaction says whether the turn continues; one that failed has an error, or was interrupted.
    for prefix in ["", "auto_"]:
        with case(prefix):
            failed = [HEADER, START, end(FAILED), agent_end(FAILED)]
            start = {"type": f"{prefix}compaction_start", "reason": "overflow"}
            done = {
                "type": f"{prefix}compaction_end",
                "result": {"tokensBefore": 9, "estimatedTokensAfter": 4},
            }
            events = events_of(
                AGENT, *failed, start, {**done, "willRetry": True}, START, end(GOOD), agent_end(GOOD)
            )
            assert [event for event in events if isinstance(event, TurnEnded)] == [
                TurnEnded(Outcome.SUCCEEDED)
            ]
            assert Compaction(is_over=False, trigger="overflow") in events
            assert Compaction(is_over=True, tokens_before=9, tokens_after=4) in events
            other_given_up = events_of(AGENT, *failed, start, {**done, "willRetry": False})
            assert TurnEnded(Outcome.FAILED, "529 overloaded") in other_given_up
    line = {"type": "compaction_end", "willRetry": False}
    words: list[dict[str, Any]] = [{"errorMessage": "too long"}, {"aborted": True}, {}]
    found = [events_of(AGENT, {**line, **more})[1] for more in words]
    assert found == [Notice(f"compaction failed: {why}") for why in ("too long", "aborted", "no result")]
    # A message that steers is a second prompt without a second end; a second header is a second run. A
    # message without a provider has the model's name alone.
    seen = session_of(
        AGENT, HEADER, START, end(user("Go")), end(user([text("Stop")])), end(GOOD), agent_end()
    )
    assert (seen.run.turns, seen.outcome, len(seen.runs)) == (2, "succeeded", 1)
    one = [HEADER, START, end(user("Go")), started("c", "ls"), ended("c", "ls"), end(GOOD), agent_end()]
    seen = session_of(None, *one, *one)
    assert (len(seen.runs), ids_in(seen), seen.text) == (2, ["c", "c"], "Done.Done.")
    assert [made.target for made in seen.calls] == [".", "."]
    other = {"role": "assistant", "content": [], "model": "m-2"}
    events = events_of(AGENT, HEADER, end(GOOD), end(GOOD), end(other))
    assert [event for event in events if isinstance(event, RunInfo | RunStarted)] == [
        RunStarted("pi", session_id="s-1", cwd="/w"),
        RunInfo(model="acme/m-1"),
        RunInfo(model="m-2"),
    ]


def test_calls_and_other_lines_report_what_they_contain() -> None:
    """A call has its output, and other lines are notices, silent or unknown."""
    # The output of an open call is whole each time; the exit code is in Pi's last line. Calls of one step
    # are parallel; a request is not a call of its own.
    partial = {"type": "tool_execution_update", "toolCallId": "a|b", "toolName": "bash"}
    outputs = [{**partial, "partialResult": {"content": [text(words)]}} for words in ("1\n", "1\n2\n")]
    lines = [HEADER, START, started("a|b", "bash", command="make\ntest"), *outputs]
    events = events_of(AGENT, *lines)
    assert ToolProgress("a|b", None, "1\n2\n", is_whole=True) in events
    failed = ended("a|b", "bash", "1\n2\n\n\nCommand exited with code 3", is_error=True)
    seen = session_of(AGENT, *lines, failed).calls[0]
    assert (seen.target, seen.outcome, seen.exit_code, seen.error) == ("make\ntest", "failed", 3, "exit 3")
    lines = [STEP, started("a", "ls"), started("b", "ls"), STEP, started("c", "ls")]
    later_seen = session_of(AGENT, START, *lines)
    assert [made.group for made in later_seen.calls] == ["1", "1", "2"]
    other_seen = session_of(AGENT, START, end(assistant(call("c", "ls"), stop="toolUse")))
    assert ids_in(other_seen) == []
    # Errors of extensions, the user's commands and failures of rpc are notices; other lines are silent or
    # unknown. The state has the id.
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


def test_each_text_is_there_once() -> None:
    """The end of a block completes, repeats or replaces its deltas."""
    # A text that comes as deltas and at the end of its block, message, step and turn is one text;
    # snapshots are not looked into.
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

    class Snapshot(dict[str, Any]):
        """An object that must not be read."""

        def get(self, key: str, default: object = None) -> object:
            raise AssertionError((key, default))

        __getitem__ = __iter__ = keys = values = items = get  # type: ignore[assignment]

    line = update("text_delta", 0, delta="x", partial=Snapshot())
    assert events_of(AGENT, {**line, "message": Snapshot()})[0] == Text(Channel.ANSWER, "x")
    # What the deltas lack is added, also to a thought that is not the last block, or as the whole
    # message. A text without an end does not go on in the next.
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
    seen = session_of(AGENT, end(assistant(thought("Hm."), text("One."), text("Two."))), agent_end())
    assert seen.text == "One.Two."
    assert [entry.text for entry in seen.transcript][:3] == ["Hm.", "One.", "Two."]
    assert session_of(AGENT, end({"role": "assistant", "content": "Old."})).text == "Old."
    events = events_of(AGENT, delta("Hal"), {"type": "message_start"}, delta("Hello"), HEADER)
    assert events[:3] == [
        Text(Channel.ANSWER, "Hal"),
        TextEnded(Channel.ANSWER),
        Text(Channel.ANSWER, "Hello"),
    ]
    assert events[3] == TextEnded(Channel.ANSWER)
    seen = session_of(AGENT, delta("go \ud83d"), delta("\ude80"), end(assistant(text("go 🚀"))))
    assert seen.text == "go 🚀"
    # The answers from the first that differs on are said again, if they were said. Of a hundred blocks
    # the last are compared; an older block waits for the end of its message.
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
    later_message = MessageText()
    assert later_message.add(0, ANSWER, "A") == [Text(ANSWER, "A")]
    assert later_message.end([(0, ANSWER, "A"), (1, ANSWER, "B")]) == [
        TextEnded(ANSWER),
        Text(ANSWER, "B"),
        TextEnded(ANSWER),
    ]
    later_message.add(0, ANSWER, "A")
    assert later_message.end([]) == [TextEnded(ANSWER)]
    later_message.add(0, ANSWER, "A")
    assert later_message.end([(0, ANSWER, "B")])[1] == TextRetracted(1)
    further_message = MessageText()
    further_message.add(0, ANSWER, "A")
    assert further_message.add(1, ANSWER, "B") == [TextEnded(ANSWER), Text(ANSWER, "B")]
    assert further_message.end_block(0, ANSWER, "AA") == []
    assert further_message.end_block(1, ANSWER, "C") == further_message.end_block(2, ANSWER, "") == []
    other_message = MessageText()
    for index in range(100):
        other_message.add(index, REASONING, "x")
    assert other_message.end_block(99, REASONING, "xy") == [Text(REASONING, "y")]
    assert other_message.end_block(0, REASONING, "x") == [TextEnded(REASONING), Text(REASONING, "x")]


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


def test_a_call_has_its_reason_facts_and_blocks() -> None:
    """Its result says why it failed, what it changed, and what is shown."""
    # Interruptions and refusals are distinguished by Pi's own words; without a flag nothing is assumed,
    # unless there is an exit code.
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
    for flag in (None, "no", 0):
        found = read_result(tool_named("bash"), result("Command exited with code 3"), flag)
        assert (found.outcome, found.exit_code) == (Outcome.RETURNED, None)
    for flag in (False, None):
        found = read_result(tool_named("exec"), {**result("x"), "details": {"exitCode": 7}}, flag)
        assert (found.outcome, found.exit_code, found.error) == (Outcome.FAILED, 7, "exit 7")
    further: list[tuple[str, object, bool, tuple[Outcome, int | None], str | None]] = [
        ("bash", 0, False, (Outcome.SUCCEEDED, 0), None),
        ("bash", 7, True, (Outcome.FAILED, 7), "exit 7"),
        ("bash", 0, True, (Outcome.FAILED, 0), "x"),
        ("bash", [7], False, (Outcome.SUCCEEDED, None), None),
        ("read", 7, False, (Outcome.SUCCEEDED, None), None),
    ]
    for name, code, is_error, outcome, error in further:
        with case((name, code, is_error)):
            given = {**result("x"), "structuredContent": {"output": "x", "exit_code": code}}
            found = read_result(tool_named(name), given, is_error)
            assert ((found.outcome, found.exit_code), found.error) == (outcome, error)
            of_fork = {**result("x"), "details": {"status": "completed", "exitCode": code}}
            assert read_result(tool_named("exec" if name == "bash" else name), of_fork, is_error) == found
    # Lines are counted if the whole file was read, or in the arguments of a write that succeeded; of
    # 1,100 open calls the first are forgotten. An edit has all its paths.
    others: list[tuple[str, Any, dict[str, Any], Facts]] = [
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
    for name, content, details, facts in others:
        with case((name, content, details)):
            found = read_result(tool_named(name), {"content": content, "details": details}, is_error=False)
            assert found == Result(Outcome.SUCCEEDED, facts=facts)
    lines = [HEADER, started("a", "write", path="/w/x.md", content="1\n2\n"), ended("a", "write")]
    seen = session_of(AGENT, *lines).calls[0]
    assert (seen.target, seen.path, seen.note) == ("x.md", "/w/x.md", "2 lines")
    failed = session_of(AGENT, *lines[:2], ended("a", "write", "no", is_error=True)).calls[0]
    assert (failed.note, failed.error) == (None, "no")
    edits = [{"path": "/w/a"}, {"path": "b"}, {"path": "/w/a"}, 7]
    later_seen = session_of(
        AGENT,
        HEADER,
        started("1", "edit", edits=edits),
        started("2", "mine", query="x"),
        started("3", "find"),
    )
    assert [(made.target, made.path, made.more_paths) for made in later_seen.calls] == [
        ("a, b", "/w/a", ("b",)),
        ("mine x", None, ()),
        (None, None, ()),
    ]
    many = [started(f"c{number}", "write", path="x", content="1\n") for number in range(1100)]
    huge = "h" * 2000
    ends = [ended("c0", "write"), ended("c1099", "write"), ended(huge, "write")]
    other_seen = session_of(AGENT, *many, started(huge, "write", path="x", content="1\n"), *ends)
    assert [other_seen.calls[number].note for number in (0, 1099, 1100)] == [None, "1 line", None]
    # Left out lines divide the hunks, each with its numbers; a unified diff is used as it is.
    assert unified({"diff": NUMBERED}) == "\n".join(
        [
            *("@@ -9,3 +9,4 @@", " i", "-old", "+new", "+more", " k"),
            *("@@ -40,2 +41,1 @@", " x", "-gone"),
        ]
    )
    assert changed_lines({"diff": NUMBERED}) == (2, 2)
    assert unified({"diff": "+1 a\n+2 b"}) == "@@ -1,0 +1,2 @@\n+a\n+b"
    assert unified({"diff": "+0 a"}) == "@@ -0,0 +0,1 @@\n+a"
    assert unified({"diff": NUMBERED, "patch": "@@ -1 +1 @@\n-a\n+b"}) == "@@ -1 +1 @@\n-a\n+b"
    assert unified({"diff": "-a\n+b"}) == "-a\n+b"
    assert unified({}) is None
    assert changed_lines({}) == (None, None)
    # Long texts follow, those of the call that is asked for; a result is output, a content, a diff, or
    # why it failed. An image's data is never shown.
    line = started("c", "write", path="a", content="1\n2", remark="x\ny", empty="")
    assert list(AGENT.blocks(line, "c")) == [
        ChangeBlock(None, after="1\n2"),
        FieldsBlock("arguments", {"path": "a"}),
        TextBlock("remark", "x\ny"),
    ]
    assert list(AGENT.blocks(started("c", "ls"), "c")) == []
    line = entry("e", None, assistant(call("a", "ls", path="x"), call("b", "ls", path="y"), stop="toolUse"))
    assert list(SESSION.blocks(line, "b")) == [FieldsBlock("arguments", {"path": "y"})]
    assert list(SESSION.blocks(line, "c")) == []
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
    parts = [{"type": "image", "data": "AAA=", "mimeType": "image/png"}, {"type": "image"}]
    message = {"role": "toolResult", "toolName": ["?"], "content": parts, "isError": False}
    assert list(SESSION.blocks(entry("e", None, message), "c")) == [
        BinaryBlock("image/png", 2),
        BinaryBlock("image", None),
    ]
