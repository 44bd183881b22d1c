"""The files of Claude Code's subagents are merged with the transcript, by time, as they grow."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.claude.subagent_files import ClaudeSubagents, open_claude_subagents
from agentwatch.agents.opening import saved_source, store_for
from agentwatch.feed.feed import Feed
from agentwatch.session.session import Session
from agentwatch.sources.stores import lines as store_lines
from tests.builders.captures import Captures
from tests.builders.on_disk.transcript import call, returned, said, user
from tests.conftest import case


def dumped(made: dict[str, Any], second: int, **more: Any) -> bytes:
    """Return a line that was written at a second."""
    return json.dumps({**made, "timestamp": f"2026-11-21T22:00:{second:02}.000Z", **more}).encode() + b"\n"


class Folder:
    """A transcript and the folder of its subagents."""

    def __init__(self, path: Path) -> None:
        self.transcript = path / "projects/-w/s.jsonl"
        self.subagents = path / "projects/-w/s/subagents"
        self.transcript.parent.mkdir(parents=True)
        self.transcript.write_bytes(dumped(user("Go"), 1) + dumped(call("t", "Task", {"prompt": "x"}), 2))

    def add_agent(self, name: str = "a1", call_id: str | None = "t", first: int = 3) -> Path:
        """Add a subagent with two lines, three seconds apart."""
        self.subagents.mkdir(parents=True, exist_ok=True)
        path = self.subagents / f"agent-{name}.jsonl"
        side: dict[str, Any] = {"isSidechain": True, "agentId": name}
        path.write_bytes(dumped(user("x"), first, **side) + dumped(call("c"), first + 3, **side))
        (self.subagents / f"agent-{name}.meta.json").write_text(json.dumps({"toolUseId": call_id}))
        return path


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return a transcript without subagents."""
    return Folder(tmp_path)


@pytest.fixture
def opened() -> Iterator[Callable[[Path], ClaudeSubagents]]:
    """Return a function that opens the store of a transcript."""
    stores = []

    def open_(transcript: Path) -> ClaudeSubagents:
        store = open_claude_subagents(transcript)
        assert store is not None
        stores.append(store)
        return store

    yield open_
    for store in stores:
        store.close()


def kinds(lines: list[bytes]) -> list[str]:
    """Return a short name for each line."""
    found = [json.loads(line) for line in lines]
    return [f"{line['type']}{' a' if line.get('agentId') else ''}" for line in found]


def session_at(path: Path) -> Session:
    source = saved_source(path)
    feed = Feed(source.reader)
    feed.advance()
    os.close(source.reader.fd)
    return feed.session


def test_a_transcript_is_read_with_the_files_of_its_subagents(
    folder: Folder, opened: Callable[[Path], ClaudeSubagents], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a folder of subagents, or with an empty one, the file itself is read."""
    assert store_for(folder.transcript) is None
    folder.subagents.mkdir(parents=True)
    assert store_for(folder.transcript) is None
    folder.add_agent()
    with folder.transcript.open("ab") as file:
        file.write(b"{torn\n[5]\n" + dumped(said("A"), 60))
    assert opened(folder.transcript).new_lines()[3:5] == [b"{torn\n", b"[5]\n"]
    monkeypatch.setattr(store_lines, "_MOST_LINE", 500)
    monkeypatch.setattr(store_lines, "_CHUNK", 100)
    # A line that never ends does not fill the memory, and the next line is read.
    with folder.transcript.open("ab") as file:
        file.write(dumped(said("x" * 5000), 10) + dumped(said("next"), 11))
    lines = opened(folder.transcript).new_lines()
    assert max(map(len, lines)) < 800
    assert b"next" in lines[-1]


def test_the_lines_are_merged_by_time(folder: Folder, opened: Callable[[Path], ClaudeSubagents]) -> None:
    """A line without a time keeps its place after the line before it; the calls are known from the start."""
    folder.add_agent()
    with folder.transcript.open("ab") as file:
        file.write(dumped(said("Main"), 4) + b'{"type":"mode","sessionId":"s"}\n' + dumped(returned("t"), 9))
    store = opened(folder.transcript)
    lines = store.new_lines()
    expected = ["user", "subagent-meta a", "assistant", "user a", "assistant", "mode", "assistant a", "user"]
    assert kinds(lines) == expected
    assert store.new_lines() == []


def test_the_calls_of_a_subagent_belong_to_its_call(
    folder: Folder, opened: Callable[[Path], ClaudeSubagents]
) -> None:
    """The file beside the subagent's own names the call that started it; without it, its prompt does."""
    folder.add_agent()
    session = session_at(folder.transcript)
    assert [(each.call_id, each.parent, each.parent_call) for each in session.calls] == [
        ("t", None, None),
        ("c", 1, "t"),
    ]
    # The file may be broken, lack the call, or have any value in its place, however deeply it is nested.
    nested = ('{"toolUseId": ' + "[" * depth + "]" * depth + "}" for depth in (1, 300, 1000))
    path = folder.subagents / "agent-a1.meta.json"
    for meta in ("", "[]", "{", '{"toolUseId": 5}', '{"toolUseId": null}', *nested):
        with case(meta[:80]):
            path.write_text(meta)
            calls = session_at(folder.transcript).calls
            assert [(each.parent, each.parent_call) for each in calls] == [(None, None), (1, "t")]
    # An agent that cuts a description inside an emoji writes half a surrogate pair.
    for written, read in (("t", "t"), ("\\ud83d", "\ud83d")):
        with case(written):
            path.write_text(f'{{"description": "Fix \\ud83d", "toolUseId": "{written}"}}')
            (line,) = [line for line in opened(folder.transcript).new_lines() if b"subagent-meta" in line]
            assert json.loads(line)["toolUseId"] == read


def test_new_lines_of_all_files_are_returned(
    folder: Folder, opened: Callable[[Path], ClaudeSubagents]
) -> None:
    """Whole lines are returned as they are written, and subagents that start later are found."""
    first = folder.add_agent()
    store = opened(folder.transcript)
    store.new_lines()
    with folder.transcript.open("ab") as file:
        file.write(dumped(said("A"), 20) + b'{"type":')
    assert kinds(store.new_lines()) == ["assistant"]
    assert store.new_lines() == []
    with folder.transcript.open("ab") as file:
        file.write(b'"mode"}\n')
    assert kinds(store.new_lines()) == ["mode"]
    with first.open("ab") as file:
        file.write(dumped(said("B"), 21, agentId="a1"))
    folder.add_agent("a2", first=30)
    assert kinds(store.new_lines()) == ["assistant a", "subagent-meta a", "user a", "assistant a"]


def test_a_replaced_or_truncated_transcript_is_read_again(
    folder: Folder, opened: Callable[[Path], ClaudeSubagents]
) -> None:
    """An atomic replacement and a truncation give the new content; a removed file gives nothing more."""
    folder.add_agent()
    store = opened(folder.transcript)
    store.new_lines()
    new = folder.transcript.with_name("new")
    new.write_bytes(dumped(user("New"), 40))
    new.replace(folder.transcript)
    assert [json.loads(line)["message"]["content"] for line in store.new_lines()] == ["New"]
    folder.transcript.write_bytes(b"")
    assert store.new_lines() == []
    folder.transcript.write_bytes(dumped(user("Third"), 50))
    assert len(store.new_lines()) == 1
    folder.transcript.unlink()
    assert store.new_lines() == []


def test_only_the_users_own_files_are_read(
    folder: Folder, opened: Callable[[Path], ClaudeSubagents], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link out of the folder, a FIFO, a folder and files of others are not files of subagents."""
    folder.add_agent()
    secret = tmp_path / "secret"
    secret.write_bytes(dumped(said("secret"), 3))
    (folder.subagents / "agent-link.jsonl").symlink_to(secret)
    (folder.subagents / "agent-a1.meta.json").unlink()
    (folder.subagents / "agent-a1.meta.json").symlink_to(secret)
    os.mkfifo(folder.subagents / "agent-fifo.jsonl")
    (folder.subagents / "agent-folder.jsonl").mkdir()
    lines = opened(folder.transcript).new_lines()
    assert kinds(lines).count("subagent-meta a") == 1
    assert b"secret" not in b"".join(lines)
    # Only the user's own files are read beside the named one.
    user_id = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user_id + 1)
    assert kinds(opened(folder.transcript).new_lines()) == ["user", "assistant"]


def test_a_folder_of_subagents_that_is_a_link_is_not_read(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may not lead out of the agent's own folder, also if it becomes a link once it is listed."""
    path = folder.add_agent()
    away = tmp_path / "away"
    folder.subagents.rename(away)
    folder.subagents.symlink_to(away)
    assert path.exists()
    assert store_for(folder.transcript) is None
    store = ClaudeSubagents(folder.transcript, folder.subagents)
    assert kinds(store.new_lines()) == ["user", "assistant"]
    store.close()
    folder.subagents.unlink()
    away.rename(folder.subagents)
    names = os.listdir(folder.subagents)

    def listed(_folder: Path) -> list[str]:
        folder.subagents.rename(away)
        folder.subagents.symlink_to(away)
        return names

    monkeypatch.setattr(os, "listdir", listed)
    store = ClaudeSubagents(folder.transcript, folder.subagents)
    assert kinds(store.new_lines()) == ["user", "assistant"]
    assert folder.subagents.is_symlink()
    store.close()


def test_a_large_session_comes_in_batches(folder: Folder, opened: Callable[[Path], ClaudeSubagents]) -> None:
    """A call returns a limited number of bytes, about 4 MiB, and loses no line."""
    folder.add_agent()
    with folder.transcript.open("ab") as file:
        file.writelines(dumped(said(f"{number} " + "x" * 600_000), 10) for number in range(50))
    store, batches = opened(folder.transcript), []
    while lines := store.new_lines():
        batches.append(lines)
    assert len(batches) > 5
    assert sum(map(len, batches)) == 55
    assert all(line.startswith(b"{") for lines in batches for line in lines)


def test_the_samples_are_merged(captures: Captures) -> None:
    """The subagents of each sample have a call of the main agent."""
    for path in captures.find("disk/claude-transcript/**/subagents/*.jsonl"):
        with case(captures.name(path)):
            session = session_at(path.parent.parent.with_suffix(".jsonl"))
            inner = [each for each in session.calls if each.parent_call is not None]
            assert inner
            assert all(each.parent for each in inner)


def test_a_session_that_is_being_written_may_get_subagents(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A small transcript in the agent's own folder is a store while it is written; a large one is not."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    store = store_for(folder.transcript)
    assert store is not None
    store.new_lines()
    folder.add_agent()
    assert "user a" in kinds(store.new_lines())
    store.close()
    os.truncate(folder.transcript, 17 << 20)
    os.rename(folder.subagents, tmp_path / "away")
    assert store_for(folder.transcript) is None
