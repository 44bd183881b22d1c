"""Choices are kept in small files that several processes change, on a full disk and after a kill too."""

import errno
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from agentwatch.catalog.hiding import archive
from agentwatch.recording.remembered import Choices, remember, remembered
from tests.conftest import case

ARCHIVING = """
import sys
from agentwatch.catalog.hiding import archive
keys = [("claude", f"{sys.argv[1]}-{number}") for number in range(200)]
while keys:
    try:
        archive(keys[-1:], is_archived=True)
    except BlockingIOError:  # the user is told: the disk was too slow for half a second
        continue
    keys.pop()
"""


def put(name: str) -> dict[str, bool]:
    """Add a choice to the file `some.json`, and return what is in it."""
    return Choices("some.json", 100, bool).change(lambda chosen: chosen.update({name: True}))


def names(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir())


@pytest.mark.system
def test_two_processes_keep_each_others_choices(home: Path) -> None:
    """Two processes archive 200 sessions each at the same time, and all 400 are archived."""
    running = [subprocess.Popen([sys.executable, "-c", ARCHIVING, name]) for name in "ab"]
    assert [each.wait(60) for each in running] == [0, 0]
    assert len(json.loads((home / "archived.json").read_text())) == 400
    assert names(home) == ["archived.json"]


def test_without_locks_the_unfinished_file_excludes_others(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system without locks nothing is lost; an unfinished file counts as left after a minute."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)

    def put_all(first: int) -> None:
        for number in range(first, first + 30):
            with suppress(BlockingIOError):  # the user is told
                put(str(number))
                written.append(number)

    written: list[int] = []
    threads = [threading.Thread(target=put_all, args=(first,)) for first in (0, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(put("last")) == len(written) + 1 > 40
    left = home / ".some.json.agentwatch"
    left.write_bytes(b"{")
    with pytest.raises(OSError, match="another program is changing it"):
        put("refused")
    os.utime(left, (0, 0))
    assert len(put("more")) == len(written) + 2
    assert names(home) == ["some.json"]


def killed_at(number: int, change: Callable[[], object]) -> bool:
    """Return whether a child that makes a change was killed before this call of it to the system."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    try:
        calls = count()

        def counted(call: Callable[..., Any]) -> Callable[..., Any]:
            def counting(*given: Any, **named: Any) -> Any:
                if next(calls) == number:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*given, **named)

            return counting

        for name in ("open", "fstat", "fchmod", "write", "fsync", "rename", "replace", "close", "unlink"):
            setattr(os, name, counted(getattr(os, name)))
        fcntl.flock = counted(fcntl.flock)
        change()
    finally:
        os._exit(0)


def test_a_kill_leaves_the_old_file_or_the_new_one(home: Path) -> None:
    """Wherever a process is killed, the next change is made at once, and removes what was left."""
    kills = 0
    for number in count():
        put("before")
        is_killed = killed_at(number, lambda: put("killed"))
        with case(number):
            found = json.loads((home / "some.json").read_text())
            assert found in ({"before": True}, {"before": True, "killed": True})
            assert put("after") == {**found, "after": True}
            assert names(home) == ["some.json"]
        (home / "some.json").unlink()
        if not is_killed:
            break
        kills += 1
    assert kills > 10
    # So is what earlier versions have left, also under the id of this process; other files stay.
    for ending in (str(os.getpid()), "1234567", "old"):
        (home / f"some.json.{ending}").write_bytes(b"{")
    put("more")
    assert names(home) == ["some.json", "some.json.old"]


def test_a_failed_change_is_an_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk, in a home that cannot be written, or while another hangs, the file is unchanged."""
    put("one")
    before, limits = (home / "some.json").read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3, limits[1]))
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            archive([("claude", "one")], is_archived=True)
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            put("two")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: os.close(-1))  # the disk has the new file before it replaces
        with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
            put("two")
    assert (names(home), (home / "some.json").read_bytes()) == (["some.json"], before)
    with (home / ".some.json.agentwatch").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        began = monotonic()
        with pytest.raises(OSError, match="another program is changing it"):
            put("two")
        assert monotonic() - began > 0.5
    assert put("two") == {"one": True, "two": True}
    # What cannot be read is not replaced by less.
    (home / "some.json").unlink()
    os.mkfifo(home / "some.json")
    with pytest.raises(OSError, match="not a regular file"):
        put("three")
    # Each reason is told once. What was chosen holds until the end of the program.
    told: list[str] = []
    (home / "file").write_text("")
    for folder in (home, home / "file", home / "file"):
        monkeypatch.setitem(os.environ, "AGENTWATCH_HOME", str(folder))
        (home / "screen.json").mkdir(exist_ok=True)
        remember("actions", True, told.append)
        assert remembered("actions", bool) is None
    assert told == [
        "not remembered: screen.json: not a regular file",
        f"not remembered: screen.json: {os.strerror(errno.EEXIST)}",
    ]


def test_what_is_remembered_is_private_and_survives_a_broken_file(home: Path) -> None:
    """The file is readable by the user alone; a broken one counts as none; nothing needs to be told."""
    told: list[str] = []
    remember("actions", True, told.append)
    remember("times", False, told.append)
    (file,) = home.glob("screen.json*")
    assert file.stat().st_mode & 0o777 == 0o600
    remember("sort", "age", told.append)
    assert json.loads(file.read_text()) == {"actions": True, "times": False, "sort": "age"}
    found = [remembered("sort", str), remembered("sort", bool), remembered("times", bool)]
    assert found == ["age", None, False]
    remember("sort", None, told.append)
    assert json.loads(file.read_text()) == {"actions": True, "times": False}
    for broken in (b"", b"[1]", b"\xff", b"[" * 5000, b'{"actions": 3}'):
        file.write_bytes(broken)
        assert remembered("actions", bool) is None
    remember("actions", False, told.append)
    assert (remembered("actions", bool), told) == (False, [])
