"""The counts of an open list are read by other processes while they are fresh, and only then."""

import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.quick_look import Look, counted, is_decided, looked
from agentwatch.catalog.row_counts import Publisher, status_counts
from agentwatch.catalog.session_status import Process
from agentwatch.catalog.status import (
    FRESH_MS,
    UNKNOWN_COUNTS,
    StatusCounts,
    UnknownFieldError,
    read_limits,
    read_status,
    status_path,
    write_status,
)
from agentwatch.session.limits import Reported
from tests.builders.machine.rows import NOW_MS, row
from tests.conftest import ROOT, case

COUNTS = StatusCounts(needs_you=2, working=3, ended_today=None)


def changed(home: Path, **keys: object) -> None:
    """Change keys of the file that was written."""
    path = home / "status.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


def test_what_was_written_is_read(home: Path) -> None:
    """The counts are kept in a private file in the state folder, and unknown ones stay unknown."""
    assert read_status(NOW_MS) is None
    write_status(COUNTS, NOW_MS)
    assert read_status(NOW_MS + 1000) == COUNTS
    assert status_path() == home / "status.json"
    assert [path.name for path in home.iterdir()] == ["status.json"]
    assert stat.S_IMODE(status_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    # The file is replaced as a whole: a descriptor opened before keeps what was written before.
    with open(status_path()) as before:
        write_status(StatusCounts(), NOW_MS)
        assert json.load(before)["needs_you"] == 2
    assert read_status(NOW_MS) == StatusCounts()
    # The limits beside them are words of a bounded length, and as fresh as the counts.
    assert read_limits(NOW_MS) == ""
    write_status(COUNTS, NOW_MS, "claude 5 h 62 %")
    assert read_limits(NOW_MS) == "claude 5 h 62 %"
    assert read_limits(NOW_MS + FRESH_MS) is None
    write_status(COUNTS, NOW_MS, "ä" * 10_000)
    assert (read_limits(NOW_MS), read_status(NOW_MS)) == ("ä" * 500, COUNTS)
    changed(home, limits=7)
    assert (read_limits(NOW_MS), read_status(NOW_MS)) == (None, COUNTS)


def test_what_is_old_or_no_status_is_not_read(home: Path, tmp_path: Path) -> None:
    """Counts that are 5 s old or come from the future, other values and other files are not used."""
    write_status(COUNTS, NOW_MS)
    for late_ms in (-FRESH_MS, FRESH_MS, 10**15, -(10**15)):
        with case(late_ms):
            assert read_status(NOW_MS + late_ms) is None
            assert read_status(NOW_MS + FRESH_MS - 1) == COUNTS
    values: list[dict[str, Any]] = [
        *({"version": version} for version in (2, "1", None)),
        *({"pid": pid} for pid in (0, -1, 1 << 31, 1 << 80, "1", None, 1.5, True)),
        *({"written_ms": at} for at in ("1", None, "", True, float(NOW_MS))),
        *({"needs_you": count} for count in (-1, 1.5, "2", "", True, 1 << 60)),
        {"needs_you": []},
    ]
    for keys in values:
        with case(keys):
            write_status(COUNTS, NOW_MS)
            changed(home, **keys)
            assert read_status(NOW_MS) is None
    write_status(COUNTS, NOW_MS)
    kept = json.loads(status_path().read_text())
    del kept["quiet"]
    contents = (b"", b"{", b"[]", b"null", b"[" * 4000, b"\xff", b"{}", b" " * 5000 + b"{}")
    for data in (json.dumps(kept).encode(), *contents):
        with case(f"{data!r:.40}"):
            status_path().write_bytes(data)
            assert read_status(NOW_MS) is None
    # A link, a FIFO, a folder or a device in the place of the file delays nothing.
    write_status(COUNTS, NOW_MS)
    path = status_path().rename(tmp_path / "elsewhere")
    for target in (path, "/dev/zero"):
        status_path().symlink_to(target)
        assert read_status(NOW_MS) is None
        status_path().unlink()
    for make in (os.mkfifo, os.mkdir):
        make(status_path())
        assert read_status(NOW_MS) is None
        status_path().unlink() if make is os.mkfifo else status_path().rmdir()


@pytest.mark.slow
def test_counts_of_a_dead_process_are_not_read(home: Path) -> None:
    """The counts of a list that was closed or killed are not used."""
    write_status(COUNTS, NOW_MS)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    changed(home, pid=ended.pid)
    assert read_status(NOW_MS) is None


def test_a_folder_that_cannot_be_written_is_no_error(home: Path) -> None:
    """An open list goes on if its counts cannot be written, and leaves no file behind."""
    home.write_bytes(b"")
    write_status(COUNTS, NOW_MS)
    assert read_status(NOW_MS) is None
    home.unlink()
    status_path().mkdir(parents=True)  # nothing can replace a folder
    write_status(COUNTS, NOW_MS)
    assert [path.name for path in home.iterdir()] == ["status.json"]


ASKS, WORKS = row(State.ASKS), row(State.WORKING)


def test_counts_are_written_at_once_and_then_within_a_second() -> None:
    """A change is written after a second at most, and not more often; the first at once."""
    assert Publisher().publish({ASKS.key: ASKS}, NOW_MS)
    assert read_status(NOW_MS) == StatusCounts(needs_you=1)
    publisher, before, after = Publisher(), {ASKS.key: ASKS}, {WORKS.key: WORKS}
    publisher.publish(before, NOW_MS)
    assert not publisher.publish(after, NOW_MS + 999)
    assert read_status(NOW_MS) == StatusCounts(needs_you=1)
    assert publisher.publish(after, NOW_MS + 1000)
    assert read_status(NOW_MS + 1000) == StatusCounts(working=1)
    # Counts that do not change are fresh at any time, although rows change and they are written rarely.
    publisher, rows = Publisher(), {ASKS.key: ASKS}
    written = sum(publisher.publish(dict(rows), NOW_MS + late) for late in range(0, 60_000, 250))
    assert written == 60_000 // (FRESH_MS // 2)
    assert read_status(NOW_MS + 59_750) == StatusCounts(needs_you=1)
    # Counts with a time in the future are replaced.
    publisher, rows = Publisher(), {ASKS.key: ASKS}
    publisher.publish(rows, NOW_MS + 3_600_000)
    assert publisher.publish(rows, NOW_MS)
    assert read_status(NOW_MS) == StatusCounts(needs_you=1)


def test_the_limits_are_written_with_the_counts() -> None:
    """Limits that change are written although the counts are the same, and so is their age."""
    publisher, window = Publisher(), Reported("5h", 62.0, None, NOW_MS)
    rows = {ASKS.key: ASKS}
    publisher.publish(rows, NOW_MS)
    assert read_limits(NOW_MS) == ""
    limited = {ASKS.key: ASKS._replace(limits=(window,))}
    assert publisher.publish(limited, NOW_MS + 1000)
    assert read_limits(NOW_MS + 1000) == "claude 5 h 62 %"
    assert publisher.publish(limited, NOW_MS + 120_000)
    assert read_limits(NOW_MS + 120_000) == "claude 5 h 62 % · 2 min ago"


NOTHING = StatusCounts(ended_today=None)
DAY_MS = 86_400_000


def reported(
    state: State | None, life: Life = Life.LIVE, pid: int | None = None, agent: str = "claude"
) -> StateReport:
    """Return what an agent says about a session."""
    return StateReport(agent, f"{agent}-{pid}-{state}", life, pid, state=state, since_ms=NOW_MS - 2 * DAY_MS)


def agent(pid: int, name: str = "codex", *, is_shared: bool = False) -> tuple[int, Process]:
    """Return the process of an agent, by its id."""
    return pid, Process(pid, 1, name, is_shared=is_shared)


def test_what_agents_say_is_counted() -> None:
    """How many have ended is not known without reading them; a process that no agent names is unknown."""
    assert counted([], {}, NOW_MS) == NOTHING
    cases: list[tuple[State | None, dict[str, int]]] = [
        (State.ASKS, {"needs_you": 1}),
        (State.WORKING, {"working": 1}),
        (State.YOUR_TURN, {"your_turn": 1}),
        (State.SHELL, {"your_turn": 1}),
        (State.TURN_FAILED, {"failed": 1}),
        (State.QUIET, {"quiet": 1}),
        (State.UNKNOWN, {"unknown": 1}),
        (None, {"unknown": 1}),
    ]
    for state, counts in cases:
        with case(state):
            assert counted([reported(state)], {}, NOW_MS) == NOTHING._replace(**counts)
            assert counted([reported(state, Life.DEAD)], {}, NOW_MS) == NOTHING
    old = reported(State.ASKS, Life.UNKNOWN)
    assert counted([old], {}, NOW_MS) == NOTHING
    assert counted([old._replace(since_ms=NOW_MS)], {}, NOW_MS) == NOTHING._replace(unknown=1)
    agents = dict([agent(1), agent(2, "claude"), agent(3, is_shared=True)])
    assert counted([reported(State.WORKING, pid=2)], agents, NOW_MS) == NOTHING._replace(working=1, unknown=1)
    both = [reported(State.ASKS, pid=7), reported(None, pid=7, agent="agentwatch")]
    assert counted(both, dict([agent(7, "claude")]), NOW_MS) == NOTHING._replace(needs_you=1)
    assert counted(both[1:], dict([agent(7)]), NOW_MS) == NOTHING._replace(unknown=1)
    found = counted([reported(State.ASKS, pid=7)], None, NOW_MS)
    assert found == NOTHING._replace(needs_you=1, unknown=None)
    assert found.line() == "1 needs you"


def test_a_disk_that_hangs_is_not_waited_for() -> None:
    """After the longest time nothing is known, and the line says so."""
    hanging = threading.Event()

    def look() -> Iterator[Look]:
        hanging.wait(20)
        yield Look(NOTHING)

    found = looked(look, 0.01)
    hanging.set()
    assert found == Look(UNKNOWN_COUNTS)
    assert found.counts.line() == "–"


def test_sessions_are_read_if_there_is_time_and_need() -> None:
    """What is read in time counts: the reports, or else the sessions too. An agent at work, or one that asks,
    says all; the end of a turn, or silence, does not."""
    hanging, better = threading.Event(), Look(NOTHING._replace(quiet=1), "claude 5 h 62 %")

    def look(*, hangs: bool) -> Iterator[Look]:
        yield Look(NOTHING)
        if hangs:
            hanging.wait(20)
        yield better

    assert looked(lambda: look(hangs=False), 20) == better
    assert looked(lambda: look(hangs=True), 0.2) == Look(NOTHING)
    hanging.set()
    codex, claude = dict([agent(1)]), dict([agent(2, "claude")])
    assert is_decided([], {})
    assert is_decided([reported(State.WORKING, pid=2), reported(State.YOUR_TURN, Life.DEAD, pid=3)], claude)
    assert is_decided([reported(State.ASKS, pid=2), reported(None, pid=2, agent="agentwatch")], claude)
    assert not is_decided([reported(State.YOUR_TURN, pid=2)], claude)
    assert not is_decided([reported(None, pid=2)], claude)
    assert not is_decided([reported(State.WORKING, pid=2)], {**claude, **codex})
    assert is_decided([], dict([agent(3, is_shared=True)]))


def test_this_machine_is_looked_at(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The counts of this machine are known in time."""
    assert looked(most_seconds=20).counts.needs_you is not None


def test_the_counts_are_those_of_the_list() -> None:
    """Each state counts for its group in the list."""
    assert status_counts([row(state, number=at) for at, state in enumerate(State)], NOW_MS) == StatusCounts(
        needs_you=1, working=2, failed=1, quiet=2, your_turn=2, ended_today=4, unknown=1
    )
    # A session that may run is counted if its last line was written since midnight, subagents never.
    now = time.localtime(NOW_MS // 1000)
    begin = (NOW_MS // 1000 - now.tm_hour * 3600 - now.tm_min * 60 - now.tm_sec) * 1000
    rows = [row(State.UNKNOWN, number=at, seen_ms=seen) for at, seen in enumerate((begin, begin - 1, None))]
    assert status_counts(rows, NOW_MS).unknown == 1
    assert status_counts([row(State.UNKNOWN, parent=rows[0].key)], NOW_MS).unknown == 0


def test_the_line_names_what_deserves_attention() -> None:
    """Zeros, ended sessions and sessions in which it is the user's turn are left out."""
    cases: list[tuple[StatusCounts, str]] = [
        (StatusCounts(), ""),
        (StatusCounts(needs_you=1), "1 needs you"),
        (StatusCounts(needs_you=2, working=3, failed=1), "2 need you · 3 working · 1 failed"),
        (StatusCounts(quiet=1, your_turn=4, ended_today=9, unknown=2), "1 quiet · 2 unknown"),
        (StatusCounts(*[None] * 7), "–"),
        (StatusCounts(ended_today=None), ""),
    ]
    for given, line in cases:
        with case(given):
            assert given.line() == line


def test_a_template_is_filled() -> None:
    """Each field in braces is replaced by its count, and by a dash if it is unknown; the rest is kept."""
    cases: list[tuple[str, str]] = [
        ("", ""),
        ("{needs_you}/{working}", "2/–"),
        ("#[fg=red]{needs_you}#[default] {ended_today}{ended_today}", "#[fg=red]2#[default] 00"),
        ("{", "{"),
        ("}{needs_you", "}{needs_you"),
        ("100 %s %(a)s", "100 %s %(a)s"),
    ]
    for template, line in cases:
        with case(template):
            assert StatusCounts(needs_you=2, working=None).filled(template) == line
    # The limits are words, or a dash where none is known.
    assert StatusCounts(working=2).filled("{limits} {working}", "claude 5 h 62 %") == "claude 5 h 62 % 2"
    assert StatusCounts().filled("{limits}") == "–"


def test_a_template_is_checked_in_linear_time() -> None:
    """A template gives access to the counts alone: no attribute, no index, no format. A template of a million
    braces is filled or refused at once."""
    cases: list[str] = [
        "",
        "0",
        "needs-you",
        "NEEDS_YOU",
        "needs_you.__class__",
        "needs_you!r",
        "needs_you:>9",
        "{needs_you",
    ]
    for name in cases:
        with case(name):
            with pytest.raises(UnknownFieldError) as raised:
                StatusCounts().filled(f"a {{{name}}} b")
            assert str(raised.value).startswith(
                f"{{{name}}} is not a field; known fields: {{needs_you}}, {{working}},"
            )
    assert StatusCounts().filled("{working}" * 100_000) == "0" * 100_000
    assert StatusCounts().filled("{" * 1_000_000) == "{" * 1_000_000


@pytest.mark.slow
def test_the_counts_load_no_decoder() -> None:
    """A prompt does not wait for modules that it does not need."""
    program = "import sys, agentwatch.catalog.status as f; f.read_status(0); print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=20
    )
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint(
        {"click", "orjson", "dataclasses", "agentwatch.session.events", "agentwatch.recording"}
    )
