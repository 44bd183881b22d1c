"""Two processes watch one session, and use one copy."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.remote.copies import Copies, Limits, LocalCopy, new_copy
from tests.conftest import RECORDINGS
from tests.harness.engine.server import Server
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, environment, watch
from tests.remote.conftest import SESSION, Publisher

pytestmark = pytest.mark.system

DEMO = RECORDINGS / "demo.ndjson"


@contextmanager
def printing(address: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that prints the bytes of a session until it ends."""
    process = subprocess.Popen(
        [*AGENTWATCH, "--output-format", "stream-json", address],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        bufsize=0,  # `communicate` would not return what a read has read ahead
        env=environment(),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_after_a_kill_the_other_process_fills_the_copy(server: Server, publisher: Publisher) -> None:
    """When the process that fills the copy is killed, the other one goes on at the same byte."""
    lines = DEMO.read_bytes().splitlines(keepends=True)
    publisher.card()
    publisher.send(*lines[:5])
    address = f"{server.address}/{SESSION}"
    folder = Path(os.environ["AGENTWATCH_HOME"], "copies")

    def copied() -> list[bytes]:
        return [path.read_bytes() for path in folder.glob("*.ndjson")]

    with printing(address) as first:
        until(lambda: copied() == [publisher.content])
        with printing(address) as second:
            assert second.stdout is not None
            begun = b""
            while len(begun) < len(publisher.content):
                begun += second.stdout.read(len(publisher.content) - len(begun))
            publisher.send(*lines[5:10])
            until(lambda: copied() == [publisher.content])
            first.kill()
            first.wait()
            publisher.send(*lines[10:])
            until(lambda: copied() == [publisher.content])
            publisher.end()
            out, err = second.communicate(timeout=30)
    assert (second.returncode, out, err) == (0, DEMO.read_bytes()[len(begun) :], b"")
    assert watch("-p", "--times", address).stdout == watch("log", DEMO).stdout
    assert len(copied()) == 1


def small_copy(copies: Copies, session: str) -> Path:
    """Make a complete copy of 3 bytes that nobody uses."""
    return filled(copies.create("nats://team", session))


def filled(copy: LocalCopy) -> Path:
    """Make a new copy complete, and leave it."""
    assert copy.hold()
    copy.begin_at(0)
    copy.append(b"{}\n", [], [])
    copy.note(copy.origin._replace(is_complete=True, sha256=copy.digest().hexdigest()))
    copy.close()
    return copy.path


OPENING = """
import sys
from agentwatch.remote.copies import Copies
copies = Copies({"AGENTWATCH_HOME": sys.argv[1]})
print("ready", flush=True)
for line in sys.stdin:
    copy = copies.find("nats://team", line.strip())
    if copy is None:
        print("gone", flush=True)
        continue
    with open(copy.path, "rb") as file:
        print(file.read() == b"{}\\n" and copy.origin.session == line.strip(), flush=True)
    copy.close()
"""


def test_a_copy_is_removed_whole_or_opened_whole(tmp_path: Path) -> None:
    """While one process removes the oldest copies, another one that opens them finds all of one, or none."""
    copies = Copies({"AGENTWATCH_HOME": str(tmp_path)}, Limits(free=0))
    none = Copies({"AGENTWATCH_HOME": str(tmp_path)}, Limits(all=-1, free=0))
    env = environment() | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-c", OPENING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        answers = []
        for number in range(60):
            small_copy(copies, f"ci.{number}")
            other.stdin.write(f"ci.{number}\n")
            other.stdin.flush()
            until(lambda: none.has_room(0) or not copies.known())
            answers.append(other.stdout.readline().strip())
        other.stdin.close()
    assert set(answers) <= {"True", "gone"}
    assert list(copies.folder.iterdir()) == []


@pytest.fixture
def many(tmp_path: Path) -> Copies:
    """Return 1,200 copies."""
    copies = Copies({"AGENTWATCH_HOME": str(tmp_path)}, Limits(free=0))
    for number in range(1200):
        filled(new_copy(copies.folder, "nats://team", f"ci.{number}"))
    return copies


def test_a_copy_is_found_among_more_than_a_thousand(many: Copies) -> None:
    """The oldest of many copies is found; those that are too many are removed, but for those in use."""
    known = many.known()
    paths = [path for path, _ in known]
    assert len(paths) == 1200
    oldest = many.find("nats://team", known[-1][1].session)
    assert isinstance(oldest, LocalCopy)
    assert oldest.path == paths[-1]
    small = Copies({"AGENTWATCH_HOME": str(many.folder.parent)}, Limits(all=100 * len(b"{}\n"), free=0))
    assert small.has_room(0)
    left = [path for path, _ in many.known()]
    assert left == [*paths[:99], oldest.path]
    oldest.close()
