"""Which agent wrote a recording is decided by lines that only one agent can have written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentwatch.feed import Feed
from agentwatch.recording import open_saved
from agentwatch.session import Session
from agentwatch.wire import Decoder
from agentwatch.wire.agents import agent_named
from tests.builders.lines import delta, event, final, init, result, segment, started, thought, user
from tests.conftest import RECORDINGS, SHARED, Saver

OTHERS = sorted((SHARED / "agents").rglob("*.jsonl")) + sorted((SHARED / "disk").rglob("*.jsonl"))
CURSORS = [
    *sorted((SHARED / "cursor").glob("*.ndjson")),
    *sorted((SHARED / "docs").glob("*.ndjson")),
    *sorted(RECORDINGS.glob("*.ndjson")),
]
DECODED = frozenset(("amp", "claude-code", "claude-transcript", "opencode", "qwen", "qwen-chat"))
"""The folders of the streams whose formats are decoded."""
UNKNOWN = [path for path in OTHERS if path.relative_to(SHARED).parts[1] not in DECODED]
FOREIGN = event("system", "init", cwd="/tmp", tools=["Bash"])


def read(path: Path, *, follow: bool = False) -> Session:
    """Return the session of a recording."""
    reader = open_saved(path, follow)
    try:
        feed = Feed(reader)
        feed.advance()
        return feed.session
    finally:
        os.close(reader.fd)  # thousands are read


@pytest.mark.parametrize("path", UNKNOWN, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_stream_of_an_unknown_agent_is_taken_for_a_known_ones(path: Path) -> None:
    """Each stream and saved session of an agent that is not known has no format, no outcome and no run."""
    found = read(path)
    assert (found.format, found.outcome, found.runs) == (None, None, [])
    assert found.lines.events == 0


@pytest.mark.parametrize("path", CURSORS, ids=lambda path: path.stem)
def test_cursor_is_recognised(path: Path) -> None:
    """Each recording of Cursor is recognised, the documentation's and a result alone included."""
    found = read(path)
    assert found.format == "cursor"
    assert found.outcome is not None


@pytest.mark.parametrize("path", CURSORS, ids=lambda path: path.stem)
def test_a_recording_cut_at_its_start_is_recognised(path: Path, recording: Saver) -> None:
    """A recording may begin at any line that is an event, or in the middle of one."""
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines)):
        is_event = lines[number].startswith(b'{"type"') and lines[number].rstrip().endswith(b"}")
        if is_event and b"budget_notice" not in lines[number]:
            assert read(recording(*lines[number : number + 20])).format == "cursor"
            assert read(recording(lines[number - 1][-30:], *lines[number : number + 20])).format == "cursor"


@pytest.mark.parametrize("line", [user(), delta("x"), final("x"), segment("x"), result("x")])
def test_a_shared_type_decides_only_at_the_beginning(line: bytes, recording: Saver) -> None:
    """A line of a type that several agents have decides only if no other event came before it."""
    assert read(recording(line)).format == "cursor"
    assert read(recording(b"a warning\n", line)).format == "cursor"
    assert read(recording(FOREIGN, line)).format is None
    assert read(recording(*[FOREIGN] * 60, line)).format is None
    assert Decoder().decode(line) != []


@pytest.mark.parametrize("line", [init(), thought("x"), started("read")])
def test_a_type_of_its_own_decides_at_any_place(line: bytes, recording: Saver) -> None:
    """A line that only Cursor can have written decides, also after lines of another agent."""
    assert read(recording(FOREIGN, line)).format == "cursor"
    assert read(recording(*[FOREIGN] * 60, line)).format == "cursor"


@pytest.mark.parametrize(
    "line",
    [
        event("user", message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}),
        event("assistant", message={"content": [{"type": "tool_use", "id": "t", "name": "Bash"}]}),
        event("assistant", message={"content": [], "usage": {"input_tokens": 1}}),
        event("result", "success", result="x", num_turns=1),
        event("tool_call", id="t", parameters={"path": "a"}),
        event("thinking", thinking="Hm"),
    ],
)
def test_a_line_with_what_cursor_never_writes_is_foreign(line: bytes, recording: Saver) -> None:
    """Calls and tokens in a message, a count of turns, and calls without a subtype are another agent's."""
    assert read(recording(line)).format != "cursor"


def test_a_stream_of_an_unknown_agent_is_unknown_while_it_goes_on(recording: Saver) -> None:
    """After 50 lines of no known agent the outcome is known to be none, before the stream ends."""
    assert read(recording(*[FOREIGN] * 49), follow=True).outcome == "running"
    assert read(recording(*[FOREIGN] * 50), follow=True).outcome is None
    assert read(recording(b"a notice\n"), follow=True).outcome == "running"
    assert read(recording(*[FOREIGN] * 50, started("read")), follow=True).outcome == "running"


def test_a_named_agent_is_used_from_the_first_line(recording: Saver) -> None:
    """A feed with an agent reads the first line by its format; an unknown name has no agent."""
    feed = Feed(open_saved(recording(FOREIGN, user(), final("x"), result("x"))), agent=agent_named("cursor"))
    assert feed.session.format == "cursor"
    feed.advance()
    assert (feed.session.outcome, feed.session.lines.unknown) == ("succeeded", 0)
    assert agent_named("no such") is None
