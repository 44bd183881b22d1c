"""Every session of every agent is found without configuration."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentwatch.agents.found import Reach
from agentwatch.agents.opening import saved_source
from agentwatch.catalog.places import Places
from tests.builders.machine.captured import CURSOR_ID
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.builders.machine.searched import all_found, found_in, places_of, put
from tests.conftest import case

OVERRIDES = [
    ("claude", "CLAUDE_CONFIG_DIR", ".claude", ""),
    ("codex", "CODEX_HOME", ".codex", ""),
    ("gemini", "GEMINI_CLI_HOME", ".gemini", ".gemini"),
    ("qwen", "QWEN_HOME", ".qwen", ""),
    ("qwen", "QWEN_RUNTIME_DIR", ".qwen", ""),
    ("pi", "PI_CODING_AGENT_DIR", ".pi/agent", ""),
    ("pi", "PI_CODING_AGENT_SESSION_DIR", ".pi/agent/sessions", ""),
    ("copilot", "COPILOT_HOME", ".copilot", ""),
    ("cursor", "CURSOR_DATA_DIR", ".cursor", ""),
    ("opencode", "XDG_DATA_HOME", ".local/share/opencode", "opencode"),
]
"""The agent, its variable, its folder below the home folder, and where this is below the variable."""


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> FakeMachine:
    """Return a machine with all captures, which no test changes."""
    return fake_machine(tmp_path_factory.mktemp("captured"))


def test_every_capture_is_found(captured: FakeMachine) -> None:
    """The sessions of all agents are found at their addresses, and nothing else."""
    found = found_in(captured)
    assert {key: each.path for key, each in found.items()} == captured.sessions
    assert {agent for agent, _ in found} == {
        *("agentwatch", "claude", "codex", "copilot", "cursor", "droid", "gemini", "opencode", "pi"),
        "qwen",
    }


def test_what_is_not_only_listed_can_be_opened(captured: FakeMachine) -> None:
    """The address of each session opens it, unless only its metadata is known."""
    opened = [found for found in found_in(captured).values() if found.reach is not Reach.LISTED]
    assert len(opened) > len(captured.sessions) / 2
    for found in opened:
        with case(found.key):
            source = saved_source(found.path)
            source.reader.growth.has_ended()
            os.close(source.reader.fd)


def test_a_session_has_the_size_and_the_time_of_its_file(captured: FakeMachine) -> None:
    """What is found of a file is what the file system says."""
    in_files = {key: found for key, found in found_in(captured).items() if found.path.exists()}
    assert {agent for agent, _ in in_files} >= {
        "claude",
        "codex",
        "copilot",
        "cursor",
        "gemini",
        "pi",
        "qwen",
    }
    for key, found in in_files.items():
        with case(key):
            status = found.path.stat()
            assert (found.size, found.changed_ns) == (status.st_size, status.st_mtime_ns)
            assert found.inode == status.st_ino


def test_an_empty_machine_has_no_sessions(tmp_path: Path) -> None:
    """A home folder without agents, or none at all, is no error."""
    for home in (tmp_path, tmp_path / "absent"):
        places = Places({"AGENTWATCH_HOME": str(home)}, home, os.getuid())
        assert all_found(places) == {}
        assert places.refresh(1.0) == ([], [])
        assert places.check([("claude", "x")]) == ([], [])


def test_a_variable_moves_the_folder_of_an_agent(tmp_path: Path) -> None:
    """The folder that a variable names is read beside the default one."""
    machine = fake_machine(tmp_path / "machine")
    for agent, variable, folder, below in OVERRIDES:
        with case(f"{agent}, {variable}"):
            moved = tmp_path / agent / variable
            (moved / below).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(machine.home / folder, moved / below)
            wanted = {key for key in machine.captured if key[0] == agent}
            assert wanted
            assert not wanted & set(found_in(machine))
            found = found_in(machine, {variable: str(moved)})
            assert {key for key in found if key[0] == agent} == wanted
            assert all(str(found[key].path).startswith(str(moved)) for key in wanted)
            shutil.move(moved / below, machine.home / folder)


def test_the_database_of_opencode_may_be_anywhere(tmp_path: Path) -> None:
    """`OPENCODE_DB` names the file itself, whatever its name."""
    machine = fake_machine(tmp_path / "machine")
    moved = tmp_path / "moved" / "mine.sqlite"
    moved.parent.mkdir()
    shutil.move(machine.home / ".local/share/opencode/opencode.db", moved)
    put(moved.with_name("opencode.db"), "not a database")
    found = found_in(machine, {"OPENCODE_DB": str(moved)})
    assert sum(each.path.parent == moved for each in found.values()) == 5
    assert sum(key[0] == "opencode" for key in found) == 8


def test_two_databases_of_opencode_may_lie_in_one_folder(tmp_path: Path) -> None:
    """The one that a variable names counts beside the default one, each once."""
    machine = fake_machine(tmp_path)
    folder = machine.home / ".local/share/opencode"
    shutil.rmtree(folder / "storage")
    shutil.copyfile(folder / "opencode.db", folder / "mine.db")
    with closing(sqlite3.connect(folder / "mine.db")) as connection, connection:
        connection.execute("UPDATE session SET id = id || '-copy'")
    for name, count in (("mine.db", 10), ("opencode.db", 5)):
        found = found_in(machine, {"OPENCODE_DB": str(folder / name)})
        assert sum(key[0] == "opencode" for key in found) == count


def test_several_folders_of_an_agent_are_one_list(tmp_path: Path) -> None:
    """The default folder, the one of a variable and XDG's are read, each once, also through a link."""
    machine = fake_machine(tmp_path, 26, with_captures=False)
    put(tmp_path / "other/projects/-w/0a1b.jsonl")
    put(machine.home / ".config/claude/projects/-w/2c3d.jsonl")
    (tmp_path / "link").symlink_to(machine.home / ".codex")
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "other"), "CODEX_HOME": str(tmp_path / "link")}
    batches = list(places_of(machine, environ).first())
    keys = [found.key for batch in batches for found in batch]
    assert len(keys) == len(set(keys))
    assert set(keys) == {*machine.made, ("claude", "0a1b"), ("claude", "2c3d")}


def test_a_variable_with_a_relative_path_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It depends on where the agent was started; a path below the home folder may begin with `~`."""
    machine = fake_machine(tmp_path, with_captures=False)
    put(tmp_path / "relative/projects/-w/0a1b.jsonl")
    put(machine.home / "mine/projects/-w/2c3d.jsonl")
    monkeypatch.chdir(tmp_path)
    assert not found_in(machine, {"CLAUDE_CONFIG_DIR": "relative"})
    assert not found_in(machine, {"CLAUDE_CONFIG_DIR": f"{tmp_path}/relative\0"})
    assert set(found_in(machine, {"CLAUDE_CONFIG_DIR": "~/mine"})) == {("claude", "2c3d")}


def test_subagents_name_their_session(captured: FakeMachine) -> None:
    """A subagent of Claude Code, Cursor or opencode has the id of its session."""
    found = found_in(captured)
    parents = {key: each.parent for key, each in found.items() if each.parent is not None}
    assert parents == {
        ("claude", "agent-b61f0c9ad42e7d350"): "4d1c7a90-5b2e-4f36-8a17-c09e6d2b7f41",
        ("claude", "agent-a9461c585457fa964"): "279aaafe-55af-410f-8602-dcb83b5e850d",
        ("cursor", "child"): "parent",
        ("opencode", "ses_dffa6e682ffebEg3nHPfYZWBmL"): "ses_dffa9fa12ffeEeBbv1p8Var6C9",
    }
    assert found["claude", "agent-a9461c585457fa964"].metadata.title == "Count files"
    assert found["claude", "agent-b61f0c9ad42e7d350"].metadata.title == "search the lamps"


def test_metadata_is_read_where_an_agent_writes_it(captured: FakeMachine) -> None:
    """The title, the working directory, the model and the times come from the files beside a session."""
    found = found_in(captured)
    copilot = found["copilot", "7e16c16c-fb81-4be3-8a83-5a92d9b903b5"].metadata
    assert (copilot.title, copilot.cwd, copilot.branch) == ("SCN:sub go", "/home/dev/proj", "main")
    assert not copilot.is_users_title
    assert (copilot.began_ms, copilot.changed_ms) == (1795302531921, 1795302532053)
    opencode = found["opencode", "ses_dffa9fa12ffeEeBbv1p8Var6C9"]
    assert opencode.metadata.model == "mock-model"
    assert (opencode.metadata.title, opencode.metadata.cwd) == ("Mock title", "/home/dev/proj")
    assert opencode.changed_ns == 1795302257962 * 10**6
    old = found["opencode", "s_made_large"].metadata
    assert (old.title, old.cwd, old.changed_ms) == ("A missing lamp", "/home/dev/lantern", 1772600109000)
    assert found["gemini", "710af93e-25f9-498d-84e6-a15fbc12e68d"].metadata.cwd == "/home/dev/proj"


def test_a_transcript_of_cursor_has_the_metadata_of_its_chat(captured: FakeMachine) -> None:
    """The transcript is opened, the chat beside it has its title; a chat without transcript is listed."""
    found = found_in(captured)
    both, listed = found["cursor", CURSOR_ID], found["cursor", "listed"]
    assert (both.reach, both.path.name) == (Reach.LINES, f"{CURSOR_ID}.jsonl")
    assert (both.metadata.title, both.metadata.model) == ("List the files", "sonnet-5")
    assert (listed.reach, listed.metadata.title) == (Reach.LISTED, "Only listed")


def test_an_archived_session_is_marked(captured: FakeMachine) -> None:
    """A rollout in the archive of Codex is archived, and no other."""
    archived = [key for key, each in found_in(captured).items() if each.metadata.is_archived]
    assert archived == [("codex", "019d01f2-7c44-7b10-9e58-2f6a90b3c1d7")]


def test_a_compressed_rollout_is_opened_through_a_store(tmp_path: Path) -> None:
    """Codex compresses old rollouts; the one that is not compressed wins if both are there."""
    machine = fake_machine(tmp_path, with_captures=False)
    stem = "rollout-2026-08-03T10-48-56-019fc8be-3658-7ca3-9e29-000000000000"
    day = machine.home / ".codex/sessions/2026/08/03"
    put(day / f"{stem}.jsonl.zst")
    (found,) = found_in(machine).values()
    assert (found.id, found.reach) == (stem[-36:], Reach.STORE)
    put(day / f"{stem}.jsonl")
    (found,) = found_in(machine).values()
    assert (found.path.suffix, found.reach) == (".jsonl", Reach.LINES)


def test_a_subagent_of_a_workflow_names_its_session(tmp_path: Path) -> None:
    """The agents of a workflow lie two folders deeper; its journal is no session."""
    machine = fake_machine(tmp_path, with_captures=False)
    session = "279aaafe-55af-410f-8602-dcb83b5e850d"
    workflow = machine.home / f".claude/projects/-w/{session}/subagents/workflows/wf_1"
    put(workflow / "agent-1.jsonl")
    put(workflow / "agent-1.meta.json", '{"agentType": "general-purpose"}')
    put(workflow / "journal.jsonl")
    put(workflow / "agent-1.txt")
    ((key, found),) = found_in(machine).items()
    assert (key, found.parent) == (("claude", "agent-1"), session)
    assert found.metadata.title == "general-purpose"


def test_a_subagent_of_an_older_version_lies_beside_its_session(tmp_path: Path) -> None:
    """Its lines name the session; one that names none is left out."""
    machine = fake_machine(tmp_path, with_captures=False)
    project = machine.home / ".claude/projects/-w"
    put(project / "agent-1.jsonl", '{"isSidechain": true, "sessionId": "0a1b", "type": "user"}\n')
    put(project / "agent-2.jsonl", '{"type":"user"}\n')
    ((key, found),) = found_in(machine).items()
    assert (key, found.parent) == (("claude", "agent-1"), "0a1b")


def test_copilot_before_the_first_prompt_is_listed(tmp_path: Path) -> None:
    """Only the lock of the process or the description exists then; an empty folder is no session."""
    machine = fake_machine(tmp_path, with_captures=False)
    sessions = machine.home / ".copilot/session-state"
    put(sessions / "a/inuse.17.lock")
    put(sessions / "b/workspace.yaml", "id: b\nname: Say hello\nuser_named: true\n")
    (sessions / "c").mkdir()
    found = found_in(machine)
    assert {key: each.reach for key, each in found.items()} == {
        ("copilot", "a"): Reach.LISTED,
        ("copilot", "b"): Reach.LISTED,
    }
    assert found["copilot", "b"].metadata.title == "Say hello"
    assert found["copilot", "b"].metadata.is_users_title


def test_a_recording_of_our_own_has_its_name(tmp_path: Path) -> None:
    """The name that the user has given, the working directory and the start are in the file beside it."""
    machine = fake_machine(tmp_path)
    folder = machine.home / ".agentwatch/sessions"
    put(folder / "20261122-100000-000bbbbbb.ndjson")
    described = '{"name": "Fix the parser", "cwd": "/w", "started_ms": 1795300000000, "command": ["x"]}'
    put(folder / "20261122-100000-000bbbbbb.json", described)
    put(folder / "lonely.json", described)
    put(folder / "20261122-100000-000bbbbbb.bookmarks.json")
    own = {key: each for key, each in found_in(machine).items() if key[0] == "agentwatch"}
    assert len(own) == 2
    metadata = own["agentwatch", "20261122-100000-000bbbbbb"].metadata
    assert (metadata.title, metadata.is_users_title) == ("Fix the parser", True)
    assert (metadata.cwd, metadata.began_ms) == ("/w", 1795300000000)


def test_a_large_folder_is_found_in_parts_newest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest sessions of a folder are found before the others are read, and none is found twice."""
    monkeypatch.setattr("agentwatch.catalog.places._PART", 3)
    monkeypatch.setattr("agentwatch.catalog.places._BATCH_S", 0.0)
    machine = fake_machine(tmp_path, 10, with_captures=False, repositories=1, agents=("claude",))
    parts = [[found.key for found in part] for part in places_of(machine).first()]
    assert [len(part) for part in parts] == [3, 3, 3, 1]
    assert [key for part in parts for key in part] == list(machine.made)
