"""`-f` follows a file as `tail -F` does: through truncation, rotation and replacement."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.builders.lines import completed, init, started
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
    """Return a function that starts a follower of a file that begins with one call."""
    begun = []

    def start(*options: str) -> Follower:
        path = tmp_path / "followed.ndjson"
        path.write_bytes(init() + READ[0])
        follower = Follower(path, *options)
        begun.append(follower.process)
        follower.wait_for(read_line(0))
        return follower

    yield start
    for process in begun:
        process.kill()
        process.wait()


def test_a_truncated_file_is_started_over(follow: Callable[..., Follower]) -> None:
    """A file that shrinks is reported as truncated and read again from its beginning."""
    follower = follow()
    os.truncate(follower.path, 0)
    over = f"agentwatch: {follower.path} was truncated: starting over"
    follower.wait_for(read_line(0), over)
    with follower.path.open("ab") as file:
        file.write(init() + READ[1])
    follower.wait_for(read_line(0), over, read_line(1))


def test_a_replaced_file_is_started_over(follow: Callable[..., Follower], tmp_path: Path) -> None:
    """A file replaced under its name is reported as replaced, and the new file is read from its beginning."""
    follower = follow()
    other = tmp_path / "other"
    other.write_bytes(init() + READ[1])
    other.rename(follower.path)
    over = f"agentwatch: {follower.path} was replaced: starting over"
    follower.wait_for(read_line(0), over, read_line(1))


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


def test_following_continues_after_a_deletion(follow: Callable[..., Follower]) -> None:
    """Deleting the file does not end following; a new file of that name is read."""
    follower = follow()
    follower.path.unlink()
    follower.path.write_bytes(init() + READ[1])
    over = f"agentwatch: {follower.path} was replaced: starting over"
    follower.wait_for(read_line(0), over, read_line(1))
    assert follower.process.poll() is None


def test_the_log_continues_after_a_restart(follow: Callable[..., Follower], tmp_path: Path) -> None:
    """After a file was started over, the action log contains the actions from before and after."""
    log = tmp_path / "actions.log"
    follower = follow("--log", str(log))
    until(lambda: read_line(0) in log.read_text())
    os.truncate(follower.path, 0)
    follower.wait_for(read_line(0), f"agentwatch: {follower.path} was truncated: starting over")
    with follower.path.open("ab") as file:
        file.write(init() + READ[1])
    until(lambda: read_line(1) in log.read_text())
    actions = [line.partition(" ")[2] for line in log.read_text().splitlines() if not line.startswith("#")]
    assert actions == [read_line(0), read_line(1)]
