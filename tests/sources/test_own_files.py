"""An agent's own file is followed while the agent probably still writes it."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.agents.own_files import is_still_written
from agentwatch.agents.registry import SessionFolder, session_folders
from agentwatch.sources.file import FileSource
from agentwatch.sources.open import KeepOptions, agent_source, pipe_source
from tests.conftest import RECORDINGS, case

HOUR = 3600


@pytest.fixture
def transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a transcript in Claude Code's folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    path = tmp_path / "claude/projects/-w/0a1b.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"type":"mode","sessionId":"0a1b"}\n')
    return path


def let_age(path: Path) -> None:
    """Let a file seem to have last changed an hour ago."""
    os.utime(path, (time.time() - HOUR, time.time() - HOUR))


def registered(transcript: Path, pid: int, **more: object) -> Path:
    """Write the record of a process that has the session open."""
    fields = (Path(f"/proc/{pid}/stat")).read_bytes().rpartition(b")")[2].split()
    record = transcript.parent.parent.parent / f"sessions/{pid}.json"
    record.parent.mkdir(exist_ok=True)
    started = {"sessionId": transcript.stem, "procStart": fields[19].decode()}
    record.write_text(json.dumps({**started, **more}))
    return record


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """Return a process that lives until the end of the test."""
    begun = subprocess.Popen(["sleep", "600"])
    yield begun
    begun.kill()
    begun.wait()


def test_a_file_that_has_just_changed_is_still_written(tmp_path: Path, transcript: Path) -> None:
    """The time of the last change decides, for a file in an agent's folder; a copy elsewhere is complete."""
    # A copy of a transcript is not followed, and neither is a link that leads out of the folder.
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(transcript.read_bytes())
    assert not is_still_written(copy)
    link = transcript.with_name("link.jsonl")
    link.symlink_to(copy)
    assert not is_still_written(link)
    assert is_still_written(transcript)
    let_age(transcript)
    assert not is_still_written(transcript)
    transcript.unlink()
    assert not is_still_written(transcript)


def test_a_session_that_a_live_process_has_open_is_still_written(
    transcript: Path, process: subprocess.Popen[bytes]
) -> None:
    """Claude Code registers its processes, each with its session and its start."""
    let_age(transcript)
    record = registered(transcript, process.pid)
    assert is_still_written(transcript)
    registered(transcript, process.pid, sessionId="other")
    assert not is_still_written(transcript)
    registered(transcript, process.pid, procStart="1")
    assert not is_still_written(transcript)
    registered(transcript, process.pid, procStart=None)
    assert not is_still_written(transcript)
    registered(transcript, process.pid)
    process.kill()
    process.wait()
    assert not is_still_written(transcript)
    assert record.exists()


def test_without_proc_only_the_last_change_counts(
    transcript: Path, process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a system without /proc, no registered process is known to live."""
    registered(transcript, process.pid)
    opened = os.open

    def without_proc(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).startswith("/proc/"):
            raise FileNotFoundError(path)
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", without_proc)
    assert is_still_written(transcript)
    let_age(transcript)
    assert not is_still_written(transcript)


def test_a_record_that_is_torn_is_no_record(transcript: Path) -> None:
    """A record may have any value in the place of the start, however deeply it is nested."""
    let_age(transcript)
    for depth in (1, 1000):
        with case(f"depth {depth}"):
            record = registered(transcript, os.getpid())
            assert is_still_written(transcript)
            start = "[" * depth + "]" * depth
            record.write_text(f'{{"sessionId": "{transcript.stem}", "procStart": {start}}}')
            assert not is_still_written(transcript)
    # The registry is written in place, so a record may be incomplete.
    folder = transcript.parent.parent.parent / "sessions"
    (folder / "6.json").symlink_to(folder / "5.key")
    for text in ("", "[]", "{", "\x00", '{"sessionId": 5}'):
        with case(text):
            (folder / f"{os.getpid()}.json").write_text(text)
            (folder / "pid-1.json").write_text(text)
            (folder / "5.key").write_text(text)
            assert not is_still_written(transcript)


def test_the_screen_follows_a_file_that_is_still_written(transcript: Path) -> None:
    """A file that is only printed is read once; on the screen it is followed, also without `-f`."""
    chats = transcript.parent / "chats"
    chats.mkdir()
    path = chats / "x.jsonl"
    path.write_bytes(transcript.read_bytes())
    for follow_store in (False, True):
        source = saved_source(path, None, follow_store=follow_store)
        assert isinstance(source, FileSource)
        assert source.reader.growth.has_ended() is not follow_store
        source.close()


def test_the_folders_of_all_agents_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each agent has a folder of its own, in the home folder."""
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    folders = session_folders({}, tmp_path)
    assert {
        *("claude", "cline", "codex", "copilot", "cursor", "droid", "gemini", "kimi", "opencode", "pi"),
        *("qwen", "vibe"),
    } == {folder.agent for folder in folders}
    for folder in folders:
        path = Path(folder.path) / "x.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")
        with case(folder):
            assert is_still_written(path)


def test_each_folder_is_named_once(tmp_path: Path) -> None:
    """A variable with the default value adds none, nor does one that leads there through a link."""
    (tmp_path / ".codex").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / ".codex")
    default = session_folders({}, tmp_path)
    assert len(default) == len(set(default))
    for codex in (str(tmp_path / ".codex"), f"{tmp_path}/link/", "~/.codex"):
        assert set(session_folders({"CODEX_HOME": codex}, tmp_path)) == set(default)


@pytest.mark.parametrize(
    ("variable", "folder"),
    [
        ("CLAUDE_CONFIG_DIR", SessionFolder("claude", "projects", "/x/projects")),
        ("XDG_CONFIG_HOME", SessionFolder("claude", "projects", "/x/claude/projects")),
        ("CODEX_HOME", SessionFolder("codex", "archived_sessions", "/x/archived_sessions")),
        ("GEMINI_CLI_HOME", SessionFolder("gemini", "tmp", "/x/.gemini/tmp")),
        ("QWEN_HOME", SessionFolder("qwen", "projects", "/x/projects")),
        ("PI_CODING_AGENT_SESSION_DIR", SessionFolder("pi", "", "/x")),
        ("CURSOR_CONFIG_DIR", SessionFolder("cursor", "chats", "/x/chats")),
        ("XDG_DATA_HOME", SessionFolder("opencode", "", "/x/opencode")),
    ],
)
def test_a_variable_adds_a_folder(variable: str, folder: SessionFolder, tmp_path: Path) -> None:
    """The default folder stays in the list: sessions from before the variable was set lie there."""
    default = session_folders({}, tmp_path)
    moved = session_folders({variable: "/x"}, tmp_path)
    assert folder in moved
    assert set(default) < set(moved)


STORED = {"sessionId": "s", "projectHash": "p", "startTime": "2026-11-20T14:03:07Z", "messages": []}


def test_bookmarks_lie_beside_the_recording(tmp_path: Path) -> None:
    """The file has the stem of the recording; without one that is kept, there is no place for it."""
    path = tmp_path / "s.ndjson"
    path.write_bytes((RECORDINGS / "plain.ndjson").read_bytes())
    saved = saved_source(path)
    assert saved.bookmarks_path == tmp_path / "s.bookmarks.json"
    os.close(saved.reader.fd)
    kept: tuple[tuple[KeepOptions, Path | None], ...] = (
        (KeepOptions(recording=tmp_path / "r.ndjson", write_log=False), tmp_path / "r.bookmarks.json"),
        (KeepOptions(record=False, write_log=False), None),
    )
    for keep, bookmarks in kept:
        read_fd, write_fd = os.pipe()
        os.close(write_fd)
        pipe = pipe_source(read_fd, keep)
        assert pipe.bookmarks_path == bookmarks
        pipe.finish()
    agent = agent_source(["true"], KeepOptions(recording=tmp_path / "a.ndjson", write_log=False))
    assert agent.bookmarks_path == tmp_path / "a.bookmarks.json"
    agent.stop()
    agent.finish()
    # The recording of a store has no name: its offsets mean nothing in the files of the other program.
    path = tmp_path / "chats" / "session-2026-11-20T14-03-1.json"
    path.parent.mkdir()
    path.write_text(json.dumps(STORED))
    stored = saved_source(path)
    assert stored.bookmarks_path is None
    stored.close()
