"""What Claude Code says about its sessions is read as it changes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.claude.reported import ClaudeRecords
from agentwatch.agents.reported import Life, Said, State
from agentwatch.sources.proc import Proc
from tests.catalog.said.claude_registry import NOW, RECORD, Registry
from tests.conftest import case


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Return an empty registry."""
    return Registry(tmp_path)


def test_a_record_says_all_that_a_row_needs(registry: Registry) -> None:
    """The state, its time, the name, the folder and the pane of tmux are in the record."""
    registry.write()
    assert registry.said() == {
        "7e82": Said(
            "claude",
            "7e82",
            Life.LIVE,
            os.getpid(),
            str(Proc().stat(os.getpid()).began),  # type: ignore[union-attr]
            State.WORKING,
            1795301643059,
            "",
            "proj-a8",
            is_users_name=False,
            cwd="/home/dev/proj",
            tmux="main:@0.%0",
            began_ms=1795301454020,
            source=f"file {registry.folder / f'{os.getpid()}.json'}",
        )
    }


STATES: list[tuple[dict[str, Any], State | None, str]] = [
    ({"status": "busy"}, State.WORKING, ""),
    ({"status": "idle"}, State.YOUR_TURN, ""),
    ({"status": "shell"}, State.SHELL, ""),
    ({"status": "waiting", "waitingFor": "permission prompt"}, State.ASKS, "permission"),
    ({"status": "waiting", "waitingFor": "input needed"}, State.ASKS, "question"),
    ({"status": "waiting", "waitingFor": "dialog open"}, State.ASKS, "dialog"),
    ({"status": "waiting", "waitingFor": "something new"}, State.ASKS, ""),
    ({"status": "busy", "waitingFor": "dialog open"}, State.WORKING, ""),
    ({"status": "something new"}, None, ""),
    ({"status": None}, None, ""),
]


def test_each_status_is_a_state(tmp_path: Path) -> None:
    """Each status of Claude Code is a state; an unknown or absent one says only that the session is open."""
    for number, (fields, state, about) in enumerate(STATES):
        with case(fields):
            folder = tmp_path / f"{number}"
            folder.mkdir()
            registry = Registry(folder)
            registry.write(**fields)
            said = registry.said()["7e82"]
            assert (said.life, said.state, said.about) == (Life.LIVE, state, about)
            assert (said.since_ms is None) == (state is None)


def test_a_torn_record_keeps_what_it_said(registry: Registry) -> None:
    """A record that is read in the middle of a write says what it said before, and is read again."""
    registry.write()
    path = registry.folder / f"{os.getpid()}.json"
    before = registry.said()
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    assert registry.said() == before
    path.write_bytes(b"")
    assert registry.said() == before
    registry.write(status="waiting")
    assert registry.said()["7e82"].state is State.ASKS


def test_half_an_emoji_in_the_name_hides_nothing(registry: Registry) -> None:
    """Claude Code cuts names; half a surrogate pair becomes U+FFFD."""
    registry.write(name="Fix it \ud83d", status="waiting")
    said = registry.said()["7e82"]
    assert (said.name, said.state) == ("Fix it \N{REPLACEMENT CHARACTER}", State.ASKS)


def test_a_change_of_the_same_size_is_seen(registry: Registry) -> None:
    """A record that is written twice within the resolution of the clock is read twice."""
    registry.write(status="busy")
    path = registry.folder / f"{os.getpid()}.json"
    registry.said()
    when = path.stat().st_mtime_ns
    registry.write(status="what")
    os.utime(path, ns=(when, when))
    assert registry.said()["7e82"].state is None


def test_clear_moves_the_process_to_another_session(registry: Registry) -> None:
    """After `/clear` the same process says nothing of the session before."""
    registry.write()
    assert registry.said().keys() == {"7e82"}
    registry.write(sessionId="56e9", status="idle")
    said = registry.said()
    assert said.keys() == {"56e9"}
    assert said["56e9"].state is State.YOUR_TURN


def test_a_record_that_is_removed_says_nothing(registry: Registry) -> None:
    """Claude Code removes its record when it exits."""
    registry.write()
    assert registry.said()
    (registry.folder / f"{os.getpid()}.json").unlink()
    assert registry.said() == {}


def test_other_files_are_never_opened(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, old records and links are not opened."""
    secret = registry.folder / "secret"
    secret.write_text(json.dumps(RECORD))
    names = [f"pid-{os.getpid()}.json", f"{os.getpid()}.ab12.key", "12a.json", "１２.json", f"{1 << 40}.json"]
    for name in names:
        registry.write(file=name)
    (registry.folder / "77.json").symlink_to(secret)
    os.mkfifo(registry.folder / "78.json")
    opened: list[Path] = []
    monkeypatch.setattr("agentwatch.agents.small_files.open_own", opened.append)
    assert registry.said() == {}
    assert opened == []


def test_a_blink_of_idle_is_not_shown(registry: Registry) -> None:
    """A session that comes to rest is shown so after 0.4 s; a new turn before that leaves it working."""
    registry.write(statusUpdatedAt=int(NOW * 1000) - 60_000)
    began = registry.said()["7e82"].since_ms
    rest = NOW + 5
    registry.write(status="idle", statusUpdatedAt=int(rest * 1000))
    shown = registry.said(rest + 0.1)["7e82"]
    assert (shown.state, shown.since_ms) == (State.WORKING, began)
    registry.write(statusUpdatedAt=int(rest * 1000) + 300)
    assert registry.said(rest + 1.5)["7e82"].state is State.WORKING
    registry.write(status="shell", statusUpdatedAt=int(rest * 1000) + 2000)
    assert registry.said(rest + 2.1)["7e82"].state is State.WORKING
    assert registry.reader.refresh(rest + 2.3) is False
    assert registry.reader.refresh(rest + 2.5) is True
    shown = registry.said(rest + 3)["7e82"]
    assert (shown.state, shown.since_ms) == (State.SHELL, int(rest * 1000) + 2000)


def test_waiting_is_shown_at_once(registry: Registry) -> None:
    """A question is not held back, and what comes to rest in the past is not either."""
    registry.write()
    registry.said()
    registry.write(status="waiting", waitingFor="permission prompt")
    assert registry.said()["7e82"].state is State.ASKS
    registry.write(status="idle", statusUpdatedAt=int(NOW * 1000) - 5000)
    assert registry.said()["7e82"].state is State.YOUR_TURN


def test_the_user_gives_a_name(registry: Registry) -> None:
    """A name of the user differs from a derived one, and a one-line prompt from a conversation."""
    registry.write(name="release", nameSource="user", entrypoint="sdk-cli")
    said = registry.said()["7e82"]
    assert (said.name, said.is_users_name, said.is_one_liner) == ("release", True, True)


def test_any_field_may_have_any_value(registry: Registry) -> None:
    """A record with a field of another type says what the other fields say."""
    values: list[Any] = [None, 7, [], {}, "", "x" * 50_000, True, -1, 1 << 80]
    for value in values:
        with case(f"{value!r:.40}"):
            for field in (*RECORD, "procStart", "pidDomain", "waitingFor"):
                registry.write(**{field: value})
                said = registry.said()
                assert all(len(each.name) <= 200 and len(each.tmux) <= 200 for each in said.values()), field


def test_a_record_that_vanishes_while_it_is_read(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that cannot be opened keeps what it said."""
    registry.write()
    before = registry.said()

    def gone(path: Path) -> int:
        raise FileNotFoundError(path)

    monkeypatch.setattr("agentwatch.agents.small_files.open_own", gone)
    registry.write(status="waiting")
    assert registry.said() == before


def test_a_session_that_vanishes_during_a_blink_is_forgotten(registry: Registry) -> None:
    """A session that is still shown as working is gone with its record."""
    registry.write()
    registry.said()
    registry.write(status="idle", statusUpdatedAt=None)
    assert registry.said()["7e82"].state is State.WORKING
    (registry.folder / f"{os.getpid()}.json").unlink()
    assert registry.said() == {}
    registry.write(status="idle")
    assert registry.said()["7e82"].state is State.YOUR_TURN


def test_a_link_in_place_of_the_folder_is_not_followed(registry: Registry, tmp_path: Path) -> None:
    """The folder of the records is no link."""
    registry.write()
    link = tmp_path / "link"
    link.symlink_to(registry.folder)
    registry.reader = ClaudeRecords([link], os.geteuid(), Proc())
    assert registry.said() == {}


def test_a_record_that_has_not_changed_is_not_opened(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record whose time has passed is read once."""
    registry.write()
    path = registry.folder / f"{os.getpid()}.json"
    os.utime(path, (1, 1))
    before = registry.said()
    monkeypatch.setattr("agentwatch.agents.small_files.open_own", None)
    assert registry.said(NOW + 2) == before
    path.unlink()
    assert registry.said() == {}
