"""The state of a session at a moment, as text and as JSON."""

from __future__ import annotations

import json

from agentwatch.feed.feed import Feed
from agentwatch.output.show import State, state_json, state_text
from agentwatch.output.summary import whole_summary
from agentwatch.recording.lines import LineReader, Until
from agentwatch.recording.saved import open_saved
from agentwatch.text.times import date_and_time
from tests.builders.lines import completed, delta, init, result, started, user
from tests.conftest import Saver

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


def test_a_state_has_everything_as_it_was(recording: Saver) -> None:
    """The text has the place, the agent, the words of then, the open calls with their clock, and the text."""
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


def test_a_part_of_a_line_is_not_read(recording: Saver) -> None:
    """A moment in the middle of a line is the one before the line, and nothing has ended."""
    reader = open_saved(recording(*LINES))
    for cut in (1, len(LINES[1]) - 1):
        feed = Feed(LineReader(reader.fd, Until(len(LINES[0]) + cut), reader.times))
        feed.advance()
        assert (feed.offset, feed.is_over) == (len(LINES[0]), False)
        assert feed.session.run.prompt is None


def test_the_start_has_no_session(recording: Saver) -> None:
    """Before the first line nothing is known."""
    lines = list(state_text(state(recording, 0, None)))
    assert lines == [
        f"at unknown · byte 0 of {sum(map(len, LINES)):,}",
        "waiting for the first event",
        "0 calls",
    ]


def test_the_json_is_the_summary_of_then(recording: Saver) -> None:
    """The JSON has the summary's members, the time, the offset and the status."""
    shown = state(recording, 6, 1_003_500)
    found = json.loads(b"".join(state_json(shown)))
    assert (found.pop("at_ms"), found.pop("offset")) == (1_003_500, shown.offset)
    assert (found.pop("status"), found.pop("episodes")) == ("running make", [])
    assert found == json.loads(b"".join(whole_summary(shown.feed)))
    assert [call["outcome"] for call in found["calls"]] == ["succeeded", "running"]


def test_a_long_text_has_its_last_lines(recording: Saver) -> None:
    """Of a long text, the last ten lines that are not blank are printed."""
    text = "".join(f"line {number}\n\n" for number in range(1000))
    feed = Feed(open_saved(recording(init(), delta(text[:3000]), delta(text[3000:]))))
    feed.advance()
    lines = list(state_text(State(feed, 1, 1, None)))
    assert lines[-11:] == ["── last lines of the text", *(f"line {number}" for number in range(990, 1000))]
