"""Whatever lies in the folders of agents: nothing raises, no link is followed, and no secret is opened."""

import json
import os
from pathlib import Path
from typing import Any, Self

import pytest

from agentwatch.agents.claude.program import projects
from agentwatch.agents.places import Folder
from agentwatch.agents.session_entry import NO_METADATA, Key, SessionEntry
from agentwatch.catalog.places import PASS_S, Places, entries_of, notes_of
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.builders.machine.searched import Clock, all_found, found_in, let_age, places_of, put, settled
from tests.conftest import case

SECRETS = (
    *(".claude/.credentials.json", ".claude/sessions/1416.0a1b.key", ".codex/auth.json"),
    *(".gemini/oauth_creds.json", ".qwen/oauth_creds.json", ".local/share/opencode/auth.json"),
    *(".claude/projects/-w/auth.json", ".copilot/session-state/x/1.key", ".claude/projects/-w/x.key"),
)
WRONG: list[Any] = [None, True, 0, -1, 1e300, 1 << 80, "", [], {}, ["x"], {"x": 1}, "x\n\x1b[31m", "é" * 3000]


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """Return a machine with one made session of each agent."""
    return fake_machine(tmp_path, 13, with_captures=False)


def test_files_with_secrets_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and credentials lie beside the sessions."""
    machine = fake_machine(tmp_path)
    secrets = {str(put(machine.home / name)) for name in SECRETS}
    opened: set[str] = set()
    really = os.open

    def noted(path: Any, *rest: Any, **more: Any) -> int:
        opened.add(os.fspath(path))
        return really(path, *rest, **more)

    monkeypatch.setattr(os, "open", noted)
    places = places_of(machine)
    assert set(all_found(places)) == set(machine.sessions)
    places.refresh(PASS_S)
    assert any(path.endswith("workspace.yaml") for path in opened)
    assert not opened & secrets
    assert not any("auth" in path or "cred" in path or path.endswith(".key") for path in opened)


def test_only_regular_files_below_a_root_are_sessions(machine: FakeMachine, tmp_path: Path) -> None:
    """A link is left out, wherever it leads to; so are FIFOs, folders and names that cannot be shown."""
    elsewhere = put(tmp_path / "elsewhere/-x/0a1b.jsonl")
    projects = machine.home / ".claude/projects"
    project = next(projects.iterdir())
    (project / "2c3d.jsonl").symlink_to(elsewhere)
    (projects / "-linked").symlink_to(elsewhere.parent)
    (projects / "-inside").symlink_to(project)
    (projects / "-broken").symlink_to(tmp_path / "absent")
    (projects / "-loop").symlink_to(projects / "-loop")
    assert set(found_in(machine)) == set(machine.made)
    os.mkfifo(project / "0a1b.jsonl")
    (project / "4e5f.jsonl").mkdir()
    put(machine.home / ".claude/projects/file")
    copilot = machine.home / ".copilot/session-state/x"
    copilot.mkdir()
    os.mkfifo(copilot / "workspace.yaml")
    os.mkfifo(copilot / "events.jsonl")
    (machine.home / ".local/share/opencode").mkdir(parents=True)
    os.mkfifo(machine.home / ".local/share/opencode/opencode.db")
    os.mkfifo(machine.home / ".gemini/projects.json")
    assert set(found_in(machine)) == set(machine.made)
    # A name that cannot be shown or typed is left out; one that can is taken as it is.
    for name in (b"a\nb.jsonl", b"\x1b[31m.jsonl", b"\xff\xfe.jsonl", "\u202ex.jsonl".encode()):
        (project / os.fsdecode(name)).write_text("{}\n")
    put(project / "ü [bold] $(id).jsonl")
    put(project / ".jsonl")
    found = set(found_in(machine)) - set(machine.made)
    assert found == {("claude", "ü [bold] $(id)")}


def test_files_of_another_user_are_left_out(machine: FakeMachine) -> None:
    """A monitor of root's, or in a shared home folder, lists its own user's sessions."""
    places = Places(machine.environ, machine.home, os.getuid() + 1)
    assert all_found(places) == {}
    assert places.refresh(PASS_S) == ([], [])
    project = Folder(
        str(next((machine.home / ".claude/projects").iterdir())), projects().below("x") or projects()
    )
    assert entries_of(project, os.getuid()).files
    assert not entries_of(project, os.getuid() + 1).files


def test_a_folder_that_cannot_be_read_hides_its_sessions_only(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others are found, and a line names the folder; they come back once it can be read."""
    clock = Clock()
    places = settled(machine, clock)
    project = next((machine.home / ".claude/projects").iterdir())
    inside = {("claude", path.stem) for path in project.iterdir()}
    really = os.scandir

    def refused(path: Any) -> Any:
        if os.fspath(path) == str(project):
            raise PermissionError(13, "permission denied", path)
        return really(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refused)
        assert set(found_in(machine)) == set(machine.made) - inside
        let_age([project])
        assert set(places.refresh(clock.after(PASS_S)).vanished) == inside
        assert places.refresh(clock.after(PASS_S)) == ([], [])
        assert notes_of(places.problems.values()) == (f"cannot open {project}: permission denied",)
    assert {found.key for found in places.refresh(clock.after(PASS_S)).found} == inside
    assert not places.problems


def test_a_file_that_vanishes_while_it_is_read_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file may be gone between the listing of its folder and its own status, and a folder too."""
    machine = fake_machine(tmp_path)
    really = os.scandir

    class Vanishing:
        """The entries of a folder, which are removed as they are listed."""

        def __init__(self, path: Any) -> None:
            self._entries = list(really(path))

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def __iter__(self) -> Any:
            for entry in self._entries:
                if entry.is_file() and entry.name.endswith((".jsonl", ".json", ".yaml", ".db", ".ndjson")):
                    os.unlink(entry.path)
                yield entry

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", Vanishing)
        assert found_in(machine) == {}


def described(machine: FakeMachine, value: Any) -> dict[Key, SessionEntry]:
    """Return what is found where every description has a value of the wrong type in all its fields."""
    fields = (
        *("title", "description", "agentType", "model", "cwd", "lastUsedModel", "createdAtMs", "name"),
        *("updatedAtMs", "id", "directory", "parentID", "time", "started_ms", "projects", "sessionId"),
    )
    home, wrong = machine.home, json.dumps(dict.fromkeys(fields, value))
    session = "279aaafe-55af-410f-8602-dcb83b5e850d"
    put(home / f".claude/projects/-w/{session}/subagents/agent-1.jsonl")
    put(home / f".claude/projects/-w/{session}/subagents/agent-1.meta.json", wrong)
    put(home / ".cursor/chats/0a/1b/meta.json", wrong)
    put(home / ".local/share/opencode/storage/session/p/ses_1.json", wrong)
    put(home / ".gemini/projects.json", wrong)
    put(home / ".gemini/tmp/p/chats/session-1.json", wrong)
    put(home / ".gemini/tmp/p/.project_root", wrong)
    put(home / ".copilot/session-state/c/workspace.yaml", wrong)
    put(home / ".agentwatch/sessions/r.ndjson")
    put(home / ".agentwatch/sessions/r.json", wrong)
    put(home / ".claude/sessions/1.json", wrong)
    return found_in(machine)


def test_a_description_may_hold_anything(machine: FakeMachine) -> None:
    """A field of a wrong type counts as unknown, a long one is cut; every session is found all the same."""
    for value in WRONG:
        with case(f"{value!r:.40}"):
            found = described(machine, value)
            agents = sorted(agent for agent, _ in set(found) - set(machine.made))
            assert agents == ["agentwatch", "claude", "copilot", "cursor", "gemini", "opencode"]
            for each in found.values():
                known = each.metadata
                assert type(known.title) is str
                assert len(known.title) <= 1000
                assert known.cwd is None or known.cwd.startswith("/")
                assert known.model is None or 0 < len(known.model) <= 1000
                assert known.began_ms is None or type(known.began_ms) is int
                assert each.id.isprintable()
                assert each.parent is None or each.parent.isprintable()


def test_a_description_may_be_no_object(machine: FakeMachine) -> None:
    """A file that is torn, huge or no JSON describes nothing; its session is found."""
    cases: list[str] = ["", "{", "[]", "null", "\0", "{" * 5000, '{"title":"' + "x" * (2 << 20) + '"}']
    for text in cases:
        with case(f"{text!r:.40}"):
            put(machine.home / ".cursor/chats/0a/1b/meta.json", text)
            put(machine.home / ".copilot/session-state/c/workspace.yaml", text)
            found = found_in(machine)
            assert found["cursor", "1b"].metadata == NO_METADATA
            assert found["copilot", "c"].metadata == NO_METADATA
