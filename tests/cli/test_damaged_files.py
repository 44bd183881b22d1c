"""One damaged file of an agent is a line that names it; every command lists and opens all other sessions."""

import errno
import gc
import json
import os
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from agentwatch.base.clock import now_ms
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.contents import ContentsSearch
from agentwatch.catalog.places import PASS_S, is_problem, notes_of
from agentwatch.catalog.row import Row
from agentwatch.screen.screens.sessions.preview import row_session
from tests.builders.machine.damaged import damaged
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.builders.machine.searched import Clock
from tests.conftest import case
from tests.harness.program import ran

STORED = "ses_dffa10acfffeCKln6OxYBgiynF"
"""A session in opencode's database."""
ROWS = ("sessions", "--all", "--json")
LISTS: Sequence[Sequence[str]] = (
    ("sessions", "--all"),
    ROWS,
    ("sessions", "--index"),
    ("stats",),
    ("doctor",),
    ("check", "--since", "300d", "--require", "result"),
)
OTHERS: Sequence[Sequence[str]] = (
    ("status",),
    ("hooks", "status"),
    ("show", STORED),
    ("-p", "s_made_small"),
    ("-p", "56e980f7"),
)
SOUND, DAMAGED = b"CREATE TABLE zzz (a)", b"CREATE \xffABLE zzz (a)"
"""A definition of a table, and the same with one damaged byte."""
_LARGE = 30_000
PLACES = 200
FOUND = (11, 18, 19, 24, 26, 44)
"""Places at which a damage once ended a command."""


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """Return a machine with sessions of every agent, without the large files of lines."""
    machine = fake_machine(tmp_path, 13)
    for path in machine.home.rglob("*.*l*"):
        is_lines = (
            path.suffix in (".jsonl", ".ndjson") and path.parent.name != "journal"
        )  # its folder is the session
        if is_lines and path.stat().st_size > _LARGE:
            path.unlink()
    return machine


def asked(machine: FakeMachine, words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    """Return the answer of a command; no error may be an internal one."""
    default = dict.fromkeys(("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"), "")
    done = ran(*words, stdin=None, cwd=None, **default, **machine.environ)
    assert done.returncode in (0, 1, 2), done.stderr
    assert all(line.startswith(b"agentwatch: ") for line in done.stderr.splitlines()), done.stderr
    return done


def listed(machine: FakeMachine) -> set[str]:
    """Return the ids of all sessions that `sessions --json` prints."""
    done = asked(machine, ROWS)
    return {json.loads(line)["id"] for line in done.stdout.splitlines()}


def rows_of(machine: FakeMachine) -> list[Row]:
    """Return the rows that the screen shows."""
    watched = Machine(machine.environ, machine.home)
    watched.wants_all = True
    watched.settle(now_ms())
    return list(watched.rows.values())


@pytest.fixture
def database(machine: FakeMachine) -> Path:
    """Return a database of opencode that SQLite refuses with words that are not UTF-8."""
    path = machine.home / ".local/share/opencode/opencode.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(SOUND.decode())
    data = path.read_bytes()
    assert data.count(SOUND) == 1
    path.write_bytes(data.replace(SOUND, DAMAGED))
    with closing(sqlite3.connect(path)) as connection, pytest.raises(UnicodeDecodeError):
        connection.execute("SELECT * FROM session")
    return path


@pytest.mark.system
def test_one_damaged_byte_is_one_line(machine: FakeMachine, database: Path) -> None:
    """Every command that asks for all sessions names the file, and lists the sessions of all others."""
    sound = {
        key[1] for key, path in machine.sessions.items() if database not in path.parents and path.exists()
    }
    line = f"agentwatch: cannot open {database}: the database is damaged\n".encode()
    for words in LISTS:
        with case(words):
            done = asked(machine, words)
            if words == ("doctor",):
                assert b"opencode.db: the database is damaged" in done.stdout
                assert bytes(machine.home) not in done.stdout
            else:
                assert done.stderr.count(line) == 1
    assert sound <= listed(machine)
    done = asked(machine, ("show", str(database)))
    assert (done.returncode, done.stderr) == (2, line)


def test_the_note_ends_when_the_file_can_be_read(
    machine: FakeMachine, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The screen shows the line as long as it is true."""
    monkeypatch.setattr("agentwatch.catalog.places._POLL_S", 0.0)
    clock = Clock()
    watched = Machine(machine.environ, machine.home, clock=lambda: clock.now)
    watched.settle(now_ms())
    assert watched.notes == (f"cannot open {database}: the database is damaged",)
    database.write_bytes(database.read_bytes().replace(DAMAGED, SOUND))
    clock.after(PASS_S)
    watched.settle(now_ms())
    assert not watched.notes
    assert ("opencode", STORED) in watched.rows
    # The others are counted, a file that has several sessions is one, and files that are gone are none
    faults = [OSError(errno.EIO, "Input/output error", f"/x/{number:02}") for number in range(12)]
    notes = notes_of([*faults, *faults])
    assert notes[0] == "cannot open /x/00: input/output error"
    assert notes[9:] == ("cannot open /x/09: input/output error", "2 other files cannot be opened")
    assert not is_problem(OSError(errno.ENOENT, "gone"), is_known=False)
    assert is_problem(OSError(errno.EBUSY, "locked"), is_known=False)
    assert not is_problem(OSError(errno.EBUSY, "locked"), is_known=True)


def test_an_error_of_any_kind_is_one_line(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can list what a damaged file makes a library raise."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("agentwatch.agents.copilot.program.yaml_texts", fail)
    monkeypatch.setattr("agentwatch.catalog.places._MOST_NAMED", 1000)
    monkeypatch.setattr("agentwatch.agents.claude.reported.own_object", fail)
    monkeypatch.setattr("agentwatch.catalog.digest.reading.apply_lines", fail)
    done = asked(machine, ("sessions", "--all"))
    said = done.stderr.decode()
    for name in (".claude/sessions", "events.jsonl", "20261121-231500-000aaaaaa.ndjson"):
        assert f"{name}: it is damaged (ZeroDivisionError)" in said
    assert done.stdout
    sound = asked(machine, ("show", STORED))
    assert sound.returncode == 0
    for place in ("catalog.index_rows.Feed", "rules.check.judge.Judge", "catalog.session_ids.Decoder"):
        monkeypatch.setattr(f"agentwatch.{place}", fail)
    assert b" cannot be read\n" in asked(machine, ("check", "--since", "300d", "--require", "result")).stderr
    assert b" cannot be read\n" in asked(machine, ("sessions", "--index")).stderr
    assert asked(machine, ("show", STORED)).stdout == sound.stdout
    rows = rows_of(machine)
    monkeypatch.setattr("agentwatch.catalog.contents._lines_with", fail)
    search = ContentsSearch("the", rows)
    search.advance(60.0)
    assert (search.is_over, sum(search.not_searched.values())) == (True, len(rows))


@pytest.mark.system
@pytest.mark.parametrize(
    "rounds",
    [
        FOUND,
        range(0, PLACES, 8),
        *(pytest.param(range(part, PLACES, 8), marks=pytest.mark.long) for part in range(1, 8)),
    ],
    ids=lambda rounds: str(rounds[0]),
)
def test_damaged_files_end_no_command(machine: FakeMachine, rounds: Sequence[int]) -> None:
    """In each file of each agent: flipped bits, cuts, zeros, invalid UTF-8, half characters, huge numbers.

    At 200 places of each file: at 25 of them on each push, and at those that once ended a command.
    """
    sound = {"codex": machine.home / ".codex", "qwen": machine.home / ".qwen"}
    files = {
        path: path.read_bytes()
        for path in sorted(machine.home.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
    assert len(files) > 60
    for number in rounds:
        before = os.listdir("/dev/fd")
        spared = ("codex", "qwen")[number % 2]
        ids = {key[1] for key, path in machine.sessions.items() if key[0] == spared and path.exists()}
        with case(number):
            for path, data in files.items():
                is_spared = sound[spared] in path.parents
                path.write_bytes(data if is_spared else damaged(data, f"{number} {path.name}"))
            for words in {*LISTS, *OTHERS} - {ROWS}:
                with case(words):
                    asked(machine, words)
            assert ids <= listed(machine)
            rows = rows_of(machine)
            for row in rows:
                with case(row.path), suppress(OSError):
                    row_session(row)
            search = ContentsSearch("the", rows)
            while not search.is_over:
                search.advance(1.0)
        del search
        gc.collect()
        # A command leaves its recordings without a name to the end of its process, which is that of all tests
        # here: 200 rounds would open 2,200 files.
        for fd in set(os.listdir("/dev/fd")) - set(before):
            with suppress(OSError):
                os.close(int(fd))
