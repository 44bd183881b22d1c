"""A session is opened by its path or its id, whatever its agent keeps it in, and it is closed again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import agentwatch
from tests.builders.captures import OURS
from tests.builders.lines import init, result, user
from tests.conftest import RECORDINGS, case

PLAIN = RECORDINGS / "plain.ndjson"


def open_files() -> int:
    """Return the number of open descriptors of this process."""
    return len(os.listdir("/dev/fd"))


def test_a_path_may_be_a_string_or_a_path() -> None:
    """Strings and paths are opened alike."""
    assert agentwatch.summary(str(PLAIN)) == agentwatch.summary(PLAIN)


def test_a_session_is_found_by_its_id(home: Path) -> None:
    """The id of a session, the stem of its recording, and the beginning of either open it."""
    path = home / "sessions" / "20261122-120000-000abcdef.ndjson"
    path.parent.mkdir(parents=True)
    path.write_bytes(init(session_id="573e587b-1111-4222-8333-444455556666") + user("Hi") + result(""))
    for name in ("573e587b-1111-4222-8333-444455556666", "573e58", path.stem, path.stem[:15]):
        assert agentwatch.load(name).run.prompt == "Hi"


def test_an_address_of_another_machine_is_named_as_it_is() -> None:
    """What only the command line can read is a fault that names the whole address, and why."""
    for address in ("nats://team/ci.0f3a", "ssh://build1/20261122-120000-000abcdef"):
        for function in (agentwatch.read, agentwatch.follow, agentwatch.load, agentwatch.summary):
            with case(f"{function.__name__} {address}"), pytest.raises(agentwatch.Fault) as raised:
                function(address)
            assert str(raised.value).startswith(f"{address}: a session of another machine; ")


def test_a_path_object_is_no_id(home: Path) -> None:
    """Only a string may be an id: a `Path` names a file."""
    path = home / "sessions" / "20261122-120000-000abcdef.ndjson"
    path.parent.mkdir(parents=True)
    path.write_bytes(init())
    with pytest.raises(agentwatch.Fault, match="no such file"):
        agentwatch.load(Path(path.stem))


@pytest.mark.parametrize(
    "function", [agentwatch.read, agentwatch.follow, agentwatch.load, agentwatch.summary]
)
def test_what_cannot_be_opened_is_a_fault(function: Callable[[Path], object], tmp_path: Path) -> None:
    """A missing file, a folder and one JSON document raise `Fault` at once, with a reason in one line."""
    document = tmp_path / "one.json"
    document.write_text('{\n  "a": 1\n}\n')
    before = open_files()
    for path, words in (
        (tmp_path / "missing", "no such file or directory"),
        (tmp_path, "it is a folder"),
        (document, "is one JSON document, not one JSON object per line"),
    ):
        with pytest.raises(agentwatch.Fault, match=words) as raised:
            function(path)
        assert "\n" not in str(raised.value)
    assert open_files() == before


def test_the_cause_of_a_fault_is_the_error_of_the_system(tmp_path: Path) -> None:
    """The `OSError` is the cause of the fault, so that a program can tell one from another."""
    with pytest.raises(agentwatch.Fault) as raised:
        agentwatch.load(tmp_path / "missing")
    assert isinstance(raised.value.__cause__, FileNotFoundError)


def test_no_file_stays_open(tmp_path: Path) -> None:
    """200 sessions that are loaded, summarised, read, or read in part leave no descriptor open."""
    before = open_files()
    for _ in range(50):
        agentwatch.load(PLAIN)
        agentwatch.summary(PLAIN)
        assert list(agentwatch.read(PLAIN))
        next(agentwatch.read(PLAIN))
        agentwatch.read(PLAIN)
    assert open_files() == before


def test_a_large_session_closes_its_temporary_file(tmp_path: Path) -> None:
    """The texts of a large session lie in a file without a name, which is closed with the session."""
    path = tmp_path / "large.ndjson"
    path.write_bytes(init() + b"".join(user("x" * 5_000) for _ in range(1_000)) + result(""))
    before = open_files()
    session = agentwatch.load(path)
    assert open_files() > before
    del session
    assert open_files() == before


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/fd lists the descriptors")
def test_a_session_that_is_dropped_midway_is_closed() -> None:
    """An iterator that nothing refers to any more closes its file without a garbage collection."""
    before = open_files()
    events = agentwatch.read(PLAIN)
    next(events)
    assert open_files() == before + 1
    del events
    assert open_files() == before


def test_subagents_belong_to_their_session() -> None:
    """A transcript of Claude Code is loaded with the calls of its subagents."""
    for path in OURS.find("disk/claude-transcript/**/subagents/*.jsonl"):
        with case(path):
            session = agentwatch.load(path.parent.parent.with_suffix(".jsonl"))
            assert any(call.agent is not None for call in session.calls)
