"""A local copy that was cut or altered since it was written is not trusted."""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agentwatch.base.faults import Fault
from agentwatch.remote import filling
from agentwatch.remote.card import Card
from agentwatch.remote.engine import SessionName
from tests.conftest import RECORDINGS, case
from tests.harness.engine.server import Server
from tests.harness.processes import until
from tests.harness.program import ran
from tests.remote.conftest import LINES, SESSION, Publisher, Watcher
from tests.remote.test_copying import set_back

pytestmark = pytest.mark.system

CONTENT = b"".join(LINES)
DEMO = RECORDINGS / "demo.ndjson"
COMMANDS = [
    ("export", "--to", "atif", "-o", "-", "{}"),
    ("export", "--to", "recording", "{}", "-o", "-"),
    ("export", "--to", "recording", "{}#1..#2", "-o", "-"),
    ("compare", "{}", str(DEMO)),
    ("--print", "--times", "{}"),
    ("--print", "{}"),
    ("--output-format", "summary", "{}"),
]


def cut(path: Path) -> None:
    """Leave the first half of a file."""
    os.truncate(path, len(CONTENT) // 2)


def alter(path: Path) -> None:
    """Replace bytes in the middle of a file; its size stays."""
    with path.open("r+b") as file:
        file.seek(len(CONTENT) // 2)
        file.write(b"\0" * 20)


def prolong(path: Path) -> None:
    """Add bytes to a file."""
    with path.open("ab") as file:
        file.write(b'{"added": 1}\n')


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for missing bytes again soon."""
    monkeypatch.setattr(filling, "AGAIN_SECONDS", 0.01)


DAMAGES: tuple[Callable[[Path], None], ...] = (cut, alter, prolong)


def copied(words: str, watcher: Watcher) -> Path:
    """Fetch a session that has ended, and return its copy, which nobody uses any more."""
    with closing(watcher.open(words)) as copying:
        until(lambda: not copying.is_filling())
        assert (copying.is_complete, copying.problem) == (True, "")
        return copying.path


def test_a_damaged_copy_is_read_again(server: Server, publisher: Publisher, watcher: Watcher) -> None:
    """A complete copy that was cut is read on from there; one with other bytes is replaced by a new one."""
    publisher.send(*LINES)
    publisher.end()
    words = f"{server.address}/{SESSION}"
    for damage in DAMAGES:
        with case(damage.__name__):
            before = copied(words, watcher)
            damage(before)
            after = copied(words, watcher)
            assert after.read_bytes() == CONTENT
            assert (after == before) is (damage is cut)
    # Bytes that are not those of the session are not shown in its place; afterwards a new copy is made.
    alter(copied(words, watcher))
    server.kill()
    for _ in range(2):
        for each in (words, words[:-20]):
            with case(each), pytest.raises(Fault, match=server.address):
                watcher.open(each)
    server.restart()
    assert copied(words, watcher).read_bytes() == CONTENT


def test_a_copy_without_its_beginning_is_compared_too(
    server: Server, publisher: Publisher, watcher: Watcher
) -> None:
    """The copy of a session whose beginning is not kept has a digest of its own."""
    publisher.content = b"x" * 5000
    publisher.send(*LINES)
    publisher.end()
    words = f"{server.address}/{SESSION}"
    alter(copied(words, watcher))
    assert copied(words, watcher).read_bytes() == CONTENT


def test_a_copy_that_was_altered_while_the_session_ran_is_replaced(server: Server, watcher: Watcher) -> None:
    """The digest comes with the end: another copy is made, at the next opening if a screen reads this one."""
    for number, is_read in enumerate((False, True)):
        with case(f"{is_read=}"):
            session = SessionName("ci", f"{number:032x}")
            publisher, words = Publisher(server.address, session), f"{server.address}/{session}"
            publisher.send(*LINES[:100])
            publisher.card()
            with closing(watcher.open(words)) as copying:
                assert copying.wait_until_read(10)
                before = copying.path
            with before.open("r+b") as file:
                file.write(b"\0" * 20)
            publisher.send(*LINES[100:])
            publisher.end()
            publisher.sink.close()
            if is_read:
                server.suspend()  # until the screen reads the copy
                with closing(watcher.open(words)) as copying:
                    assert copying.keep_path() == before
                    server.resume()
                    until(lambda: not copying.is_filling())
                    assert copying.problem == "the copy differs from the recording; open it again"
                    assert copying.is_cut_short
            after = copied(words, watcher)
            assert (after != before, after.read_bytes()) == (True, CONTENT)


def test_a_copy_whose_rest_is_gone_is_cut_short(
    server: Server, publisher: Publisher, watcher: Watcher
) -> None:
    """If the engine does not have the bytes that a copy has lost, their number is reported."""
    publisher.send(*LINES)
    publisher.end()
    words = f"{server.address}/{SESSION}"
    cut(copied(words, watcher))
    set_back(server)
    with closing(watcher.open(words)) as copying:
        assert copying.wait_until_read(10)
        assert copying.problem == f"{len(CONTENT) - len(CONTENT) // 2:,} bytes missing"
        assert copying.is_cut_short


def test_a_complete_copy_is_on_the_disk_before_it_counts_as_complete(
    server: Server, publisher: Publisher, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes and the times are synced before the origin says that they are all there."""
    synced: dict[str, bytes] = {}

    def sync(fd: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{fd}"))
        synced[path.suffix] = path.with_suffix(".origin").read_bytes()

    monkeypatch.setattr(os, "fsync", sync)
    publisher.send(*LINES)
    publisher.end()
    copied(f"{server.address}/{SESSION}", watcher)
    assert {*synced} >= {".ndjson", ".times"}
    for suffix in (".ndjson", ".times"):
        assert b'"is_complete":false' in synced[suffix]


@pytest.mark.system
def test_each_command_says_that_bytes_are_missing(server: Server, publisher: Publisher) -> None:
    """Half a session is printed or written with one line that says so, and with exit code 74."""
    lines = DEMO.read_bytes().splitlines(keepends=True)
    publisher.send(*lines[: len(lines) // 2])
    publisher.content += b"x" * 12_345
    publisher.end()
    words = f"{server.address}/{SESSION}"
    for arguments in COMMANDS:
        with case(" ".join(arguments)):
            done = ran(*(each.format(words) for each in arguments))
            said = [line for line in done.stderr.decode().splitlines() if "missing" in line]
            assert said == [f"agentwatch: {words}: 12,345 bytes missing"]
            assert (done.returncode, bool(done.stdout)) == (74, True)


def test_a_publisher_that_gave_up_is_reported(server: Server, publisher: Publisher) -> None:
    """A card that says that a recording has ended with more bytes than are stored counts."""
    content = DEMO.read_bytes()
    half = content[: len(content) // 2]
    half = half[: half.rfind(b"\n") + 1]
    publisher.send(half)
    publisher.card(
        Card(outcome="succeeded", exit=0, bytes=len(content), shipped=len(half), problem="the engine is full")
    )
    words = f"{server.address}/{SESSION}"
    done = ran("export", "--to", "atif", "-o", "-", words)
    assert f"agentwatch: {words}: the engine is full" in done.stderr.decode()
    assert done.returncode == 74
