"""Fixtures for all tests: a private home folder, and an environment without CI and colour variables."""

from __future__ import annotations

import fcntl
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agentwatch.feed import Feed
from agentwatch.recording import LineReader, open_saved
from agentwatch.session import Session
from agentwatch.sources.open import saved_source

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "recordings"
SHARED = ROOT.parent / "shared" / "recordings"
Saver = Callable[..., Path]
"""The type of the fixture `recording`: a function that saves lines as a recording and returns its path."""


AGENT_FOLDERS = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "QWEN_RUNTIME_DIR", "COPILOT_HOME"),
    *("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "CURSOR_DATA_DIR", "CURSOR_CONFIG_DIR"),
    *("OPENCODE_DB", "GOOSE_PATH_ROOT", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"),
)
"""The variables that move the folders of agents, and our own."""
SLOW = (
    "tests/pty",
    "tests/harness",
    "tests/cli",
    "tests/sources",
    "tests/project",
    "tests/screen/overlays",
    "tests/screen/film",
    "tests/exports/html/browser",
    "tests/remote/ssh",
    "tests/engine/nats",
    "tests/engine/security",
)
"""Folders of tests that start programs, terminals or the whole app."""
SLOW_FILES = (
    *("test_hostile_formats", "test_hostile_fields", "test_wrong_types"),
    *(
        "test_every_key",
        "test_hostile",
        "test_hostile_formats",
        "test_keys",
        "test_large_files",
        "test_panes",
        "test_random_keys",
        "test_replay_keys",
        "test_moment_keys",
        "test_opening",
    ),
    *("test_snapshots", "test_snapshots_midway", "test_tabs", "test_workspace", "test_compositor"),
    *("test_editor", "test_attention", "test_back_to_transcript", "test_reading_place", "test_filter_keys"),
    *("test_found_in_calls", "test_found_side_by_side", "test_recordings", "test_mangled", "test_generated"),
    "test_generated_codex",
    *("test_line_painter", "test_time_adds_up", "test_private_files", "test_stock"),
    *("test_generated_claude", "test_any_value"),
    *("test_filtered_calls", "test_call_notes", "test_folded_calls", "test_transcript_measured"),
    *("test_hostile_agents", "test_digest_adds_up", "test_moments", "test_equality"),
    "test_appended",
    "test_backend",
    "test_costs",
    "test_spans",
    *("test_killed_and_cut", "test_published_runs"),
    *("test_addressed_commands", "test_copying", "test_no_longer_kept", "test_on_a_terminal"),
    *("test_with_a_server", "test_two_processes"),
    *("test_kinds", "test_story", "test_any_line", "test_deltas"),
)
"""Files of tests that do so in the other folders, or try thousands of sessions."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the fast lane leaves out: `slow`."""
    for item in items:
        path = item.path.relative_to(ROOT)
        if path.as_posix().startswith(SLOW) or path.stem in SLOW_FILES or item.get_closest_marker("long"):
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what collecting has made, and run less often.

    An app that starts makes many objects; with the default thresholds collecting took 30 % of the CPU time
    of the tests that open one. What is never collected is found when pytest collects at the end.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep saved sessions out of the user's own folder, and return the folder used instead.

    The sessions of the user's agents are kept out of the tests as well: the home folder is an empty one.
    """
    folder = tmp_path / "home"
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in AGENT_FOLDERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGENTWATCH_HOME", str(folder))
    monkeypatch.setenv("AGENTWATCH_CONFIG", os.devnull)
    for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture(autouse=True)
def _recordings_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the recordings that a test has opened for reading and left open.

    A program that opens one ends soon. Thousands of tests in one process would leave more than a thousand
    open, which many systems do not allow.
    """
    opened: dict[int, os.stat_result] = {}
    create = LineReader.__init__

    def note(reader: LineReader, fd: int, *given: Any, **named: Any) -> None:
        create(reader, fd, *given, **named)
        with suppress(OSError):
            opened[fd] = os.fstat(fd)

    monkeypatch.setattr(LineReader, "__init__", note)
    yield
    for fd, status in opened.items():
        with suppress(OSError):
            is_same = os.path.samestat(os.fstat(fd), status)
            if is_same and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                os.close(fd)


@pytest.fixture
def opened_session() -> Iterator[Callable[[Path], Session]]:
    """Return a function that opens a saved session, of any kind, and reads all of it."""
    sources = []

    def read(path: Path) -> Session:
        source = saved_source(path)
        sources.append(source)
        feed = Feed(source.reader)
        feed.advance()
        return feed.session

    yield read
    for source in sources:
        os.close(source.reader.fd)


@pytest.fixture
def session_of(tmp_path: Path) -> Callable[[bytes], Session]:
    """Return a function that reads a recording with these bytes into a session."""

    def read(data: bytes) -> Session:
        path = tmp_path / "case.ndjson"
        path.write_bytes(data)
        reader = open_saved(path)
        feed = Feed(reader)
        feed.advance()
        os.close(reader.fd)  # `select` refuses descriptors over 1,023, and thousands of sessions are read
        return feed.session

    return read


@pytest.fixture
def recording(tmp_path: Path) -> Saver:
    """Return a function that saves these lines as a recording and returns its path."""

    def save(*lines: bytes) -> Path:
        path = tmp_path / "session.ndjson"
        path.write_bytes(b"".join(lines))
        return path

    return save
