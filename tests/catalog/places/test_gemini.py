"""A chat of Gemini has the id that its first line names, and the working directory of its folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import orjson
import pytest

from agentwatch.agents.session_entry import Reach
from agentwatch.catalog.places import PASS_S
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.builders.machine.searched import Clock, all_found, found_in, places_of, put

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
