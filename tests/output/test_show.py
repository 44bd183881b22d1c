"""One call in full: its facts, its arguments and its result, as text and as JSON."""

import json
import os
from typing import Any

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.output import show as shown_call
from agentwatch.output.show import State, call_json, call_text, state_json, state_text
from agentwatch.output.summary import call_members, whole_summary
from agentwatch.recording.lines import LineReader, Until
from agentwatch.recording.saved import open_saved
from agentwatch.session.actions import action
from agentwatch.session.events import Outcome
from agentwatch.text.safe import safe_line
from agentwatch.text.times import date_and_time
from tests.analysis.episodes.calls import edit, read, shell
from tests.analysis.episodes.calls import written as episode_lines
from tests.builders.captures import Captures
from tests.builders.claude_lines import written
from tests.builders.formats.samples import KNOWN, named, of_a_format
from tests.builders.lines import completed, delta, feed_of, init, result, started, user
from tests.builders.on_disk import cursor_transcript as cursor
from tests.builders.on_disk import transcript
from tests.conftest import RECORDINGS, Saver, case

REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected"

LONG = "\n".join(f"line {number}" for number in range(30_000))
SHELL = {"success": {"exitCode": 0, "stdout": f"{LONG}\n\x1b[2Jend"}}


def fed(recording: Saver, *lines: bytes) -> Feed:
    """Return the feed of a recording with these lines, which has read all of it."""
    return feed_of(recording(*lines))


def test_a_call_is_printed_in_full(recording: Saver) -> None:
    """The text has number, action, outcome, tool, times and the whole result, and is safe."""
    feed = fed(
        recording,
        init(),
        started("shell", "c-1", 1_770_823_449_000, command="make all"),
        completed("shell", "c-1", SHELL, 1_770_823_451_500, command="make all"),
        result(),
    )
    lines = [*map(str, call_text(feed, feed.session.calls[0]))]
    assert lines[0] == "#1 Ran terminal command make all"
    assert lines[1] == "outcome: succeeded"
    assert lines[2] == "verdict: green (exit), make: make succeeded"
    assert lines[3] == "tool: shell (execute), call_id c-1"
    assert lines[4].endswith("took: 2.5 s")
    assert lines[5:8] == ["", "── arguments", "command: make all"]
    assert "line 0" in lines
    assert "line 29999" in lines
    assert lines[lines.index("line 29999") + 1] == "␛[2Jend"
    # A call without an end is running, for as long as the given time is after its start.
    feed = fed(recording, init(), started("shell", "c-1", command="sleep 600"))
    call = feed.session.calls[0]
    assert "outcome: unfinished" in list(call_text(feed, call))
    live = feed_of(recording(init(), started("shell", "c-1", command="sleep 600")), follow=True)
    call = live.session.calls[0]
    assert call.started is not None
    call.started = call.started._replace(seen_ms=1_000_000)
    call.output = "so far"
    shown = list(call_text(live, call, 1_075_000))
    assert shown[3].endswith("· running: 1:15")
    assert shown[-2:] == ["── output so far, its last 4,096 characters", "so far"]
    # The call that started the subagent is named by its number.
    feed = feed_of(RECORDINGS / "demo.ndjson")
    call = feed.session.calls[3]
    call.parent = 2
    assert "made by the subagent of #2" in list(call_text(feed, call))
    call.parent = 0
    assert "made by the subagent of a call that the recording does not contain" in list(call_text(feed, call))
    # If the file has changed since it was read, what is there now is printed. The action cuts its target to
    # 200 columns; the whole target follows on a line of its own.
    feed = fed(recording, init(), started("shell", "c-1", command="x"))
    call = feed.session.calls[0]
    assert call.started is not None
    recording(init(), b"#" * (call.started.length + 1))
    assert json.loads(call_json(feed, call))["arguments"] == "#" * call.started.length
    assert "#" * call.started.length in list(call_text(feed, call))
    command = "echo " + "word " * 100 + "end"
    feed = fed(recording, init(), started("shell", "c-1", command=command))
    line_1, line_2 = list(call_text(feed, feed.session.calls[0]))[:2]
    assert "end" not in line_1
    assert line_2 == f"target: {command}"


def test_the_json_has_what_the_stream_sent(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The object is the call's of the summary, with `arguments` and `result` unchanged."""
    # Cursor's own file has no results: the next line ends a call, and may have an equal one.
    for after in (cursor.said("Done."), cursor.called(), cursor.user("On"), cursor.ended()):
        with case(repr(after)):
            feed = fed(recording, written(cursor.user("Go"), cursor.called(), after))
            call = feed.session.calls[0]
            assert call.outcome is Outcome.RETURNED
            assert json.loads(call_json(feed, call))["result"] is None
            assert [line for line in call_text(feed, call) if "──" in line] == ["── arguments"]
    # Numbers over 64 bits and half surrogate pairs are printed.
    values: tuple[Any, ...] = (1 << 80, {"a": [{}]}, "\ud83d")
    for value in values:
        with case(ascii(value)):
            feed = fed(recording, init(), started("read", "c", x=value))
            found = json.loads(call_json(feed, feed.session.calls[0]))
            assert "x" in found["arguments"]
            assert list(call_text(feed, feed.session.calls[0]))
    feed = fed(recording, init(), started("shell", "c-1", command="x"), completed("shell", "c-1", SHELL))
    call = feed.session.calls[0]
    found = json.loads(call_json(feed, call))
    assert found.pop("arguments") == {"command": "x"}
    assert found.pop("result") == SHELL
    assert found == {"version": 1, **call_members(call)}
    assert b"\x1b" not in call_json(feed, call)
    # The result of a call without an end, and the arguments of one without a start, are found or null.
    feed = fed(
        recording, init(), started("shell", "a", command="x"), completed("shell", "b", SHELL, command="y")
    )
    first, second = (json.loads(call_json(feed, call)) for call in feed.session.calls)
    assert (first["arguments"], first["result"]) == ({"command": "x"}, None)
    assert (second["arguments"], second["result"]) == ({"command": "y"}, SHELL)
    # Some transcripts have results.
    feed = fed(recording, written(cursor.user("Go"), cursor.called(), cursor.returned("ok")))
    call = feed.session.calls[0]
    assert json.loads(call_json(feed, call))["result"] == [{"type": "tool_result", "content": "ok"}]
    assert [line for line in call_text(feed, call) if "── result" in line]
    # The line that decides how a call of Claude Code ended may be about another.
    refused = transcript.returned("t-1", REFUSAL, is_error=True, toolDenialKind="user-rejected")
    stopped = transcript.user("[Request interrupted by user for tool use]", interruptedMessageId="m")
    feed = fed(recording, written(transcript.user("Go"), transcript.call("t-1"), refused, stopped))
    call = feed.session.calls[0]
    assert call.outcome is Outcome.CANCELLED
    assert json.loads(call_json(feed, call))["result"] is None
    # Arguments that no printer accepts do not end the program.
    for levels in (200, 900):
        inner = b'{"a":' * levels + b"1" + b"}" * levels
        feed = fed(recording, init(), started("read", "c", x="INNER").replace(b'"INNER"', inner))
        assert len(feed.session.calls) == 1
        for call in feed.session.calls:
            assert b'"call_id":' in call_json(feed, call)
    # Of a line that is too long to be parsed, the JSON has the place.
    monkeypatch.setattr(shown_call, "MOST_LINE_BYTES", 200)
    feed = fed(recording, init(), started("shell", "c-1", command="x"), completed("shell", "c-1", SHELL))
    call = feed.session.calls[0]
    assert call.ended is not None
    found = json.loads(call_json(feed, call))
    assert found["result"] == {"bytes": call.ended.length, "offset": call.ended.offset}


@pytest.mark.slow
def test_each_format_has_calls_in_full(captures: Captures, recording: Saver) -> None:
    """Calls of every format are printed as text and as JSON; each whose result is in a line has one."""
    formats = set()
    for path, data, name in of_a_format(captures):
        with case(path):
            reader = open_saved(recording(data))
            feed = Feed(reader, agent=named(name))
            feed.advance()
            for call in list(feed.session.calls)[:20]:
                formats.add(name)
                found = json.loads(call_json(feed, call))
                assert (found["result"] is None) <= (call.result_place is None)
                lines = list(call_text(feed, call))
                assert lines[0] == f"#{call.number} {action(call)}"
                assert lines == [safe_line(line) for line in lines]
            os.close(reader.fd)
    assert formats >= (KNOWN - {"claude-family"} if captures.is_own else {"codex", "pi"})


CALLS = (shell("make", 2), shell("make", 2), shell("make"), *[shell("npm test", 1)] * 3, edit("a.py"))


def test_episodes_have_calls_and_what_is_not_fixed_is_first(recording: Saver) -> None:
    """An episode has a number, a kind, words, its calls, the tries, its duration, and how it stands. The
    state has a part for trouble, and none without trouble.
    """
    feed = feed_of(recording(episode_lines(*CALLS)), follow=True)
    state = json.loads(b"".join(state_json(State(feed, 1, 1, None))))
    fixed, open_failure, unread = state["episodes"]
    assert fixed == {
        "number": 1,
        "kind": "failure",
        "words": "fixed on try 3, 21.0 s: make",
        "first_call": 1,
        "last_call": 3,
        "tries": 3,
        "duration_ms": 21_000,
        "fixed": True,
        "over": True,
    }
    assert (open_failure["number"], open_failure["fixed"], open_failure["over"]) == (2, False, False)
    assert (unread["kind"], unread["duration_ms"]) == ("unread", None)
    feed = feed_of(recording(episode_lines(*CALLS)), follow=True)
    lines = [str(line) for line in state_text(State(feed, 1, 1, None))]
    at = lines.index("── trouble")
    assert lines[at - 1 : at + 4] == [
        "",
        "── trouble",
        "not fixed yet, 3 tries, 21.0 s: npm test",
        "edited without reading: a.py",
        "fixed on try 3, 21.0 s: make",
    ]
    calm = feed_of(recording(episode_lines(read("a.py"))), follow=True)
    assert "── trouble" not in list(state_text(State(calm, 1, 1, None)))


DONE = {"success": {"exitCode": 0}}
TODOS = {"todos": [{"id": "1", "content": "Look", "status": "TODO_STATUS_IN_PROGRESS"}]}
LINES = (
    init("/home/dev/mill"),
    user("Mend the\nmill."),
    delta("Let me look.\n"),
    delta("\x1b[2JHalf a sen"),
    completed("updateTodos", "c-1", {"success": TODOS}, 1_000_000, **TODOS),
    started("shell", "c-2", 1_001_000, command="make"),
    completed("shell", "c-2", DONE, 1_009_000, command="make"),
    result("Done."),
)


def state(recording: Saver, count: int, at_ms: int | None) -> State:
    """Return the state after the first `count` lines."""
    reader = open_saved(recording(*LINES))
    offset, size = sum(map(len, LINES[:count])), sum(map(len, LINES))
    feed = Feed(LineReader(reader.fd, Until(offset), reader.times))
    feed.advance()
    assert feed.offset == offset
    return State(feed, offset, size, at_ms)


def test_a_state_is_that_of_its_moment(recording: Saver) -> None:
    """The text has the place, the agent, the words of then, the open calls with their clock, and the text. A
    moment in the middle of a line is the one before the line, and nothing has ended. Before the first line
    nothing is known.
    """
    shown = state(recording, 6, 1_003_500)
    assert list(state_text(shown)) == [
        f"at {date_and_time(1_003_500)} · byte {shown.offset:,} of {shown.size:,}",
        "cursor · Auto · default · /home/dev/mill",
        "session s-1",
        "prompt: Mend the␊mill.",
        "running make",
        "2 calls, 1 running",
        "  #2 Ran terminal command make (running) · 0:02",
        "",
        "── to-do list",
        "◐ Look",
        "",
        "── last lines of the text",
        "Let me look.",
        "␛[2JHalf a sen",
    ]
    reader = open_saved(recording(*LINES))
    for cut in (1, len(LINES[1]) - 1):
        feed = Feed(LineReader(reader.fd, Until(len(LINES[0]) + cut), reader.times))
        feed.advance()
        assert (feed.offset, feed.is_over) == (len(LINES[0]), False)
        assert feed.session.run.prompt is None
    lines = list(state_text(state(recording, 0, None)))
    assert lines == [
        f"at unknown · byte 0 of {sum(map(len, LINES)):,}",
        "waiting for the first event",
        "0 calls",
    ]
    # The JSON has the summary's members, the time, the offset and the status. Of a long text, the last ten
    # lines that are not blank are printed.
    shown = state(recording, 6, 1_003_500)
    found = json.loads(b"".join(state_json(shown)))
    assert (found.pop("at_ms"), found.pop("offset")) == (1_003_500, shown.offset)
    assert (found.pop("status"), found.pop("episodes")) == ("running make", [])
    assert found == json.loads(b"".join(whole_summary(shown.feed)))
    assert [call["outcome"] for call in found["calls"]] == ["succeeded", "running"]
    text = "".join(f"line {number}\n\n" for number in range(1000))
    feed = feed_of(recording(init(), delta(text[:3000]), delta(text[3000:])))
    lines = list(state_text(State(feed, 1, 1, None)))
    assert lines[-11:] == ["── last lines of the text", *(f"line {number}" for number in range(990, 1000))]
