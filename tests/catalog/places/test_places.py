"""Every session of every agent is found without configuration."""

import errno
import hashlib
import os
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import orjson
import pytest

from agentwatch.agents.description_files import (
    first_text,
    folder_in,
    id_in,
    json_object,
    name_in,
    text_in,
    time_in,
    yaml_texts,
)
from agentwatch.agents.opening import saved_source
from agentwatch.agents.places import Folder, Kind
from agentwatch.agents.session_entry import Metadata, Reach, SessionEntry
from agentwatch.agents.state_report import Life
from agentwatch.catalog import places
from agentwatch.catalog.joining import session_joins
from agentwatch.catalog.places import FULL_PASS_S, PASS_S, Candidates, Places, entries_of, own_folder
from agentwatch.catalog.session_status import Process
from agentwatch.session.session import Session
from tests.builders.machine.captured import CURSOR_ID
from tests.builders.machine.fake import EVERY, NEWEST_MS, FakeMachine, fake_machine, save
from tests.builders.machine.made import Story
from tests.builders.machine.searched import (
    Clock,
    all_found,
    found_in,
    let_age,
    let_poll,
    places_of,
    put,
    settled,
)
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


def test_every_capture_is_found(tmp_path: Path) -> None:
    """The sessions of all agents are found at their addresses, with what the files beside them say."""
    captured = fake_machine(tmp_path)
    found = found_in(captured)
    assert {key: each.path for key, each in found.items()} == captured.sessions
    assert {agent for agent, _ in found} == {
        *("agentwatch", "claude", "cline", "codex", "copilot", "cursor", "droid", "gemini", "kimi"),
        *("opencode", "pi", "qwen", "vibe"),
    }
    # The address of each session opens it, unless only its metadata is known.
    opened = [each for each in found.values() if each.reach is not Reach.LISTED]
    assert len(opened) > len(captured.sessions) / 2
    for each in opened:
        with case(each.key):
            source = saved_source(each.path)
            source.reader.growth.has_ended()
            os.close(source.reader.fd)
    # What is found of a file is what the file system says.
    in_files = [each for each in found.values() if each.path.is_file()]
    assert {each.agent for each in in_files} >= {
        *("claude", "codex", "copilot", "cursor", "gemini", "pi", "qwen")
    }
    for each in in_files:
        with case(each.key):
            status = each.path.stat()
            known = (each.size, each.changed_ns, each.inode)
            assert known == (status.st_size, status.st_mtime_ns, status.st_ino)
    # A subagent of Claude Code, Cursor or opencode has the id of its session.
    kimi = "session_fd564f8e-9974-4614-86f6-b447e06fa381"
    parents = {key: each.parent for key, each in found.items() if each.parent is not None}
    assert parents == {
        ("claude", "agent-b61f0c9ad42e7d350"): "4d1c7a90-5b2e-4f36-8a17-c09e6d2b7f41",
        ("claude", "agent-a9461c585457fa964"): "279aaafe-55af-410f-8602-dcb83b5e850d",
        ("cline", "agent_1795995646839_bi2m5l"): "1795995646302_52na4",
        ("cursor", "child"): "parent",
        ("kimi", f"{kimi}.agent-0"): kimi,
        ("opencode", "ses_dffa6e682ffebEg3nHPfYZWBmL"): "ses_dffa9fa12ffeEeBbv1p8Var6C9",
    }
    assert found["claude", "agent-a9461c585457fa964"].metadata.title == "Count files"
    assert found["claude", "agent-b61f0c9ad42e7d350"].metadata.title == "search the lamps"
    # The title, the working directory, the model and the times come from the files beside a session.
    copilot = found["copilot", "7e16c16c-fb81-4be3-8a83-5a92d9b903b5"].metadata
    assert (copilot.title, copilot.cwd, copilot.branch) == ("SCN:sub go", "/home/dev/proj", "main")
    assert not copilot.is_users_title
    assert (copilot.began_ms, copilot.changed_ms) == (1795302531921, None)
    opencode = found["opencode", "ses_dffa9fa12ffeEeBbv1p8Var6C9"]
    assert opencode.metadata.model == "mock-model"
    assert (opencode.metadata.title, opencode.metadata.cwd) == ("Mock title", "/home/dev/proj")
    assert opencode.changed_ns == 1795302257962 * 10**6
    old = found["opencode", "s_made_large"].metadata
    assert (old.title, old.cwd, old.changed_ms) == ("A missing lamp", "/home/dev/lantern", 1772600109000)
    assert found["gemini", "710af93e-25f9-498d-84e6-a15fbc12e68d"].metadata.cwd == "/home/dev/proj"
    # A transcript of Cursor has the title of the chat beside it; a chat without one is listed.
    both, listed = found["cursor", CURSOR_ID], found["cursor", "listed"]
    assert (both.reach, both.path.name) == (Reach.LINES, f"{CURSOR_ID}.jsonl")
    assert (both.metadata.title, both.metadata.model) == ("List the files", "sonnet-5")
    assert (listed.reach, listed.metadata.title) == (Reach.LISTED, "Only listed")
    # A rollout in the archive of Codex is archived, and no other.
    archived = [key for key, each in found.items() if each.metadata.is_archived]
    assert archived == [("codex", "019d01f2-7c44-7b10-9e58-2f6a90b3c1d7")]


def test_an_empty_machine_has_no_sessions(tmp_path: Path) -> None:
    """A home folder without agents, or none at all, is no error; all files of a made machine are below it."""
    for home in (tmp_path, tmp_path / "absent"):
        places = Places({"AGENTWATCH_HOME": str(home)}, home, os.getuid())
        assert all_found(places) == {}
        assert places.refresh(1.0) == ([], [])
        assert places.check([("claude", "x")]) == ([], [])
    machine = fake_machine(tmp_path / "new", 30)
    assert all(path.is_relative_to(machine.home) for path in machine.sessions.values())
    assert len(machine.sessions) == len(machine.captured) + 30
    assert next(iter(machine.made.values())).stat().st_mtime_ns == NEWEST_MS * 10**6


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
    """`OPENCODE_DB` names the file itself, whatever its name; it counts beside the default one, each once."""
    machine = fake_machine(tmp_path / "machine")
    folder = machine.home / ".local/share/opencode"
    shutil.copyfile(folder / "opencode.db", folder / "mine.db")
    with closing(sqlite3.connect(folder / "mine.db")) as connection, connection:
        connection.execute("UPDATE session SET id = id || '-copy'")
    for name, count in (("mine.db", 13), ("opencode.db", 8)):
        found = found_in(machine, {"OPENCODE_DB": str(folder / name)})
        assert sum(key[0] == "opencode" for key in found) == count
    moved = tmp_path / "moved" / "mine.sqlite"
    moved.parent.mkdir()
    shutil.move(folder / "opencode.db", moved)
    put(moved.with_name("opencode.db"), "not a database")
    found = found_in(machine, {"OPENCODE_DB": str(moved)})
    assert sum(each.path.parent == moved for each in found.values()) == 5
    assert sum(key[0] == "opencode" for key in found) == 8


def test_several_folders_of_an_agent_are_one_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default folder, the one of a variable and XDG's are read, each once, also through a link."""
    machine = fake_machine(tmp_path, 26, with_captures=False)
    put(tmp_path / "other/projects/-w/0a1b.jsonl")
    put(machine.home / ".config/claude/projects/-w/2c3d.jsonl")
    (tmp_path / "link").symlink_to(machine.home / ".codex")
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "other"), "CODEX_HOME": str(tmp_path / "link")}
    batches = list(places_of(machine, environ).first())
    keys = [found.key for batch in batches for found in batch]
    assert len(keys) == len(set(keys))
    default = {*machine.made, ("claude", "2c3d")}
    assert set(keys) == {*default, ("claude", "0a1b")}
    # A relative path depends on where the agent was started; one below the home folder may begin with `~`.
    put(machine.home / "mine/projects/-w/4e5f.jsonl")
    monkeypatch.chdir(tmp_path)
    for ignored in ("other", f"{tmp_path}/other\0"):
        assert set(found_in(machine, {"CLAUDE_CONFIG_DIR": ignored})) == default
    assert set(found_in(machine, {"CLAUDE_CONFIG_DIR": "~/mine"})) == {*default, ("claude", "4e5f")}


def test_each_agent_keeps_its_sessions_in_its_own_way(tmp_path: Path) -> None:
    """What lies where an agent keeps it is found; what is not a session is left out."""
    machine = fake_machine(tmp_path, with_captures=False)
    # The agents of a workflow lie two folders deeper; its journal is not a session.
    session = "279aaafe-55af-410f-8602-dcb83b5e850d"
    workflow = machine.home / f".claude/projects/-w/{session}/subagents/workflows/wf_1"
    put(workflow / "agent-1.jsonl")
    put(workflow / "agent-1.meta.json", '{"agentType": "general-purpose"}')
    put(workflow / "journal.jsonl")
    put(workflow / "agent-1.txt")
    # A subagent of an older version lies beside its session; one that names no session is left out.
    put(workflow.parents[3] / "agent-3.jsonl", '{"isSidechain": true, "sessionId": "0a1b", "type": "user"}\n')
    put(workflow.parents[3] / "agent-2.jsonl", '{"type":"user"}\n')
    # Before the first prompt, Copilot has only the lock of the process or the description.
    copilot = machine.home / ".copilot/session-state"
    put(copilot / "a/inuse.17.lock")
    put(copilot / "b/workspace.yaml", "id: b\nname: Say hello\nuser_named: true\n")
    (copilot / "c").mkdir()
    # The name, the working directory and the start of a recording of our own are in the file beside it.
    folder = machine.home / ".agentwatch/sessions"
    put(folder / "20261122-100000-000bbbbbb.ndjson")
    described = '{"name": "Fix the parser", "cwd": "/w", "started_ms": 1795300000000, "command": ["x"]}'
    put(folder / "20261122-100000-000bbbbbb.json", described)
    put(folder / "lonely.json", described)
    put(folder / "20261122-100000-000bbbbbb.bookmarks.json")
    # Codex compresses old rollouts; the one that is not compressed wins if both are there.
    stem = "rollout-2026-08-03T10-48-56-019fc8be-3658-7ca3-9e29-000000000000"
    rollout = put(machine.home / f".codex/sessions/2026/08/03/{stem}.jsonl.zst")
    # A subagent of Droid names its session in its first line.
    for name, calling in (
        ("0d1", '"callingSessionId": "0d0"'),
        ("0d0", '"title": "\\"callingSessionId\\": \\"x\\""'),
    ):
        put(machine.home / f".factory/sessions/-w/{name}.jsonl", f'{{"type": "session_start", {calling}}}\n')
    found = found_in(machine)
    assert {key: (each.parent, each.reach, each.metadata.title) for key, each in found.items()} == {
        ("claude", "agent-1"): (session, Reach.LINES, "general-purpose"),
        ("claude", "agent-3"): ("0a1b", Reach.LINES, ""),
        ("copilot", "a"): (None, Reach.LISTED, ""),
        ("copilot", "b"): (None, Reach.LISTED, "Say hello"),
        ("agentwatch", "20261122-100000-000bbbbbb"): (None, Reach.LINES, "Fix the parser"),
        ("codex", stem[-36:]): (None, Reach.STORE, ""),
        ("droid", "0d0"): (None, Reach.LINES, ""),
        ("droid", "0d1"): ("0d0", Reach.LINES, ""),
    }
    assert found["copilot", "b"].metadata.is_users_title
    metadata = found["agentwatch", "20261122-100000-000bbbbbb"].metadata
    assert (metadata.is_users_title, metadata.cwd, metadata.began_ms) == (True, "/w", 1795300000000)
    put(rollout.with_suffix(""))
    codex = found_in(machine)["codex", stem[-36:]]
    assert (codex.path.suffix, codex.reach) == (".jsonl", Reach.LINES)


def test_a_description_of_copilot_is_older_than_its_lines(machine: FakeMachine) -> None:
    """It is written at the first prompt, and not when the session is resumed: `copilot --continue` has the
    session that was written last."""
    for name, described_s, changed_s in (("newest", 10, 90), ("other", 20, 50)):
        folder = machine.home / ".copilot/session-state" / name
        put(folder / "workspace.yaml", f"cwd: /repo\nupdated_at: 2026-11-30T01:07:{described_s}.000Z\n")
        os.utime(put(folder / "events.jsonl"), (1_796_000_800 + changed_s,) * 2)
    process = Process(7, 1, "copilot", 1_796_001_000_000, "/repo", arguments=("copilot", "--continue"))
    joins = session_joins(found_in(machine).values(), {7: process}, {}, {})
    runs = {key: each.pid for key, (life, each) in joins.items() if life is Life.LIVE and each}
    assert runs == {("copilot", "newest"): 7}


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


FOLDER = Folder("/x", Kind("cursor"))
LINES = SessionEntry("cursor", "1", Path("/x/1.jsonl"), 10, 1)
DOCUMENT = SessionEntry("cursor", "1", Path("/x/1.json"), 10, 9, reach=Reach.STORE)
PACKED = SessionEntry("cursor", "1", Path("/x/1.jsonl.zst"), 10, 5, reach=Reach.STORE)
LISTED = SessionEntry(
    *("cursor", "1", Path("/x/meta"), 3, 7, 0, Reach.LISTED, "parent"),
    Metadata("Listed", True, "prompt", "/w", "main", "opus", 1, 2, is_archived=True),
)


def reported(*founds: SessionEntry) -> SessionEntry:
    """Return what is reported of a session that lies in these places."""
    candidates = Candidates()
    touched = set()
    for number, found in enumerate(founds):
        touched |= candidates.replace(FOLDER, str(number), (), [found])
    (session,) = candidates.changes(touched).found
    return session


def test_the_best_place_of_a_session_is_reported() -> None:
    """Lines win over other forms, and so does the newer of two equal places."""
    # The order in which the places are found does not matter.
    for founds in ((LINES, DOCUMENT, PACKED), (DOCUMENT, PACKED, LINES), (PACKED, LINES, DOCUMENT)):
        assert reported(*founds) == LINES
    assert reported(DOCUMENT, PACKED) == PACKED
    # A session may have been copied with its folder.
    newer = LINES._replace(path=Path("/y/1.jsonl"), changed_ns=2)
    assert reported(LINES, newer) == reported(newer, LINES) == newer
    # What the best place knows stays; whether it is archived depends on that place alone.
    metadata = LISTED.metadata._replace(is_archived=False)
    assert reported(LISTED, LINES) == LINES._replace(metadata=metadata, parent="parent")
    own = Metadata("Own", False, "", "/own", None, None, None, None)
    joined = reported(LISTED, LINES._replace(metadata=own, parent="other"))
    assert joined.metadata == Metadata("Own", False, "prompt", "/own", "main", "opus", 1, 2)
    assert joined.parent == "other"
    whole = LISTED.metadata._replace(title="Whole")
    assert reported(LISTED, LINES._replace(metadata=whole)).metadata == whole
    # Before that, the other place is reported; what was never reported does not vanish.
    candidates = Candidates()
    touched = candidates.replace(FOLDER, "a", (), [LINES]) | candidates.replace(FOLDER, "b", (), [LISTED])
    candidates.changes(touched)
    (found,) = candidates.changes(candidates.replace(FOLDER, "a", [LINES], [])).found
    assert found == LISTED
    assert candidates.changes(candidates.replace(FOLDER, "b", [LISTED], [])) == ([], [LISTED.key])
    assert candidates.of(LISTED.key) == ()
    candidates.replace(FOLDER, "a", (), [LINES])
    assert candidates.changes(candidates.replace(FOLDER, "a", [LINES], [])) == ([], [])


def test_a_made_session_is_read_as_its_agents(
    tmp_path: Path, opened_session: Callable[[Path], Session]
) -> None:
    """A made session has its id, its prompt and its one call, which ended well or is still open."""
    made = partial(fake_machine, sessions=len(EVERY), agents=EVERY, with_captures=False)
    ended, is_open = made(tmp_path / "ended"), made(tmp_path / "open", open_calls=len(EVERY))
    for (agent, name), path in ended.made.items():
        with case(path):
            session = opened_session(path)
            assert session.agent_name == agent
            assert [run.session_id for run in session.runs] in ([name], [None])  # Kimi's lines have none
            assert [call.target for call in session.calls] == ["pytest -q"]
            assert not session.open_calls
            assert not session.lines.malformed
    for (agent, _), path in is_open.made.items():
        with case(path):  # Gemini writes a call when it has ended
            assert opened_session(path).never_completed == (agent != "gemini")
    for machine in (ended, is_open):
        assert {key: found.path for key, found in found_in(machine).items()} == machine.made


STORY = Story("5b0c8c1e-2f4d-4a79-9d53-0d6a6b1f7e22", "/w", "Say hello", 1795300000000)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is of Linux")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return how often each folder was scanned, and looked at."""
    counts: Counter[str] = Counter()
    scan, look = entries_of, own_folder

    def scanned(folder: Folder, uid: int) -> object:
        counts["scans"] += 1
        return scan(folder, uid)

    def looked(path: str, uid: int) -> int | None:
        counts["looks"] += 1
        counts[path] += 1
        return look(path, uid)

    monkeypatch.setattr(places, "entries_of", scanned)
    monkeypatch.setattr(places, "own_folder", looked)
    return counts


@pytest.mark.system
def test_a_look_at_a_machine_at_rest_scans_little(tmp_path: Path, clock: Clock, scans: Counter[str]) -> None:
    """A look compares no old folder of one session or day, and scans a fifteenth of all folders at most."""
    machine = fake_machine(tmp_path, 2000, with_captures=False)
    places = settled(machine, clock, 7 * 24 * 3600)
    folders = len([path for path in machine.home.rglob("*") if path.is_dir() and "work" not in path.parts])
    cold = [*machine.home.glob(".copilot/session-state/*"), *machine.home.glob(".codex/sessions/*/*/*")]
    assert len(cold) > 150
    for _ in range(int(FULL_PASS_S / PASS_S)):
        scans.clear()
        assert places.refresh(clock.after(PASS_S)) == ([], [])
        assert scans["scans"] <= folders / 15 + 3
        assert scans["looks"] <= folders - len(cold) + 20 + scans["scans"]
    scans.clear()
    for _ in range(int(FULL_PASS_S / PASS_S)):
        places.refresh(clock.after(PASS_S))
    assert scans["scans"] <= folders + 2


@on_linux
def test_a_look_at_watched_folders_looks_at_none(tmp_path: Path, clock: Clock, scans: Counter[str]) -> None:
    """They are scanned once at first, and again only after ten minutes."""
    machine = fake_machine(tmp_path, 130, with_captures=False)
    let_age(machine.home.rglob("*"))
    places = places_of(machine)
    all_found(places)
    folders = {str(path.parent) for (agent, _), path in machine.made.items() if agent in ("claude", "pi")}
    for seconds, expected in ((60, set[str]()), (600, folders)):
        scans.clear()
        for _ in range(int(seconds / PASS_S)):
            assert places.refresh(clock.after(PASS_S)) == ([], [])
        assert folders & scans.keys() == expected


def test_a_folder_that_is_gone_is_not_looked_at(
    tmp_path: Path, clock: Clock, scans: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither are the folders that were in it."""
    let_poll(monkeypatch)
    machine = fake_machine(tmp_path, 13, with_captures=False)
    places = settled(machine, clock)
    gone = next((machine.home / ".qwen/projects").iterdir())
    for is_there in (True, False):
        scans.clear()
        places.refresh(clock.after(PASS_S))
        assert any(path.startswith(str(gone)) for path in scans) is is_there
        if is_there:
            shutil.rmtree(gone)
            places.refresh(clock.after(PASS_S))


@pytest.mark.slow
@pytest.mark.parametrize("sessions", [500, pytest.param(5000, marks=pytest.mark.system)])
def test_each_folder_is_scanned_once_at_first(tmp_path: Path, scans: Counter[str], sessions: int) -> None:
    """5,000 sessions in some 1,000 folders are found with one scan of each folder."""
    machine = fake_machine(tmp_path, sessions, with_captures=False)
    assert set(all_found(places_of(machine))) == set(machine.made)
    folders = [path for path in machine.home.rglob("*") if path.is_dir() and "work" not in path.parts]
    assert scans["scans"] <= len(folders)


def test_the_newest_folders_come_first(tmp_path: Path) -> None:
    """The first batch has the newest session, and comes before most folders are read."""
    machine = fake_machine(tmp_path, 500, with_captures=False)
    first = next(places_of(machine).first())
    assert first[0].key == next(iter(machine.made))
    assert len(first) < 100
    assert [found.changed_ns for found in first] == sorted((each.changed_ns for each in first), reverse=True)
    # A session that was resumed lies in an old folder, whose time does not change as the file grows.
    path = save(machine.home, "claude", STORY)
    let_age([path.parent])
    registry = machine.home / ".claude/sessions"
    put(registry / "17.json", '{"cwd": "/w"}')
    put(registry / "18.json", '{"cwd": 3}')
    put(registry / "18.key", '{"cwd": "/other"}')
    assert [found.key for found in next(places_of(machine).first())] == [("claude", STORY.id)]


# A chat of Gemini has the id that its first line names, and the working directory of its folder.

HEAD = '{"sessionId":"70a6e3dc-0c3d","startTime":"2026-11-21T23:08:36.377Z"}\n'
CHAT = "chats/session-2026-11-21T23-08-70a6e3dc"


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """Return a machine without sessions."""
    return fake_machine(tmp_path, with_captures=False)


@pytest.fixture
def tmp(machine: FakeMachine) -> Path:
    """Return Gemini's folder of sessions."""
    return machine.home / ".gemini/tmp"


def projects(tmp: Path, **slugs: str) -> None:
    """Write the directory of each slug."""
    put(tmp.parent / "projects.json", orjson.dumps({"projects": slugs}).decode())


def test_two_forms_of_a_chat_are_one_session(machine: FakeMachine, tmp: Path) -> None:
    """An old document and the lines in which it went on have one id; the lines are read."""
    put(tmp / f"p/{CHAT}.json", '{\n  "kind": "chat",\n  "sessionId" : "70a6e3dc-0c3d",\n  "messages": []}')
    places = places_of(machine)
    ((key, found),) = all_found(places).items()
    assert (key, found.reach) == (("gemini", "70a6e3dc-0c3d"), Reach.STORE)
    put(tmp / f"p/{CHAT}.jsonl", HEAD)
    (found,) = places.refresh(PASS_S).found
    assert (found.key, found.reach, found.path.suffix) == (key, Reach.LINES, ".jsonl")
    (tmp / f"p/{CHAT}.jsonl").unlink()
    (found,) = places.refresh(2 * PASS_S).found
    assert (found.key, found.path.suffix) == (key, ".json")


def test_a_chat_that_grows_keeps_its_id(machine: FakeMachine, tmp: Path) -> None:
    """Only a file that was replaced is read again; a chat without an id has the name of its file."""
    path = put(tmp / f"p/{CHAT}.jsonl", HEAD)
    places = places_of(machine)
    all_found(places)
    key = ("gemini", "70a6e3dc-0c3d")
    path.write_text(HEAD.replace("70a6", "80a6") + HEAD)
    assert [each.key for each in places.check([key]).found] == [key]
    other = put(tmp / "other", HEAD.replace("70a6", "90a6"))
    os.replace(other, path)
    changes = places.check([key])
    assert [each.id for each in changes.found] == ["90a6e3dc-0c3d"]
    assert changes.vanished == [key]
    # Its first line may be torn, too long or hostile.
    heads = (
        "",
        "{",
        '{"sessionId":3}',
        '{"sessionId":"a/b"}',
        '{"sessionId":"a\\u001bb"}',
        " " * 5000 + HEAD,
    )
    path.unlink()
    for number, head in enumerate(heads):
        put(tmp / f"p/chats/session-{number}.jsonl", head)
    assert set(found_in(machine)) == {("gemini", f"session-{number}") for number in range(len(heads))}


def test_the_working_directory_is_that_of_the_folder(machine: FakeMachine, tmp: Path) -> None:
    """It is in the folder, or beside all folders; an old folder has the hash of it as its name."""
    projects(tmp, **{"/by-slug": "slug", "/hashed": "new", "relative": "bad"})
    old = hashlib.sha256(b"/hashed").hexdigest()
    put(tmp / "rooted/.project_root", "/rooted\n")
    for folder in ("slug", old, "new", "bad", "rooted", "none"):
        put(tmp / f"{folder}/chats/session-{folder}.jsonl")
    cwds = {each.id.removeprefix("session-"): each.metadata.cwd for each in found_in(machine).values()}
    assert cwds == {
        "slug": "/by-slug",
        old: "/hashed",
        "new": "/hashed",
        "bad": None,
        "rooted": "/rooted",
        "none": None,
    }


def test_a_working_directory_may_become_known_later(machine: FakeMachine, tmp: Path) -> None:
    """It is asked for again when the chat changes; a subagent lies in a folder with the id of its session."""
    clock = Clock()
    path = put(tmp / f"p/{CHAT}.jsonl", HEAD)
    places = places_of(machine)
    ((key, found),) = all_found(places).items()
    assert found.metadata.cwd is None
    projects(tmp, **{"/w": "p"})
    path.write_text(HEAD * 2)
    (found,) = places.check([key]).found
    assert found.metadata.cwd == "/w"
    projects(tmp, **{"/other": "p"})
    put(tmp / "p/chats/session-2.jsonl")
    (found,) = places.refresh(clock.after(PASS_S)).found
    assert found.metadata.cwd == "/w"
    put(tmp / "p/chats/70a6e3dc-0c3d/abc.jsonl", HEAD)
    assert found_in(machine)["gemini", "abc"].parent == "70a6e3dc-0c3d"
    assert {each.metadata.cwd for each in found_in(machine).values()} == {"/other"}


# The files beside sessions are read as far as they can be understood.

WORKSPACES = [
    (b"name: Say hello\ncwd: /w\n", {"name": "Say hello", "cwd": "/w"}),
    (b"name: 'It''s done'\n", {"name": "It's done"}),
    (b'name: "a \\"b\\" \\u00e9"\n', {"name": 'a "b" é'}),
    (b'name: "torn\n', {"name": '"torn'}),
    (b"name: 'torn\nother: '\n", {"name": "'torn", "other": "'"}),
    (b"name: |-\n  one\n  two\ncwd: /w", {"name": "one two", "cwd": "/w"}),
    (b"name: a long text\n  that goes on\n\ncwd: /w\n", {"name": "a long text that goes on", "cwd": "/w"}),
    (b"name: a: b\n", {"name": "a: b"}),
    (b"name: null\ncwd: ~\nbranch:\n", {}),
    (b"name:\n  - one\n", {"name": "- one"}),
    (b"name: \xff\n", {"name": "�"}),
    (b"one", {}),
    (b"  indented: first\nname: x\n", {"name": "x"}),
    (b"", {}),
]


def test_the_texts_of_a_workspace_are_read() -> None:
    """A text may have quotes, and may go on in indented lines."""
    for data, texts in WORKSPACES:
        with case(data):
            assert yaml_texts(data) == texts


def test_a_document_is_read_in_part_or_not_at_all(tmp_path: Path) -> None:
    """Its first 1,000 lines count. Neither has a path that no file can have, nor a folder."""
    texts = yaml_texts(b"".join(b"key%d: x\n" % number for number in range(5000)))
    assert len(texts) == 1000
    for path in (tmp_path / "gone", tmp_path, "a\0b"):
        assert json_object(str(path)) == {}
        assert first_text(str(path), "id") == ""


def test_a_file_is_read_as_far_as_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may be gone or unreadable; half an emoji in a title is replaced."""
    # An agent that cuts a title inside an emoji writes half a surrogate pair, which U+FFFD replaces.
    path = tmp_path / "x"
    path.write_bytes(b'{"title": "a\\ud83d", "cwd": "/w"}')
    assert json_object(str(path)) == {"title": "a\N{REPLACEMENT CHARACTER}", "cwd": "/w"}
    path.write_bytes(b"{" * 5000)
    assert json_object(str(path)) == {}
    # It is looked for in the first 4 KiB; an escaped text is left out. A text, a name, an id and a folder are
    # texts.
    path.write_bytes(b'{"a": {"id" : "one"}, "id": "two"}')
    assert first_text(str(path), "id") == "one"
    assert first_text(str(path), "other") == ""
    path.write_bytes(b'{"id": "a\\nb"}')
    assert first_text(str(path), "id") == ""
    for value in (None, 3, True, b"x", ["x"], {"x": "y"}, ""):
        with case(value):
            assert text_in(value) == ""
            assert name_in(value) is None
            assert id_in(value) is None
            assert folder_in(value) is None
    # A file that can be opened may not be readable.
    path.write_bytes(b"{}")

    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "pread", fail)
    assert json_object(str(path)) == {}


def test_a_folder_is_an_absolute_path() -> None:
    """A path of Windows counts too."""
    cases: list[tuple[str, str | None]] = [
        ("/w", "/w"),
        ("C:\\w", "C:\\w"),
        ("\\\\host\\w", "\\\\host\\w"),
        ("w", None),
        ("/" * 5000, None),
    ]
    for value, folder in cases:
        with case(f"{value:.40}"):
            assert folder_in(value) == folder
    assert folder_in("/a\0b") is None


def test_a_time_is_a_positive_number() -> None:
    """Of a fraction of a millisecond, the whole ones count."""
    cases: list[tuple[object, int | None]] = [
        (5, 5),
        (5.7, 5),
        (0, None),
        (-1, None),
        (1e300, None),
        (True, None),
        ("5", None),
    ]
    for value, ms in cases:
        with case(value):
            assert time_in(value) == ms
    assert time_in(float("nan")) is None


def test_a_file_that_is_as_it_is_known_is_left_out(tmp_path: Path) -> None:
    """Unless it has changed, or another file of its session is found."""
    machine = fake_machine(tmp_path, 26, with_captures=False)
    every = {each.path: each for each in all_found(places_of(machine)).values()}
    stamps = {f"{each.path}": (each.size, each.changed_ns, each.agent, each.id) for each in every.values()}

    def read() -> tuple[dict[Path, SessionEntry], set[Path]]:
        places = Places(machine.environ, machine.home, os.geteuid(), stamps)
        return {each.path: each for each in all_found(places).values()}, set(map(Path, places.unread))

    found, unread = read()
    assert found.keys() | unread == every.keys()
    assert found.keys().isdisjoint(unread)
    assert {every[path].agent for path in unread} >= {"claude", "codex", "gemini", "pi"}
    grown, twice, gone, *_ = sorted(path for path in unread if every[path].agent in ("codex", "claude"))[::-1]
    with grown.open("a") as file:
        file.write("{}\n")
    gone.unlink()
    compressed = twice.with_name(f"{twice.name}.zst")
    compressed.write_bytes(b"")
    again, left = read()
    assert again.keys() - found.keys() == {grown, twice}
    assert again[twice] == every[twice]
    assert left == unread - {grown, twice, gone}
