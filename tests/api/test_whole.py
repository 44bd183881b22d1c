"""A session is loaded as a whole, and summarised as the command line does it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import agentwatch
from agentwatch.agents.found import Reach
from agentwatch.catalog.places import Places
from tests.builders.captures import OURS
from tests.builders.lines import init, started
from tests.builders.machine.fake import fake_machine
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.program import watch


def check_summary(path: Path) -> None:
    """Check that the summary of a recording is that of the command line."""
    with case(path):
        done = watch(str(path), "--print", "--output-format", "summary")
        assert agentwatch.summary(path) == json.loads(done.stdout)


@pytest.mark.slow
def test_the_summary_is_that_of_the_command_line() -> None:
    """`summary` returns what `--output-format summary` prints."""
    check_summary(RECORDINGS / "demo.ndjson")


@pytest.mark.system
def test_each_summary_is_that_of_the_command_line() -> None:
    """The same holds for each bundled recording."""
    paths = sorted(RECORDINGS.glob("*.ndjson"))
    assert paths
    for path in paths:
        check_summary(path)


def test_a_loaded_session_is_over() -> None:
    """Calls that never ended are unfinished, and so is the run."""
    session = agentwatch.load(RECORDINGS / "unfinished.ndjson")
    assert session.is_closed
    assert session.outcome is agentwatch.Outcome.UNFINISHED
    assert agentwatch.Outcome.UNFINISHED in {call.outcome for call in session.calls}


def test_lines_of_no_known_agent_are_a_fault(recording: Saver) -> None:
    """A file that no known agent wrote is a fault that says so; its summary has no format and no outcome."""
    for lines in ((b'{"level":"info"}\n', b"plain text\n"), (b"plain text\n",), (b"[]\n",)):
        with case(lines):
            path = recording(*lines)
            with pytest.raises(agentwatch.Fault, match="not a stream of an agent") as caught:
                agentwatch.load(path)
            assert str(caught.value).startswith(f"{path}: ")
            found = agentwatch.summary(path)
            assert (found["format"], found["outcome"], found["lines"]["total"]) == (None, None, len(lines))


def test_an_empty_file_is_an_empty_session(recording: Saver) -> None:
    """A file without lines, such as that of an agent that has just started, is loaded."""
    session = agentwatch.load(recording(b""))
    assert (session.format, session.outcome, len(session.calls)) == (None, agentwatch.Outcome.UNFINISHED, 0)


def test_a_session_and_its_calls_describe_themselves(recording: Saver) -> None:
    """In a notebook, a session and a call are one short line, whatever the agent wrote."""
    session = agentwatch.load(RECORDINGS / "failures.ndjson")
    assert repr(session) == "<Session of cursor: succeeded, 6 calls, 6 failed>"
    assert repr(session.calls[0]) == "<Call #1 shell 'make lint': failed ('exit 2'), 2.3 s>"
    hostile = "\x1b[31m\u202e" + "x" * 10_000_000
    path = recording(init(), started("a", "shell", command=hostile))
    shown = repr(agentwatch.load(path).calls[0])
    assert len(shown) < 200
    assert shown.isprintable()


def test_only_what_users_may_call_is_in_the_help() -> None:
    """The help of a session has properties; a session is updated by functions of the package."""
    public = {name for name in dir(agentwatch.Session) if not name.startswith("_")}
    assert public == {"duration_ms", "outcome", "phase", "run", "text"}
    assert [name for name in public if not isinstance(getattr(agentwatch.Session, name), property)] == []


def test_the_type_of_a_summary_is_that_of_the_dictionary() -> None:
    """A summary has exactly the keys of `Summary`, and each value has its type."""
    for path in [*OURS.find("**/*.ndjson"), *OURS.find("**/*.jsonl")]:
        with case(path):
            check_type(agentwatch.summary(path), agentwatch.Summary, "summary")


def check_type(value: object, wanted: Any, place: str) -> None:
    """Check that a value has a type, and recursively that a dictionary has the keys of a TypedDict."""
    if is_typeddict(wanted):
        assert isinstance(value, dict), place
        hints = get_type_hints(wanted)
        assert value.keys() == hints.keys(), place
        for key, hint in hints.items():
            check_type(value[key], hint, f"{place}.{key}")
    elif get_origin(wanted) is UnionType:
        fitting = [each for each in get_args(wanted) if (each is NoneType) == (value is None)]
        assert fitting, place
        check_type(value, fitting[0], place)
    elif get_origin(wanted) is list:
        assert isinstance(value, list), place
        for each in value:
            check_type(each, get_args(wanted)[0], f"{place}[]")
    else:
        assert isinstance(value, (get_origin(wanted) or wanted, int if wanted is float else wanted)), place


def test_the_sessions_of_all_agents_are_loaded(tmp_path: Path) -> None:
    """What agents keep on disk is loaded: lines, JSON documents and rows of a database."""
    machine = fake_machine(tmp_path)
    found = Places(machine.environ, machine.home, os.geteuid()).first()
    paths = [each.path for batch in found for each in batch if each.reach is not Reach.LISTED]
    formats = {agentwatch.load(path).format for path in paths}
    assert formats >= {"claude-transcript", "codex-rollout", "copilot", "cursor", "cursor-transcript"}
    assert formats >= {"gemini-chat", "opencode", "pi-session", "qwen-chat"}
    assert {path.suffix for path in paths} >= {".jsonl", ".json"}
    assert any(path.parent.suffix == ".db" for path in paths)
