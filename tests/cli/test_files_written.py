"""Without a terminal only the requested files are written, each of them private."""

import json
import re
import stat
from pathlib import Path

import pytest

from agentwatch.cli.output import write_times
from tests.builders.lines import init, result, started
from tests.conftest import Saver, case
from tests.harness.fake_agent import command
from tests.harness.program import PLAIN, PLAIN_TEXT, files, ran, watch


@pytest.mark.slow
def test_run_writes_five_files_or_none(home: Path) -> None:
    """With --no-record and --no-log no file is written, and everything is printed."""
    done = watch("run", "-p", "--no-record", "--no-log", "--", *command(PLAIN))
    assert (done.returncode, done.stdout) == (0, PLAIN_TEXT)
    assert files(home) == set()
    # A session of `run` has five private files with one stem: recording, times, log, stderr, process
    agent = command(PLAIN, "--stderr", "a warning", "--exit", "3")
    assert watch("run", "-p", "--", *agent).returncode == 3
    found = sorted((home / "sessions").iterdir())
    assert len({path.stem for path in found}) == 1
    assert [path.suffix for path in found] == [".json", ".log", ".ndjson", ".stderr", ".times"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == {0o600}
    process, log, recording, stderr, times = found
    assert recording.read_bytes() == PLAIN.read_bytes()
    assert stderr.read_bytes() == b"a warning\n"
    assert re.fullmatch(rb"0 \d{13}\n(\d+ \d{13}\n)*", times.read_bytes())
    facts = json.loads(process.read_bytes())
    assert (facts["command"], facts["exit_code"]) == (agent, 3)
    assert facts["started_ms"] <= facts["ended_ms"]
    assert ran("-p", "--times", recording).stdout == log.read_bytes()


WRITTEN: list[tuple[list[str], set[str]]] = [
    ([], set()),
    (["--record", "r.ndjson"], {"r.ndjson", "r.times", "r.log"}),
    (["--record", "r.ndjson", "--no-log"], {"r.ndjson", "r.times"}),
    (["--log", "l.txt"], {"l.txt"}),
    (["--record", "r.ndjson", "--log", "l.txt"], {"r.ndjson", "r.times", "l.txt"}),
]


def test_only_requested_files_are_written(tmp_path: Path, recording: Saver) -> None:
    """Printing a pipe writes only the files requested with --record and --log, and they are private."""
    for options, written in WRITTEN:
        with case(options):
            done = ran("-p", *options, stdin=PLAIN.read_bytes(), cwd=tmp_path)
            assert (done.returncode, done.stdout, done.stderr) == (0, PLAIN_TEXT, b"")
            assert files(tmp_path) == written
            for path in map(tmp_path.joinpath, written):
                assert stat.S_IMODE(path.stat().st_mode) == 0o600
                assert path.suffix != ".ndjson" or path.read_bytes() == PLAIN.read_bytes()
                path.unlink()
    # Opening or replaying a recording writes no file except a requested log
    path = recording(init(), started("read", path="a"), result())
    commands: list[list[str | Path]] = [[path], ["replay", path], ["-p", "--times", path], ["sessions"]]
    for words in commands:
        assert ran(*words, cwd=tmp_path).returncode == 0
    assert files(tmp_path) == {"session.ndjson"}
    assert ran(path, "--log", "0.log", cwd=tmp_path).returncode == 0
    assert ran("replay", path, "--log", "1.log", cwd=tmp_path).returncode == 0
    assert files(tmp_path) == {"session.ndjson", "0.log", "1.log"}
    assert (
        (tmp_path / "0.log").read_bytes()
        == (tmp_path / "1.log").read_bytes()
        == ran("-p", "--times", path).stdout
    )


def test_times_are_removed_only_when_they_are_replaced(tmp_path: Path) -> None:
    """They are those of other lines. That there are none is not an error."""
    recording, times = tmp_path / "a.ndjson", tmp_path / "a.times"
    recording.touch()
    times.write_text("0 1\n")
    for _ in range(2):
        write_times(recording, (), replaces=True)
        assert not times.exists()
    # Times that have come into being while the recording was written are not removed
    times.write_text("0 1\n")
    write_times(recording, (), replaces=False)
    assert times.read_text() == "0 1\n"
    # Thousands of lines are written in pieces
    for count in (1, 4096, 4097):
        times.unlink()
        write_times(recording, ((number, 1000 + number) for number in range(count)), replaces=False)
        assert times.read_text().splitlines() == [f"{number} {1000 + number}" for number in range(count)]
