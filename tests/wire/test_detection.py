"""The agent that wrote a recording is found by lines that only one agent can have written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from agentwatch.feed import Feed
from agentwatch.recording import open_saved
from agentwatch.session import Session
from agentwatch.wire import Decoder
from agentwatch.wire.agents import agent_named, known_agents
from agentwatch.wire.json_line import parse
from tests.builders.formats.samples import KNOWN, SAMPLES
from tests.builders.formats.unknown_agents import FOREIGN, STREAMS
from tests.builders.lines import delta, event, final, init, result, segment, started, thought, user
from tests.conftest import RECORDINGS, SHARED, Saver

FAMILY = frozenset({"claude-code", "qwen", "amp"})
"""Formats of one grammar. Their lines in the middle of a session may not say which of them wrote them."""
LIVE = [
    (path, name)
    for path, name in {name: (path, name) for path, name in reversed(SAMPLES)}.values()
    if name is not None and path.parent.parent.name == "agents"
]
"""The first sample of each format."""
CURSORS = [
    *sorted((SHARED / "cursor").glob("*.ndjson")),
    *sorted((SHARED / "docs").glob("*.ndjson")),
    *sorted(RECORDINGS.glob("*.ndjson")),
]
every_sample = pytest.mark.parametrize(
    ("path", "name"), SAMPLES, ids=[f"{path.parent.name}/{path.stem}" for path, _ in SAMPLES]
)


def read(path: Path, *, follow: bool = False) -> Session:
    """Return the session of a recording."""
    reader = open_saved(path, follow)
    try:
        feed = Feed(reader)
        feed.advance()
        return feed.session
    finally:
        os.close(reader.fd)  # thousands are read


@every_sample
def test_a_sample_has_its_format(path: Path, name: str | None) -> None:
    """Each stream and saved session is recognised; one of no known format has no outcome and no run."""
    found = read(path)
    assert found.format == name
    if name is None:
        assert (found.outcome, found.runs, found.lines.events) == (None, [], 0)
    else:
        assert found.outcome is not None


@pytest.mark.parametrize("cut", [1, 3, 8])
@every_sample
def test_a_sample_without_its_head_is_no_other_agents(
    path: Path, name: str | None, cut: int, recording: Saver
) -> None:
    """Without its first lines, a sample is of its own format, of its family, or of none."""
    lines = path.read_bytes().splitlines(keepends=True)[cut:]
    family = {"claude-family"} if name in FAMILY else set()
    assert read(recording(*lines)).format in {name, None} | family


PAIRS = [(one, path, name) for one, before in LIVE for path, name in LIVE if name != before]


@pytest.mark.parametrize(
    ("first", "second", "name"), PAIRS, ids=[f"{one.parent.name}-{name}" for one, _, name in PAIRS]
)
def test_another_agent_may_follow(first: Path, second: Path, name: str, recording: Saver) -> None:
    """In a recording with the streams of two agents, each is read in its own format."""
    found = read(recording(first.read_bytes().rstrip(b"\n") + b"\n", second.read_bytes()))
    own = read(second)
    assert found.format == name
    assert len(found.runs) > len(own.runs)
    assert found.run.text == own.run.text
    assert [call.call_id for call in found.calls][-len(own.calls) or len(found.calls) :] == [
        call.call_id for call in own.calls
    ]


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_each_format_can_be_named(name: str) -> None:
    """Each format is found by its name, and a feed with it uses it from the first line."""
    agent = agent_named(name)
    assert agent is not None
    assert agent.name == name
    assert Decoder(agent).is_detecting is False


def test_the_names_of_formats_differ() -> None:
    """No two formats have the same name."""
    assert len(KNOWN) == len(known_agents())


@pytest.mark.parametrize("data", STREAMS.values(), ids=STREAMS)
def test_a_stream_of_no_known_agent_has_no_format(data: bytes, recording: Saver) -> None:
    """A stream of JSON lines that no known agent writes has no format, no outcome and no run."""
    found = read(recording(data))
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
def test_a_line_with_what_cursor_never_writes_is_not_cursors(line: bytes, recording: Saver) -> None:
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
    assert (feed.session.outcome, feed.session.lines.unknown) == ("succeeded", 1)
    assert agent_named("no such") is None


@pytest.mark.parametrize(
    "path", [*(path for path, _ in SAMPLES), *CURSORS], ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_no_other_agent_recognises_a_line_of_cursor(path: Path) -> None:
    """Cursor is asked first, so a line that it recognises is no other agent's."""
    cursor, *others = known_agents()
    fields: object = None
    for data in path.read_bytes().splitlines():
        with suppress(ValueError):
            fields = parse(data)
        if isinstance(fields, dict) and cursor.recognises(fields):
            assert [other.name for other in others if other.recognises(fields)] == []
