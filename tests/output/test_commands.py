"""A command of the user's is given an event on stdin, and whatever it or the session does holds nobody up."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentwatch.output import commands as module
from agentwatch.output.commands import MOST_SECONDS, MOST_WAITING, Commands
from agentwatch.rules.alarms.events import Event
from agentwatch.text.safe import SafeText
from tests.conftest import case
from tests.harness.processes import is_alive, until
from tests.harness.schemas import check_json

pytestmark = pytest.mark.slow

EVENT = Event(
    *("rule", "removes", 1_790_000_000_000, "working", "claude", "s1", "Fix it", 12),
    *("Ran rm -rf /tmp/x", "rm -rf /tmp/x"),
)
KEY = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Commands]:
    """Commands that run in a home folder of their own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    made = Commands()
    yield made
    made.finish(0)


class Clock:
    """The clock of the time limit, which a test moves: a busy machine may start a command late."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def monotonic(self) -> float:
        return self._seconds

    def passes(self) -> bool:
        """Move it by the limit; again and again, because the limit of a command counts from its start."""
        self._seconds += MOST_SECONDS
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let the limit of commands follow a clock that stands still until it is moved."""
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def appending(path: Path) -> tuple[str, ...]:
    """Return a command that appends its stdin to a file."""
    return ("sh", "-c", 'cat >> "$1"', "sh", str(path))


def written(path: Path) -> bytes:
    """Return the line in a file; nothing until it is whole."""
    data = path.read_bytes() if path.exists() else b""
    return data if data.endswith(b"\n") else b""


def living_groups() -> set[int]:
    """Return the process groups with a process that is not a zombie."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, group = path.read_text().rpartition(")")[2].split()[:3]
            found |= set() if state == "Z" else {int(group)}
    return found


def objects(path: Path) -> list[dict[str, Any]]:
    """Return the objects that a command has appended to a file, checked by their schema."""
    lines = path.read_bytes().splitlines()
    for line in lines:
        check_json("event", line)
    return [json.loads(line) for line in lines]


def reasons(commands: Commands) -> list[str]:
    """Return why commands have failed."""
    return [f"{what}: {error.strerror}" for what, error in commands.faults.items() if error is not None]


def test_a_command_is_given_the_event_as_one_object(commands: Commands, tmp_path: Path) -> None:
    """One line of JSON, with the time in UTC; the command runs in the home folder, without a terminal."""
    path = tmp_path / "out"
    commands.tell(appending(path), EVENT)
    commands.tell(
        ("sh", "-c", "pwd > where; (: < /dev/tty) && touch tty; true"), EVENT._replace(rule="where")
    )
    commands.finish()
    assert path.read_bytes().count(b"\n") == 1
    assert objects(path) == [
        {
            "version": 1,
            "event": "rule",
            "rule": "removes",
            "state": "working",
            "agent": "claude",
            "session": "s1",
            "title": "Fix it",
            "call": 12,
            "words": "Ran rm -rf /tmp/x",
            "command": "rm -rf /tmp/x",
            "time": "2026-09-21T14:13:20Z",
        }
    ]
    assert (tmp_path / "where").read_text() == f"{tmp_path}\n"
    assert not (tmp_path / "tty").exists()
    assert reasons(commands) == []


def test_foreign_text_stays_in_one_small_safe_object(commands: Commands, tmp_path: Path) -> None:
    """Line ends, NUL, escapes, half surrogates and huge texts neither end the line nor exceed 64 KB."""
    texts = [
        "$(touch owned)`touch owned`; touch owned\n\n{}",
        "\x00\x1b]0;x\x07\x9b\r\n\u2028\u202e",
        "\ud800 half",
        'é漢🎉"\\' * 100_000,
        "\U000e0041" * 50_000,
        "-o ProxyCommand=touch owned",
    ]
    for number, text in enumerate(texts):
        with case(text[:20].encode("utf-8", "replace")):
            path = tmp_path / f"out{number}"
            hostile = EVENT._replace(agent=text, session=text, title=text, words=text, command=text)
            commands.tell(appending(path), hostile)
            data = until(partial(written, path))
            assert len(data) < 64 << 10
            assert data.count(b"\n") == 1
            [found] = objects(path)
            for shown in (found["words"], found["command"].replace("\n", "")):
                assert shown.isprintable() or "\u200d" in shown
    assert not (tmp_path / "owned").exists()


def test_secrets_and_personal_data_are_masked(commands: Commands, tmp_path: Path) -> None:
    """Also a secret that begins before the cut and ends after it, or has characters that the line has not."""
    path = tmp_path / "out"
    for char in ("\U000e0101", "\U0001f3fb", "\ufe0f" * 40, "\U000e0041"):
        split = f"{KEY[:12]}{char}{KEY[12:]} {tmp_path}".replace(tmp_path.name, f"{char}{tmp_path.name}")
        commands.tell(appending(path), EVENT._replace(words=f"{split} a{char}da@lovelace.org"))
    words = f"curl -H 'Authorization: Bearer {KEY}' {tmp_path}/x ada@lovelace.org"
    commands.tell(appending(path), EVENT._replace(words=words, title=f"{'x' * 190} {KEY}"))
    commands.tell(appending(path), EVENT._replace(words=f"{'x' * 1480} {KEY}"))
    commands.finish()
    data = path.read_text()
    assert KEY[:12] not in data
    assert "ada@" not in data
    assert str(tmp_path) not in data
    assert "[secret:github" in objects(path)[0]["words"]


def test_one_command_runs_at_a_time_for_a_rule(commands: Commands, tmp_path: Path) -> None:
    """The events of a rule come in their order, one after the other; those of another rule do not wait."""
    go = tmp_path / "go"
    waiting = (
        "sh",
        "-c",
        'mkdir one && cat >> out && rmdir one; while [ ! -e "$1" ]; do sleep 0.01; done',
        "sh",
    )
    for number in range(3):
        commands.tell((*waiting, str(go)), EVENT._replace(call=number))
    commands.tell(appending(tmp_path / "other"), EVENT._replace(rule="other"))
    until(lambda: written(tmp_path / "other") and written(tmp_path / "out"))
    assert [each["call"] for each in objects(tmp_path / "out")] == [0]
    go.touch()
    commands.finish(20)
    assert [each["call"] for each in objects(tmp_path / "out")] == [0, 1, 2]
    assert reasons(commands) == []


def test_a_thousand_events_in_a_second_leave_the_newest(commands: Commands, tmp_path: Path) -> None:
    """Nobody waits for the command; 20 events wait, and the next one says how many were left out."""
    path, go = tmp_path / "out", tmp_path / "go"
    command = ("sh", "-c", 'while [ ! -e "$1" ]; do sleep 0.01; done; cat >> "$2"', "sh", str(go), str(path))
    commands.tell(command, EVENT._replace(call=0))
    until(lambda: not commands._queues["removes", command]._waiting)
    before = time.perf_counter()
    for number in range(1, 1001):
        commands.tell(command, EVENT._replace(call=number))
    assert time.perf_counter() - before < 5  # one command takes until it may go
    go.touch()
    commands.finish(20)
    found = objects(path)
    assert [each["call"] for each in found] == [0, *range(1001 - MOST_WAITING, 1001)]
    assert [each.get("missed") for each in found] == [None, 1000 - MOST_WAITING, *[None] * (MOST_WAITING - 1)]


def test_a_command_that_does_not_end_is_ended_with_its_group(
    commands: Commands, tmp_path: Path, clock: Clock
) -> None:
    """One that hangs, ignores signals, closes stdin, floods stdout or forks ends at the limit."""
    scripts = {
        "hangs": "sleep 300",
        "ignores": "trap '' TERM INT HUP; sleep 300; sleep 300",
        "closes": "exec 0<&-; sleep 300",
        "floods": "yes",
        "forks": "sleep 300 & sleep 300 & wait",
    }
    for name, script in scripts.items():
        commands.tell(("sh", "-c", f"echo $$ > {name}; {script}"), EVENT._replace(rule=name))
    groups = {int(until(partial(written, tmp_path / name))) for name in scripts}
    assert groups <= living_groups()
    until(lambda: clock.passes() and len(commands.faults) == len(scripts))
    assert sorted(reasons(commands)) == sorted(
        f'the command of rule "{name}" failed: it was ended after 10 s' for name in scripts
    )
    until(lambda: not groups & living_groups())


def test_what_a_command_leaves_in_its_group_is_ended(commands: Commands, tmp_path: Path) -> None:
    """The next event is not held up by a process in the background."""
    script = "sleep 300 & echo $! >> pids"
    for _ in range(2):
        commands.tell(("sh", "-c", script), EVENT)
    commands.finish(20)
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    until(lambda: not any(map(is_alive, pids)))
    assert reasons(commands) == []


def test_a_command_that_cannot_be_run_is_named_once(tmp_path: Path) -> None:
    """A missing program, a folder, a bad exit code: the first fault of each rule is reported."""
    reported: list[SafeText] = []
    commands = Commands(reported.append)
    cases = {
        "missing": ("/nowhere/x",),
        "folder": (str(tmp_path),),
        "code": ("sh", "-c", "exit 3"),
        "signal": ("sh", "-c", "kill -9 $$"),
        "long": ("true", "x" * (1 << 22)),
    }
    for name, command in cases.items():
        commands.tell(command, EVENT._replace(rule=name))
        commands.tell(command, EVENT._replace(rule=name))
    commands.finish()
    assert sorted(reported) == [
        'the command of rule "code" failed: exit code 3',
        'the command of rule "folder" failed: Permission denied',
        'the command of rule "long" failed: Argument list too long',
        'the command of rule "missing" failed: No such file or directory',
        'the command of rule "signal" failed: signal 9',
    ]
    assert sorted(reasons(commands)) == sorted(reported)


def test_an_internal_error_does_not_end_the_commands_of_a_rule(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is reported, and the next event runs its command."""
    path = tmp_path / "out"
    monkeypatch.setattr(module, "masked", lambda text, *_: text if "bad" not in text else 1 / 0)
    commands.tell(appending(path), EVENT._replace(words="bad"))
    commands.tell(appending(path), EVENT._replace(call=13))
    commands.finish(20)
    assert [each["call"] for each in objects(path)] == [13]
    assert reasons(commands) == ['the command of rule "removes" failed: internal error: ZeroDivisionError']


def test_the_end_waits_for_what_was_told_but_not_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end tells the events that wait. It ends a command that hangs, and starts no other one after it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    commands, path = Commands(), tmp_path / "out"
    for _ in range(3):
        commands.tell(appending(path), EVENT)
    commands.finish()
    assert len(objects(path)) == 3
    for _ in range(3):
        commands.tell(("sh", "-c", "echo $$ >> pid; sleep 300"), EVENT._replace(rule="hangs"))
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    before = time.monotonic()
    commands.finish(0.1)
    assert time.monotonic() - before < 5
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not is_alive(pid), what="the end of the command")


def test_a_program_that_just_exits_waits_too(tmp_path: Path) -> None:
    """A program that ends without `finish` still runs the commands that wait."""
    program = f"""if True:
        from agentwatch.output.commands import Commands
        from agentwatch.rules.alarms.events import Event
        Commands().tell(("sh", "-c", "sleep 0.3; cat > '{tmp_path}/out'"), Event(*{tuple(EVENT)}))
    """
    assert subprocess.run([sys.executable, "-c", program], timeout=30, check=False).returncode == 0
    assert len(objects(tmp_path / "out")) == 1


@pytest.mark.system
def test_without_waitid_a_command_ends_too(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Older Pythons on macOS cannot wait for a process without collecting it."""
    monkeypatch.delattr(os, "waitid")
    commands.tell(appending(tmp_path / "out"), EVENT)
    commands.tell(("sleep", "300"), EVENT._replace(rule="hangs"))
    until(partial(written, tmp_path / "out"))
    until(lambda: clock.passes() and 'the command of rule "hangs" failed' in commands.faults)
    assert len(objects(tmp_path / "out")) == 1


def test_the_login_of_an_engine_is_not_passed_on(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command has the environment of agentwatch without these variables."""
    monkeypatch.setenv("AGENTWATCH_NATS_TOKEN", "x")
    monkeypatch.setenv("OF_THE_USER", "y")
    commands.tell(("sh", "-c", "env > out"), EVENT)
    commands.finish()
    found = (tmp_path / "out").read_text()
    assert "OF_THE_USER=y" in found
    assert "AGENTWATCH_NATS_" not in found
