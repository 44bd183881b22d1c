"""Printing stops when its reader goes away, follows a growing file, and prints a replay like the file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.builders.lines import completed, init, result
from tests.harness.program import AGENTWATCH, PLAIN, PLAIN_TEXT, environment, ran


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["big.ndjson"],
        pytest.param(["log", "big.ndjson"], marks=pytest.mark.system),
        pytest.param(["big.ndjson", "--output-format", "stream-json"], marks=pytest.mark.system),
        pytest.param(["-p", "-"], marks=pytest.mark.system),
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_leaves_no_traceback(tmp_path: Path, arguments: list[str]) -> None:
    """`agentwatch … | head -1` prints the first line and nothing on stderr."""
    calls = [completed("read", f"c-{number}", {"success": {}}, path="x" * 150) for number in range(3000)]
    big = tmp_path / "big.ndjson"
    big.write_bytes(b"".join([init(), *calls, result()]))
    with big.open("rb") as stdin, (tmp_path / "stderr").open("wb") as stderr:
        program = subprocess.Popen(
            [*AGENTWATCH, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment(),
            cwd=tmp_path,
            start_new_session=True,
        )
        with program:
            assert program.stdout
            assert program.stdout.readline()
            program.stdout.close()
            assert program.wait(20) in (0, 128 + signal.SIGPIPE)
    assert (tmp_path / "stderr").read_bytes() == b""


@pytest.mark.slow
@pytest.mark.parametrize(
    "output_format",
    [
        "text",
        *(
            pytest.param(name, marks=pytest.mark.system)
            for name in ("json", "stream-json", "final", "summary")
        ),
    ],
)
def test_a_reader_that_has_gone_hides_no_exit_code(home: Path, output_format: str) -> None:
    """If nobody reads what `run` prints, even at its end, the agent's exit code is returned and recorded."""
    agent = ["sh", "-c", 'cat "$0"; exit 7', str(PLAIN)]
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [*AGENTWATCH, "run", "--print", "--output-format", output_format, "--", *agent],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=20,
        check=False,
        start_new_session=True,
    )
    os.close(writing)
    assert run.returncode == 7
    assert run.stderr == b"agentwatch: the result says success, but the agent ended with exit 7\n"
    (described,) = (home / "sessions").glob("*.json")
    assert json.loads(described.read_bytes())["exit_code"] == 7


@pytest.mark.slow
def test_following_a_file_prints_what_is_appended(tmp_path: Path) -> None:
    """With -f, appended lines are printed when they are complete, until a signal ends the program."""
    path = tmp_path / "growing.ndjson"
    path.write_bytes(init() + completed("read", "a", {"success": {}}, path="a"))
    argv = [*AGENTWATCH, "-f", str(path), "--print"]
    with (
        subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment(), start_new_session=True) as program,
        path.open("ab", buffering=0) as file,
    ):
        assert program.stdout
        assert program.stdout.readline() == b"Read file a\n"
        more = completed("shell", "b", {"success": {}}, command="make")
        file.write(more[:40])
        file.write(more[40:])
        assert program.stdout.readline() == b"Ran terminal command make\n"
        file.write(result())
        file.write(completed("read", "c", {"success": {}}, path="c"))
        assert program.stdout.readline() == b"Read file c\n"
        assert program.poll() is None
        program.send_signal(signal.SIGINT)
        assert program.wait(20) == 128 + signal.SIGINT


def test_a_replay_prints_what_the_file_prints() -> None:
    """A replay in print mode prints the same lines in the same order as the file."""
    done = ran("replay", PLAIN, "--speed", "1000", "--max-idle", "0")
    assert (done.returncode, done.stdout) == (0, PLAIN_TEXT)


def test_the_demo_needs_nothing() -> None:
    """The demo plays a bundled session to its end and exits with 0."""
    done = ran("demo", "--speed", "1000", "--max-idle", "0")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 14
