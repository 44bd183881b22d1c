"""`agentwatch clip` writes a part of a recording, and its times, as a recording of its own."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from agentwatch.analysis.moments import CallEnd, End, Named, Shift
from agentwatch.base.faults import Fault
from agentwatch.cli.clip import parse_range
from agentwatch.output.export.clip import Range
from tests.conftest import RECORDINGS, case
from tests.harness.program import files, ran, watch

DEMO = RECORDINGS / "demo.ndjson"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a recording and its times, which is the working directory."""
    folder = tmp_path / "here"
    folder.mkdir()
    shutil.copy(DEMO, folder / "a.ndjson")
    shutil.copy(DEMO.with_suffix(".times"), folder / "a.times")
    monkeypatch.chdir(folder)
    return folder


def test_a_part_is_two_moments_of_an_address(folder: Path) -> None:
    """A part is an address with a moment, two dots and a second moment; one call is a part too."""
    cases: list[tuple[str, Range]] = [
        ("a.ndjson#3..#5", Range(CallEnd(3), CallEnd(5))),
        ("a.ndjson#3", Range(CallEnd(3), CallEnd(3))),
        ("a.ndjson@+10s..+95s", Range(Shift(10_000), Shift(95_000))),
        ("a.ndjson@start..#5", Range(End.START, CallEnd(5))),
        ("./../here/a.ndjson#3..#5", Range(CallEnd(3), CallEnd(5))),
        ("./../here/a.ndjson#3", Range(CallEnd(3), CallEnd(3))),
        ("a.ndjson@the plan..the end", Range(Named("the plan"), Named("the end"))),
    ]
    for words, wanted in cases:
        with case(words):
            address, found = parse_range(words)
            assert address.path.samefile(folder / "a.ndjson")
            assert found == wanted


def test_words_that_are_no_part_are_a_fault(folder: Path) -> None:
    """The error names what is wrong, with the exit code 2."""
    cases: list[tuple[str, str]] = [
        ("a.ndjson", "name a part, such as a.ndjson#3..#5"),
        ("a.ndjson@+10s", "name a part, such as a.ndjson#3..#5"),
        ("a.ndjson#3..#0", "#0 is not a call"),
        ("a.ndjson#3..25:00", "25:00 is not a time of day"),
        ("a.ndjson#0..#3", "#0 is not a call"),
    ]
    for words, reason in cases:
        with case(words):
            with pytest.raises(Fault, match=re.escape(reason)) as raised:
                parse_range(words)
            assert raised.value.exit_code == 2


@pytest.mark.system
@pytest.mark.slow
def test_a_clip_is_a_recording_with_times(folder: Path) -> None:
    """The clip and its times are new private files; the clip is printed, shown and clipped like any other."""
    done = watch("clip", "a.ndjson#6..#8", "-o", "b.ndjson", cwd=folder, umask=0)
    assert (done.returncode, done.stdout) == (0, b"")
    assert re.fullmatch(rb"agentwatch: wrote b\.ndjson \(\d+\.\d kB, 3 calls\); [^\n]+\n", done.stderr)
    assert files(folder) == {"a.ndjson", "a.times", "b.ndjson", "b.times"}
    assert (folder / "b.ndjson").stat().st_mode & 0o777 == 0o600
    printed = ran("-p", "b.ndjson", cwd=folder).stdout.decode().splitlines()
    assert printed == ran("-p", DEMO).stdout.decode().splitlines()[5:8]
    ours = json.loads(ran("show", "b.ndjson#1", "--json", cwd=folder).stdout)
    theirs = json.loads(ran("show", "a.ndjson#6", "--json", cwd=folder).stdout)
    assert ours | {"number": 6} == theirs
    again = ran("clip", "b.ndjson#2", "-o", "c.ndjson", cwd=folder)
    assert again.returncode == 0
    assert ran("-p", "c.ndjson", cwd=folder).stdout.decode().splitlines() == printed[1:2]


def test_a_clip_has_the_arrival_times_of_its_lines(folder: Path) -> None:
    """A line of the clip arrived when it arrived in the recording."""
    ran("clip", "a.ndjson@+10s..+20s", "-o", "b.ndjson", cwd=folder)
    lines = [line.split() for line in (folder / "b.times").read_text().splitlines()]
    first_ms = int((folder / "a.times").read_text().split()[1])
    times = [int(ms) - first_ms for _, ms in lines]
    assert times == sorted(times)
    begin = [ms for ms in times if ms <= 10_000]
    assert all(ms < 1000 for ms in begin)  # the start lines of the run
    assert len(begin) < len(times)
    assert times[-1] <= 20_000
    assert all(int(offset) < (folder / "b.ndjson").stat().st_size for offset, _ in lines)


def test_a_clip_is_redacted(folder: Path) -> None:
    """Secrets are masked, unless the clip is raw; stderr says which."""
    done = ran("clip", "a.ndjson#1", "-o", "b.ndjson", "--raw", cwd=folder)
    assert b"nothing was redacted (--raw)\n" in done.stderr
    whole = (folder / "a.ndjson").read_bytes().splitlines()
    assert set((folder / "b.ndjson").read_bytes().splitlines()) <= set(whole)


def test_the_times_of_a_replaced_file_are_removed(folder: Path) -> None:
    """Times that do not belong to the clip do not stay beside it."""
    (folder / "a.times").unlink()
    (folder / "b.ndjson").touch()
    (folder / "b.times").write_text("0 1\n")
    assert ran("clip", "a.ndjson#1", "-o", "b.ndjson", "--force", cwd=folder).returncode == 0
    assert files(folder) == {"a.ndjson", "b.ndjson"}


def test_a_clip_is_printed(folder: Path) -> None:
    """`-o -` prints the clip, which another command reads from a pipe."""
    done = ran("clip", "a.ndjson#6..#8", "-o", "-", cwd=folder)
    assert ran("-p", stdin=done.stdout).stdout.count(b"\n") == 3
    assert b"wrote" not in done.stderr


def test_what_cannot_be_done_is_one_line(folder: Path) -> None:
    """A part that does not exist, and a file that cannot be written, are reported, and nothing is written."""
    cases: list[tuple[list[str], int, str]] = [
        (["a.ndjson#6"], 2, "Missing option '-o'"),
        (["a.ndjson#6..#99", "-o", "b.ndjson"], 2, "no call #99: the session has 14 calls"),
        (["a.ndjson#6..#8", "-o", "a.ndjson"], 2, "cannot write a.ndjson: it is an input of this command"),
        (["a.ndjson#6..#8", "-o", "none/b.ndjson"], 73, "no such file or directory"),
        (["none.ndjson#6..#8", "-o", "b.ndjson"], 2, "cannot open none.ndjson"),
    ]
    for words, code, reason in cases:
        with case(" ".join(words)):
            before = (folder / "a.ndjson").read_bytes()
            done = ran("clip", *words, cwd=folder)
            assert (done.returncode, done.stdout) == (code, b"")
            assert re.fullmatch(r"agentwatch: [^\n]+\n", done.stderr.decode())
            assert reason in done.stderr.decode()
            assert files(folder) == {"a.ndjson", "a.times"}
            assert (folder / "a.ndjson").read_bytes() == before
