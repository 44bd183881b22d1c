"""The agent of a stream is detected from its lines."""

import os
from contextlib import suppress
from itertools import permutations
from pathlib import Path

import pytest

from agentwatch.agents import Decoder, LineRole
from agentwatch.agents.cursor.agent import AGENT
from agentwatch.agents.fields import parse
from agentwatch.agents.registry import (
    agent_named,
    agent_on_disk,
    detect,
    failure_hint,
    known_agents,
    known_name,
    silence_hint,
)
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.session.events import FormatDetected, Prompt, RunStarted, Unknown
from agentwatch.session.session import Session
from tests.builders.captures import OURS, Captures
from tests.builders.formats.samples import KNOWN, samples
from tests.builders.formats.unknown_agents import FOREIGN, STREAMS
from tests.builders.lines import (
    completed,
    delta,
    event,
    final,
    init,
    line,
    result,
    segment,
    started,
    thought,
    user,
)
from tests.builders.made_agent import ASKED, LATE_START, add_late_agent
from tests.builders.moment.any_recording import real_recordings
from tests.conftest import RECORDINGS, Saver, case

FAMILY = frozenset({"claude-code", "qwen", "amp"})
"""Formats of one grammar. Their lines in the middle of a session may not say which of them wrote them."""


def cursors(captures: Captures) -> list[Path]:
    return (
        sorted(RECORDINGS.glob("*.ndjson"))
        if captures.is_own
        else captures.find("cursor/*.ndjson", "docs/*.ndjson")
    )


def read(path: Path, *, follow: bool = False) -> Session:
    reader = open_saved(path, follow)
    try:
        feed = Feed(reader)
        feed.advance()
        return feed.session
    finally:
        os.close(reader.fd)  # thousands are read


def test_a_sample_has_its_format(captures: Captures) -> None:
    """Each sample is read in its own format, and by no other one."""
    # Each stream and saved session is recognised; one of no known format has no outcome and no run.
    for path, name in samples(captures):
        with case(captures.name(path)):
            found = read(path)
            assert found.format == name
            if name is None:
                assert (found.outcome, found.runs, found.lines.events) == (None, [], 0)
            else:
                assert found.outcome is not None
    # No line of a stream or a file is recognised by another format, apart from those of one grammar.
    paths = captures.find("real/*/sessions/**/*.jsonl") if captures.is_own else []
    other_found = [*samples(captures), *((other_path, read(other_path).format) for other_path in paths)]
    of_family = FAMILY | {"claude-family"}
    for other_path, name in other_found:
        with case(captures.name(other_path)):
            assert name in KNOWN or name is None
            allowed = of_family if name in of_family else {name}
            lines = [line for line in other_path.read_bytes().splitlines() if line.strip()]
            fields = [each for each in map(parse, lines) if isinstance(each, dict)]
            takers = {agent.name for each in fields if (agent := detect(each, is_first=False)) is not None}
            assert takers <= allowed


def test_the_files_of_an_agent_are_read_by_its_own_reader() -> None:
    """Each file that an agent keeps has the format of that agent, whatever the other readers make of it."""
    captures = OURS
    paths = captures.find("real/*/sessions/**/*.jsonl")
    programs = {path.relative_to(captures.root).parts[1].partition("-")[0] for path in paths}
    assert programs >= {"claude", "codex", "copilot", "droid", "gemini", "pi", "qwen"}
    for path in paths:
        program = path.relative_to(captures.root).parts[1].partition("-")[0]
        with case(captures.name(path)):
            found = read(path)
            assert (found.agent_name, found.lines.unknown) == (program, 0)
            assert found.format == program_format(program)


def program_format(name: str) -> str:
    """Return the format in which an agent keeps its sessions."""
    agent = agent_on_disk(name)
    assert agent is not None
    return agent.name


def test_a_sample_without_its_head_is_no_other_agents(captures: Captures, recording: Saver) -> None:
    """Without its first lines, a sample is of its own format, of its family, or of none. Any two lines of
    Copilot, Pi and Gemini show whose they are.
    """
    for path, name in samples(captures):
        lines = path.read_bytes().splitlines(keepends=True)
        family = {"claude-family"} if name in FAMILY else set()
        is_shown = name in {"copilot", "pi", "pi-session", "gemini", "gemini-chat"}
        for cut in (1, 3, 8):
            with case(f"{captures.name(path)}, {cut}"):
                others = set() if is_shown and len(lines) - cut > 1 else {None} | family
                assert read(recording(*lines[cut:])).format in {name} | others


@pytest.mark.slow
def test_another_agent_may_follow(captures: Captures, recording: Saver) -> None:
    """In a recording with the streams of two agents, each is read in its own format."""
    found_first: dict[str, Path] = {}
    for path, name in samples(captures):
        if name is not None and not captures.name(path).startswith("disk/"):
            found_first.setdefault(name, path)
    assert len(found_first) >= 7
    for (before, first), (name, second) in permutations(found_first.items(), 2):
        with case(f"{before}, {name}"):
            found = read(recording(first.read_bytes().rstrip(b"\n") + b"\n", second.read_bytes()))
            own = read(second)
            assert found.format == name
            assert len(found.runs) > len(own.runs)
            assert found.run.text == own.run.text
            assert [call.call_id for call in found.calls][-len(own.calls) or len(found.calls) :] == [
                call.call_id for call in own.calls
            ]


def test_a_stream_of_an_unknown_agent_has_no_format(recording: Saver) -> None:
    """It has no outcome and no run, which is known after 50 lines, unless the agent is named."""
    for name, data in STREAMS.items():
        with case(name):
            found = read(recording(data))
            assert (found.format, found.outcome, found.runs) == (None, None, [])
            assert found.lines.events == 0
    assert read(recording(*[FOREIGN] * 49), follow=True).outcome == "running"
    assert read(recording(*[FOREIGN] * 50), follow=True).outcome is None
    assert read(recording(b"a notice\n"), follow=True).outcome == "running"
    assert read(recording(*[FOREIGN] * 50, started("read")), follow=True).outcome == "running"
    feed = Feed(open_saved(recording(FOREIGN, user(), final("x"), result("x"))), agent=agent_named("cursor"))
    assert feed.session.format == "cursor"
    feed.advance()
    assert (feed.session.outcome, feed.session.lines.unknown) == ("succeeded", 1)
    assert agent_named("no such") is None


@pytest.mark.system
def test_a_recording_cut_at_its_start_is_recognised(captures: Captures, recording: Saver) -> None:
    """A recording may begin at any line that is an event, or in the middle of one."""
    for path in cursors(captures):
        with case(path):
            lines = path.read_bytes().splitlines(keepends=True)
            for number in range(1, len(lines)):
                is_event = lines[number].startswith(b'{"type"') and lines[number].rstrip().endswith(b"}")
                if is_event and b"budget_notice" not in lines[number]:
                    assert read(recording(*lines[number : number + 20])).format == "cursor"
                    assert (
                        read(recording(lines[number - 1][-30:], *lines[number : number + 20])).format
                        == "cursor"
                    )


def test_a_type_of_its_own_decides_at_any_place(recording: Saver) -> None:
    """A line that only Cursor can have written decides anywhere, one of a shared type before any other
    event, and one with another agent's fields never.
    """
    for each in [init(), thought("x"), started("read")]:
        with case(each):
            assert read(recording(FOREIGN, each)).format == "cursor"
            assert read(recording(*[FOREIGN] * 60, each)).format == "cursor"
    for each in [user(), delta("x"), final("x"), segment("x"), result("x")]:
        with case(each):
            assert read(recording(each)).format == "cursor"
            assert read(recording(b"a warning\n", each)).format == "cursor"
            assert read(recording(FOREIGN, each)).format is None
            assert read(recording(*[FOREIGN] * 60, each)).format is None
            assert Decoder().decode(each) != []
    cases: list[bytes] = [
        event("user", message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}),
        event("assistant", message={"content": [{"type": "tool_use", "id": "t", "name": "Bash"}]}),
        event("assistant", message={"content": [], "usage": {"input_tokens": 1}}),
        event("result", "success", result="x", num_turns=1),
        event("tool_call", id="t", parameters={"path": "a"}),
        event("thinking", thinking="Hm"),
    ]
    for each in cases:
        with case(each):
            assert read(recording(each)).format != "cursor"


def test_cursor_is_recognised(captures: Captures) -> None:
    """Each recording of Cursor is, and by no other agent."""
    # Each recording of Cursor is recognised, the documentation's and a result alone included.
    for path in cursors(captures):
        with case(path):
            found = read(path)
            assert found.format == "cursor"
            assert found.outcome is not None
    # Cursor is asked first, so a line that it recognises is not another agent's.
    cursor, *others = known_agents()
    recognised = 0
    for path in real_recordings(captures):
        with case(path):
            fields: object = None
            for data in path.read_bytes().splitlines():
                with suppress(ValueError):
                    fields = parse(data)
                if isinstance(fields, dict) and cursor.recognises(fields):
                    recognised += 1
                    assert [other.name for other in others if other.recognises(fields)] == []
    assert recognised


def test_each_format_has_its_name_causes_and_hints() -> None:
    """Names of formats differ, and a package leads to the short name."""
    # No two formats have the same name, and a feed with it uses it from the first line.
    for name in sorted(KNOWN):
        with case(name):
            agent = agent_named(name)
            assert agent is not None
            assert agent.name == name
            assert Decoder(agent).is_detecting is False
    assert len(KNOWN) == len(known_agents())
    # The first line with words of an agent has the cause; one agent prints at its end; a package leads to
    # the short name.
    cause = "Cursor does not trust this folder: add --trust"
    cases: list[tuple[list[str], str | None]] = [
        (["⚠ Workspace Trust Required"], cause),
        (["", "loading", "  ⚠ Workspace Trust Required  "], cause),
        (["Hello"], None),
        ([], None),
    ]
    for lines, expected in cases:
        with case(lines):
            assert failure_hint(lines) == expected
    assert silence_hint() == "Cursor prints nothing until its end without --output-format stream-json"
    names = {
        "gemini-cli": "gemini",
        "OpenCode": "opencode",
        "qwen-code": "qwen",
        "ACP": "acp",
        "Tiny": "Tiny",
        "": "",
    }
    for name, short in names.items():
        with case(name):
            assert known_name(name) == short


def test_a_line_has_a_role_of_its_own() -> None:
    """A decoder that has decoded nothing, or other lines, gives the same role."""
    cases: list[tuple[str, bytes, LineRole]] = [
        ("init", init(), LineRole.START),
        ("prompt", user(), LineRole.START),
        ("start", started("read"), LineRole.CALL),
        ("end", completed("read"), LineRole.CALL),
        ("delta", delta("x"), LineRole.OTHER),
        ("result", result(), LineRole.OTHER),
        ("unknown", line({"type": "hello"}), LineRole.OTHER),
        ("noise", b"not JSON\n", LineRole.OTHER),
        ("array", b"[1]\n", LineRole.OTHER),
        ("over 1 MiB", started("edit", streamContent="x" * (1 << 20)), LineRole.OTHER),
    ]
    for name, data, role in cases:
        with case(name):
            assert Decoder().role(data) is role
            decoder = Decoder()
            decoder.decode(init())
            assert decoder.role(data) is role


def test_a_start_line_of_another_agent_changes_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines after it are decoded by its format; a line that starts no run, and a kept start line of another
    agent, stay unknown.
    """
    add_late_agent(monkeypatch)
    decoder = Decoder()
    decoder.decode(init())
    assert decoder.decode(event("later")) == [Unknown("type later")]
    assert decoder.decode(ASKED) == [Unknown("type asked")]
    decoder = Decoder()
    foreign = event("system", "greeting")
    assert decoder.decode(foreign) == [Unknown("type system", foreign.decode().strip())]
    assert type(decoder.decode(started("read"))[0]) is FormatDetected
    assert decoder.take_redecoded() == []
    add_late_agent(monkeypatch)
    decoder = Decoder()
    assert decoder.decode(ASKED) == [Unknown("type asked", ASKED.decode().strip())]
    decoder.decode(init())
    detected = FormatDetected("cursor", AGENT.traits)
    assert decoder.take_redecoded() == [[detected, Unknown("type asked")]]
    assert decoder.take_redecoded() == []
    assert type(decoder.decode(LATE_START)[-1]) is RunStarted
    assert decoder.decode(ASKED) == [Prompt("Do it.")]
