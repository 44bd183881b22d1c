"""`-f` follows a file as `tail -F` does, and a transcript together with the files of its subagents."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders.lines import completed, init, started
from tests.builders.on_disk.transcript import call, returned, user
from tests.conftest import ROOT
from tests.harness.processes import until

pytestmark = pytest.mark.slow
READ = [
    b"".join((started("read", f"c{n}", path=f"{n}.py"), completed("read", f"c{n}", {"success": {}})))
    for n in range(5)
]


def read_line(number: int) -> str:
    """Return the line that the text format prints for one of the calls."""
    return f"Read file {number}.py"


class Follower:
    """A running `agentwatch -f FILE --print` and the lines that it has printed so far."""

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        self._printed = path.with_name("printed")
        with self._printed.open("wb") as sink:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "agentwatch", "-f", "--print", str(path), *options],
                stdout=sink,
                stderr=sink,
                cwd=ROOT,
                start_new_session=True,
            )

    def lines(self) -> list[str]:
        """Return the complete lines printed so far."""
        return self._printed.read_text().split("\n")[:-1]

    def wait_for(self, *expected: str) -> None:
        """Wait until exactly these lines have been printed."""
        until(lambda: self.lines() == list(expected), what=repr(expected), picture=lambda: repr(self.lines()))


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Callable[..., Follower]]:
    """Return a function that starts a follower of a file: by default, of one that begins with one call."""
    begun = []

    def start(*options: str, path: Path | None = None) -> Follower:
        if path is None:
            (tmp_path / "followed.ndjson").write_bytes(init() + READ[0])
        follower = Follower(path or tmp_path / "followed.ndjson", *options)
        begun.append(follower.process)
        if path is None:
            follower.wait_for(read_line(0))
        return follower

    yield start
    for process in begun:
        process.kill()
        process.wait()


def test_a_truncated_file_is_started_over(follow: Callable[..., Follower], tmp_path: Path) -> None:
    """A file that shrinks is reported as truncated, and read again; the log has the actions of both."""
    log = tmp_path / "actions.log"
    follower = follow("--log", str(log))
    until(lambda: read_line(0) in log.read_text())
    os.truncate(follower.path, 0)
    over = f"agentwatch: {follower.path} was truncated: starting over"
    follower.wait_for(read_line(0), over)
    with follower.path.open("ab") as file:
        file.write(init() + READ[1])
    follower.wait_for(read_line(0), over, read_line(1))
    until(lambda: read_line(1) in log.read_text())
    actions = [line.partition(" ")[2] for line in log.read_text().splitlines() if not line.startswith("#")]
    assert actions == [read_line(0), read_line(1)]


def test_a_replaced_file_is_started_over(follow: Callable[..., Follower], tmp_path: Path) -> None:
    """A file replaced under its name is reported as replaced, and the new file is read from its beginning."""
    follower = follow()
    other = tmp_path / "other"
    other.write_bytes(init() + READ[1])
    other.rename(follower.path)
    over = f"agentwatch: {follower.path} was replaced: starting over"
    follower.wait_for(read_line(0), over, read_line(1))
    # Deleting the file does not end following; a new file of that name is read
    follower.path.unlink()
    follower.path.write_bytes(init() + READ[2])
    follower.wait_for(read_line(0), over, read_line(1), over, read_line(2))
    assert follower.process.poll() is None


def test_a_rotated_file_is_read_to_its_end(follow: Callable[..., Follower], tmp_path: Path) -> None:
    """A renamed file is followed, and read to its end, until another file appears under the old name."""
    follower = follow()
    follower.path.rename(tmp_path / "rotated")
    with (tmp_path / "rotated").open("ab") as file:
        file.write(READ[1])
    follower.wait_for(read_line(0), read_line(1))
    follower.path.write_bytes(init() + READ[2])
    over = f"agentwatch: {follower.path} was replaced: starting over"
    follower.wait_for(read_line(0), read_line(1), over, read_line(2))


def dumped(*made: dict[str, Any], **more: Any) -> bytes:
    """Return lines as they are written."""
    return b"".join(json.dumps({**each, **more}).encode() + b"\n" for each in made)


def test_a_growing_transcript_is_printed(tmp_path: Path, follow: Callable[..., Follower]) -> None:
    """Calls are printed when their results are written; a line may come in two pieces."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(dumped(user("Go"), call("c"), returned("c")))
    follower = follow(path=path)
    follower.wait_for("Ran terminal command ls")
    second = dumped(call("d", given={"command": "pwd"}), returned("d"))
    with path.open("ab") as file:
        file.write(second[:50])
    follower.wait_for("Ran terminal command ls")
    with path.open("ab") as file:
        file.write(second[50:])
    follower.wait_for("Ran terminal command ls", "Ran terminal command pwd")
    # A file that another one replaces is read to its end, and then the new one
    new = tmp_path / "new"
    new.write_bytes(dumped(user("Go"), call("d", given={"command": "id"}), returned("d")))
    new.replace(path)
    calls = ("Ran terminal command ls", "Ran terminal command pwd")
    follower.wait_for(*calls, f"agentwatch: {path} was replaced: starting over", "Ran terminal command id")


def test_the_calls_of_a_subagent_are_printed(tmp_path: Path, follow: Callable[..., Follower]) -> None:
    """The lines of a subagent's own file are followed too."""
    path, subagents = tmp_path / "s.jsonl", tmp_path / "s/subagents"
    path.write_bytes(dumped(user("Go"), call("t", "Task", {"prompt": "x", "description": "Count"})))
    subagents.mkdir(parents=True)
    own = subagents / "agent-a1.jsonl"
    own.write_bytes(dumped(user("x"), isSidechain=True, agentId="a1"))
    follower = follow(path=path)
    with own.open("ab") as file:
        file.write(dumped(call("c"), returned("c"), isSidechain=True, agentId="a1"))
    follower.wait_for("Ran terminal command ls")
    with path.open("ab") as file:
        file.write(dumped(returned("t", toolUseResult={"status": "completed"})))
    follower.wait_for("Ran terminal command ls", "Ran subagent Count")
