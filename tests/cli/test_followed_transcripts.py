"""A transcript is followed with `-f` like any file, together with the files of its subagents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders.on_disk.transcript import call, returned, user
from tests.cli.test_followed_files import Follower

pytestmark = pytest.mark.slow


def dumped(*made: dict[str, Any], **more: Any) -> bytes:
    """Return lines as they are written."""
    return b"".join(json.dumps({**each, **more}).encode() + b"\n" for each in made)


@pytest.fixture
def follow() -> Iterator[Callable[[Path], Follower]]:
    """Return a function that starts to follow a transcript."""
    begun = []

    def start(path: Path) -> Follower:
        follower = Follower(path)
        begun.append(follower.process)
        return follower

    yield start
    for process in begun:
        process.kill()
        process.wait()


def test_a_growing_transcript_is_printed(tmp_path: Path, follow: Callable[[Path], Follower]) -> None:
    """Calls are printed when their results are written; a line may come in two pieces."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(dumped(user("Go"), call("c"), returned("c")))
    follower = follow(path)
    follower.wait_for("Ran terminal command ls")
    second = dumped(call("d", given={"command": "pwd"}), returned("d"))
    with path.open("ab") as file:
        file.write(second[:50])
    follower.wait_for("Ran terminal command ls")
    with path.open("ab") as file:
        file.write(second[50:])
    follower.wait_for("Ran terminal command ls", "Ran terminal command pwd")


def test_the_calls_of_a_subagent_are_printed(tmp_path: Path, follow: Callable[[Path], Follower]) -> None:
    """The lines of a subagent's own file are followed too."""
    path, subagents = tmp_path / "s.jsonl", tmp_path / "s/subagents"
    path.write_bytes(dumped(user("Go"), call("t", "Task", {"prompt": "x", "description": "Count"})))
    subagents.mkdir(parents=True)
    own = subagents / "agent-a1.jsonl"
    own.write_bytes(dumped(user("x"), isSidechain=True, agentId="a1"))
    follower = follow(path)
    with own.open("ab") as file:
        file.write(dumped(call("c"), returned("c"), isSidechain=True, agentId="a1"))
    follower.wait_for("Ran terminal command ls")
    with path.open("ab") as file:
        file.write(dumped(returned("t", toolUseResult={"status": "completed"})))
    follower.wait_for("Ran terminal command ls", "Ran subagent Count")


def test_a_replaced_transcript_is_started_over(tmp_path: Path, follow: Callable[[Path], Follower]) -> None:
    """A file that another one replaces is read to its end, and then the new one."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(dumped(user("Go"), call("c"), returned("c")))
    follower = follow(path)
    follower.wait_for("Ran terminal command ls")
    new = tmp_path / "new"
    new.write_bytes(dumped(user("Go"), call("d", given={"command": "pwd"}), returned("d")))
    new.replace(path)
    over = f"agentwatch: {path} was replaced: starting over"
    follower.wait_for("Ran terminal command ls", over, "Ran terminal command pwd")
