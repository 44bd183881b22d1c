"""A header alone is of neither format of Pi; the line after it decides."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.agent import LineRole
from agentwatch.agents.pi.agent import AGENT, SESSION
from agentwatch.agents.registry import detect
from tests.agents.pi.lines import HEADER, agent_end, assistant, end, ended, entry, started, text, update, user
from tests.builders.agents.decoded import lines_of, session_of
from tests.builders.captures import Captures
from tests.conftest import case

EVENTS = [
    *({"type": "agent_start"}, {"type": "agent_settled"}, agent_end(), update("text_start")),
    *(started("c", "ls"), ended("c", "ls"), end(assistant())),
]


def test_the_header_decides_nothing() -> None:
    """It begins a stream as well as a session file; what it says is used once the format is known."""
    assert detect(HEADER) is None
    assert session_of(None, HEADER).format is None
    for line, name in ((EVENTS[0], "pi"), (entry("a", None, user("x")), "pi-session")):
        seen = session_of(None, HEADER, line)
        assert (seen.format, seen.run.session_id, seen.run.cwd, seen.lines.unknown) == (name, "s-1", "/w", 0)


def test_a_line_of_the_stream_is_recognised() -> None:
    """Each type that only the stream has, with the key that it always has."""
    for line in EVENTS:
        with case(line):
            assert detect(line) is AGENT


def test_an_entry_of_a_file_is_recognised() -> None:
    """By its place in the tree, or, before version 2, by its model. Only a file has times for its calls."""
    assert detect(entry("a", None, type="label")) is SESSION
    assert detect({"type": "model_change", "timestamp": "x", "modelId": "m"}) is SESSION
    assert detect({"type": "label", "timestamp": "x", "modelId": "m"}) is None
    assert (AGENT.traits.has_times, SESSION.traits.has_times) == (False, True)
    assert (AGENT.traits.has_result, SESSION.traits.has_result) == (True, False)


def test_a_line_that_others_may_write_is_not_recognised() -> None:
    """A line of the same type without Pi's own keys is another agent's."""
    cases: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}},
        *({"type": "agent_end"}, {"type": "tool_execution_start"}, {"type": ["agent_start"]}, {"type": None}),
        *({"type": "message", "message": {"role": "user"}}, {"type": "session", "timestamp": "x", "id": 1}),
        {"type": "message", "id": "m", "timestamp": "x", "message": {"role": "user", "content": []}},
        *(
            {"type": "label", "timestamp": "x"},
            {"type": "message", "timestamp": "x", "message": {"role": []}},
        ),
    ]
    for line in cases:
        with case(line):
            assert detect(line) not in (AGENT, SESSION)


def test_a_sample_is_recognised_without_its_first_lines(captures: Captures) -> None:
    """With its first lines cut off, a sample is of its own format, or of none."""
    streams = captures.find("agents/pi/*.jsonl")
    for path in [*streams, *captures.find("disk/pi-session/**/*.jsonl")]:
        lines = lines_of(path)
        for cut in (0, 1, 3, 8):
            with case(f"{captures.name(path)}, {cut}"):
                expected = "pi" if path in streams else "pi-session"
                assert session_of(None, *lines[cut:]).format == (expected if lines[cut:] else None)


def test_a_line_has_its_role() -> None:
    """Runs and prompts start something; an assistant's message in a file may start calls."""
    assert AGENT.role(HEADER) is AGENT.role(EVENTS[0]) is AGENT.role(end(user("x"))) is LineRole.START
    assert AGENT.role(started("c", "ls")) is AGENT.role(ended("c", "ls")) is LineRole.CALL
    assert AGENT.role(end(assistant())) is LineRole.OTHER
    assert SESSION.role(HEADER) is SESSION.role(entry("a", None, user("x"))) is LineRole.START
    assert SESSION.role(entry("a", None, assistant())) is LineRole.CALL
    assert SESSION.role(entry("a", None, {"role": "toolResult"})) is LineRole.CALL
    assert SESSION.role(entry("a", None, type="label")) is LineRole.OTHER


def test_another_agents_run_may_follow() -> None:
    """A stream of Pi after one of Cursor is read from its second line on."""
    cursor = {"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/", "session_id": "x"}
    seen = session_of(None, cursor, HEADER, EVENTS[0], end(assistant(text("Hi"))))
    assert (seen.format, seen.text) == ("pi", "Hi")
