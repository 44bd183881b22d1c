"""What changes on disk is noticed: at once where the folder changes, within a minute where a file does."""

import errno
import os
import shutil
import sys
from pathlib import Path

import pytest

from agentwatch.agents.session_entry import Reach, SessionEntry
from agentwatch.catalog.places import FULL_PASS_S, PASS_S, Places
from tests.builders.machine.fake import FakeMachine, fake_machine, save
from tests.builders.machine.made import Story
from tests.builders.machine.searched import Clock, all_found, let_age, let_poll, places_of, put, settled
from tests.conftest import case


def within_a_minute(places: Places, clock: Clock) -> list[SessionEntry]:
    """Return what the looks of a full pass find."""
    return [
        each for _ in range(int(FULL_PASS_S / PASS_S)) for each in places.refresh(clock.after(PASS_S)).found
    ]


STORY = Story("5b0c8c1e-2f4d-4a79-9d53-0d6a6b1f7e22", "/w", "Say hello", 1795300000000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True, params=["watched", "polled"])
def is_watched(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether folders are watched: each test holds either way."""
    if request.param == "polled":
        let_poll(monkeypatch)
    return request.param == "watched" and sys.platform == "linux"


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """Return a machine with two made sessions of each agent."""
    return fake_machine(tmp_path, 26, with_captures=False)


def test_a_new_session_is_found_with_its_folder(machine: FakeMachine, clock: Clock) -> None:
    """A new file in a new or in a known folder is found by the next look, and its end too."""
    places = settled(machine, clock)
    for agent in ("claude", "codex", "gemini", "qwen", "pi", "copilot"):
        with case(agent):
            paths = []
            for number in range(2):
                story = STORY._replace(
                    id=f"{STORY.id[:-1]}{number}", began_ms=STORY.began_ms + number * 10**6
                )
                paths.append(save(machine.home, agent, story))
                changes = places.refresh(clock.after(PASS_S))
                assert [found.key for found in changes.found] == [(agent, story.id)]
                assert changes.vanished == []
            for path in paths:
                path.unlink()
            changes = places.refresh(clock.after(PASS_S))
            assert (len(changes.vanished), changes.found) == (2, [])
            assert places.refresh(clock.after(PASS_S)) == ([], [])


def test_a_file_that_grows_is_noticed_within_a_minute(machine: FakeMachine, clock: Clock) -> None:
    """It does not change its folder: the full pass sees it, and a look at chosen sessions at once."""
    # Only the full pass sees it, and reports it once.
    places = settled(machine, clock)
    (key, path), *_ = machine.made.items()
    with path.open("a") as file:
        file.write("{}\n")
    let_age([path.parent])
    found = within_a_minute(places, clock)
    assert [(each.key, each.size) for each in found] == [(key, path.stat().st_size)]
    # A session that is watched closely is reported when it has grown, and when it is gone.
    (key, path), (other, gone), *_ = machine.made.items()
    assert places.check([key, other]) == ([], [])
    with path.open("a") as file:
        file.write("{}\n")
    gone.unlink()
    changes = places.check([key, other, ("claude", "unknown")])
    assert [(each.key, each.size) for each in changes.found] == [(key, path.stat().st_size)]
    assert changes.vanished == [other]
    assert places.check([key, other]) == ([], [])
    assert places.refresh(clock.after(PASS_S)) == ([], [])


def test_a_file_that_grows_is_noticed_at_once_where_it_is_watched(
    machine: FakeMachine, clock: Clock, is_watched: bool
) -> None:
    """So is one that another replaces, and one in a folder that was made again, or after lost notes."""
    places = settled(machine, clock)
    (key, path), *_ = ((key, path) for key, path in machine.made.items() if key[0] == "claude")

    def sizes() -> list[int]:
        return [each.size for each in places.refresh(clock.after(PASS_S)).found if each.key == key]

    let_age([path.parent])
    for number in range(1, 4):
        path.with_suffix(".tmp").write_text("{}\n" * number)
        os.replace(path.with_suffix(".tmp"), path)
        let_age([path.parent])
        assert sizes() == [3 * number] or not is_watched
        with path.open("a") as file:
            file.write("{}\n")
        assert sizes() == [3 * number + 3] or not is_watched
        if number == 1:
            path.parent.rename(path.parent.with_name("-moved"))
            shutil.copytree(path.parent.with_name("-moved"), path.parent)
            shutil.rmtree(path.parent.with_name("-moved"))
            places.refresh(clock.after(PASS_S))
            within_a_minute(places, clock)
        elif number == 2:
            for each in range(9_000):  # more than the kernel keeps
                os.utime(path, (each, each))
                os.utime(path.parent / path.name, (each, each + 1))
                path.with_suffix(".a").touch()
            within_a_minute(places, clock)


def test_copilot_begins_with_its_lock(machine: FakeMachine, clock: Clock) -> None:
    """A session of Copilot is listed as soon as its process has a lock, and opened once it has lines."""
    # The name of a session of Copilot is in a file beside it.
    ((key, path), *_) = (item for item in machine.made.items() if item[0][0] == "copilot")
    described = put(path.with_name("workspace.yaml"), "name: One\n")
    places = settled(machine, clock)
    described.write_text("name: Another\nuser_named: true\n")
    (found,) = places.check([key]).found
    assert (found.metadata.title, found.metadata.is_users_title) == ("Another", True)
    described.unlink()
    (found,) = places.check([key]).found
    assert found.metadata.title == ""
    folder = machine.home / ".copilot/session-state/new"
    lock = put(folder / "inuse.17.lock")
    (found,) = places.refresh(clock.after(PASS_S)).found
    assert found.reach is Reach.LISTED
    put(folder / "events.jsonl")
    (found,) = places.refresh(clock.after(PASS_S)).found
    assert found.reach is Reach.LINES
    lock.unlink()
    (folder / "events.jsonl").unlink()
    assert places.refresh(clock.after(PASS_S)).vanished == [("copilot", "new")]


def test_what_an_agent_was_sent_belongs_to_its_recording(machine: FakeMachine, clock: Clock) -> None:
    """The size of a recording of `acp` is that of both directions; each of them changes it."""
    path = put(machine.home / ".agentwatch/sessions/20261101-120000-012345678.ndjson", "one\n")
    sent = put(path.with_suffix(".sent"), "two\n")
    places = settled(machine, clock)
    for file, size in ((sent, 12), (path, 16)):
        with file.open("a") as lines:
            lines.write("new\n")
        (each,) = places.check([("agentwatch", path.stem)]).found
        assert (each.path, each.size) == (path, size)
        assert each.changed_ns == file.stat().st_mtime_ns
    with sent.open("a") as lines:
        lines.write("new\n")
    let_age([path.parent])
    assert [each.size for each in within_a_minute(places, clock)] == [20]


@pytest.mark.parametrize(
    ("agent", "main", "subagents"),
    [
        ("claude", f".claude/projects/-w/{STORY.id}.jsonl", f".claude/projects/-w/{STORY.id}/subagents"),
        ("cursor", f".cursor/projects/w/agent-transcripts/{STORY.id}/{STORY.id}.jsonl", "subagents"),
        ("gemini", ".gemini/tmp/w/chats/session-1.jsonl", STORY.id),
    ],
)
def test_a_session_that_goes_on_may_get_subagents(
    agent: str, main: str, subagents: str, machine: FakeMachine, clock: Clock
) -> None:
    """A subagent of an old session is found by the next look if the session has changed."""
    path = put(machine.home / main, f'{{"sessionId":"{STORY.id}"}}\n')
    folder = path.parent / subagents if agent != "claude" else machine.home / subagents
    put(folder / "agent-1.jsonl")
    places = settled(machine, clock, 7200)
    put(folder / "agent-2.jsonl")
    path.write_bytes(path.read_bytes() * 2)
    assert [found.id for found in places.check([(agent, STORY.id)]).found] == [STORY.id]
    (found,) = places.refresh(clock.after(PASS_S)).found
    assert (found.id, found.parent) == ("agent-2", STORY.id)


def test_every_session_can_be_checked(tmp_path: Path) -> None:
    """Nothing has changed on a machine on which nothing was written, whatever keeps a session."""
    machine = fake_machine(tmp_path)
    places = places_of(machine)
    assert places.check(all_found(places)) == ([], [])


def test_a_rollout_that_is_archived_stays_one_session(machine: FakeMachine, clock: Clock) -> None:
    """Codex moves its file; the session is reported again, as archived, and does not vanish."""
    places = settled(machine, clock)
    ((key, path), *_) = (item for item in machine.made.items() if item[0][0] == "codex")
    archive = machine.home / ".codex/archived_sessions"
    archive.mkdir()
    shutil.move(path, archive)
    let_age([archive / path.name])
    found, vanished = [], []
    for _ in range(int(FULL_PASS_S / PASS_S)):
        changes = places.refresh(clock.after(PASS_S))
        found += changes.found
        vanished += changes.vanished
    assert vanished == []
    assert (found[-1].key, found[-1].path.parent) == (key, archive)
    assert found[-1].metadata.is_archived


def test_a_folder_that_is_gone_takes_its_sessions_with_it(machine: FakeMachine, clock: Clock) -> None:
    """All sessions below vanish, and are found again once the folder is back."""
    places = settled(machine, clock)
    root = machine.home / ".claude"
    claude = {key for key in machine.made if key[0] == "claude"}
    root.rename(machine.home / "away")
    assert set(places.refresh(clock.after(PASS_S)).vanished) == claude
    assert places.refresh(clock.after(PASS_S)) == ([], [])
    (machine.home / "away").rename(root)
    assert {found.key for found in places.refresh(clock.after(PASS_S)).found} == claude
    project = next(path for path in (root / "projects").iterdir())
    gone = {("claude", path.stem) for path in project.iterdir()}
    shutil.rmtree(project)
    assert set(places.refresh(clock.after(PASS_S)).vanished) == gone
    for _ in range(int(FULL_PASS_S / PASS_S)):
        assert places.refresh(clock.after(PASS_S)) == ([], [])


def test_a_folder_that_appears_later_is_found(tmp_path: Path, clock: Clock) -> None:
    """An agent that is installed while the list is shown is in it; so is one that a link leads to."""
    machine = fake_machine(tmp_path, with_captures=False)
    places = places_of(machine)
    assert places.refresh(clock.after(PASS_S)) == ([], [])
    path = save(machine.home, "claude", STORY)
    (found,) = places.refresh(clock.after(PASS_S)).found
    assert found.path == path
    put(tmp_path / "elsewhere/sessions/2026/11/22/rollout-1.jsonl")
    (machine.home / ".codex").symlink_to(tmp_path / "elsewhere")
    found_later = [*within_a_minute(places, clock), *places.refresh(clock.after(PASS_S)).found]
    assert [each.key for each in found_later] == [("codex", "rollout-1")]


def test_a_second_change_within_the_step_of_the_clock_is_noticed(
    machine: FakeMachine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that had just changed when it was scanned is scanned again, though its time is the same."""
    places = settled(machine, clock)
    first = save(machine.home, "claude", STORY)
    at_ns = first.parent.stat().st_mtime_ns
    assert len(places.refresh(clock.after(PASS_S)).found) == 1
    save(machine.home, "claude", STORY._replace(id=STORY.id[:-1] + "9"))
    let_age([first.parent], at_ns)
    assert len(places.refresh(clock.after(PASS_S)).found) == 1


def test_a_clock_behind_the_times_of_the_files_is_no_error(tmp_path: Path, clock: Clock) -> None:
    """Files of the future are found, and what changes in their folders."""
    machine = fake_machine(tmp_path, 13, newest_ms=4_000_000_000_000, with_captures=False)
    places = places_of(machine)
    assert set(all_found(places)) == set(machine.made)
    (path, *_) = machine.made.values()
    path.unlink()
    assert len(places.refresh(clock.after(PASS_S)).vanished) == 1


def test_an_old_folder_of_one_session_is_looked_at_once_a_minute(
    machine: FakeMachine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing new is expected there; a folder that has changed in the last hour is looked at each time."""
    let_poll(monkeypatch)
    session = "279aaafe-55af-410f-8602-dcb83b5e850d"
    subagents = machine.home / f".claude/projects/-w/{session}/subagents"
    put(subagents / "agent-1.jsonl")
    places = settled(machine, clock, 7200)
    put(subagents / "agent-2.jsonl")
    assert places.refresh(clock.after(PASS_S)).found == []
    assert [each.id for each in within_a_minute(places, clock)] == ["agent-2"]
    put(subagents / "agent-3.jsonl")
    assert [each.id for each in places.refresh(clock.after(PASS_S)).found] == ["agent-3"]


def test_an_error_that_passes_takes_no_session_away(
    machine: FakeMachine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With too many open files no folder can be read; what was known still holds."""
    places = settled(machine, clock)
    path = save(machine.home, "claude", STORY)

    def fail(*_: object) -> None:
        raise OSError(errno.EMFILE, "too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", fail)
        assert places.refresh(clock.after(PASS_S)) == ([], [])
    (found,) = places.refresh(clock.after(PASS_S)).found
    assert found.path == path
