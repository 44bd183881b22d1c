"""`status` prints one line, whether or not a list is open, and reports a wrong template."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentwatch.base.clock import now_ms
from agentwatch.catalog.status import StatusCounts, write_status
from agentwatch.cli.status import quick_status
from tests.conftest import case
from tests.harness.program import AGENTWATCH, environment, watch

pytestmark = pytest.mark.slow

COUNTS = StatusCounts(needs_you=2, working=3, failed=1, ended_today=9)
LINE = "2 need you · 3 working · 1 failed\n".encode()


def test_the_line_of_an_open_list_is_printed(home: Path) -> None:
    """The line has the counts that an open list has just written; a template chooses the fields."""
    write_status(COUNTS, now_ms())
    done = watch("status")
    assert (done.returncode, done.stdout, done.stderr) == (0, LINE, b"")
    write_status(COUNTS, now_ms())
    for option in (["--format", "{needs_you}!{ended_today}"], ["--format={needs_you}!{ended_today}"]):
        assert watch("status", *option).stdout == b"2!9\n"
    # The text around the fields is printed as it was given.
    write_status(COUNTS, now_ms())
    done = watch("status", "--format", os.fsdecode(b"\x1b[31m{needs_you}\xff\xc3\xa9"))
    assert done.stdout == b"\x1b[31m2\xff\xc3\xa9\n"
    # A script that starts the command line itself, as older versions installed it, prints the same.
    write_status(COUNTS, now_ms())
    program = "import sys; sys.argv[0] = 'agentwatch'; from agentwatch.cli.app import main; main()"
    for given, line in (((), LINE), (("--format", "{failed}"), b"1\n")):
        done = subprocess.run(
            [sys.executable, "-c", program, "status", *given],
            env=environment(),
            capture_output=True,
            check=True,
        )
        assert done.stdout == line


def test_wrong_and_other_arguments_need_the_command_line() -> None:
    """Help and usage errors are left to the command line, and nothing is printed before."""
    for arguments in (["--help"], ["--gone"], ["x"], ["--format"], ["--format", "a", "b"]):
        with case(arguments):
            assert quick_status(arguments) is None
            done = watch("status", *arguments)
            assert done.returncode == (0 if arguments == ["--help"] else 2)
    # The error of a template names the field and all known fields, in one line with 2.
    for option in (["--format", "{gone}"], ["--format={gone}"]):
        with case(option):
            done = watch("status", *option)
            assert (done.returncode, done.stdout) == (2, b"")
            assert done.stderr.startswith(
                b"agentwatch: --format: {gone} is not a field; known fields: {needs_you}, "
            )
            assert done.stderr.count(b"\n") == 1


def test_a_closed_stdout_is_reported(home: Path) -> None:
    """A line that cannot be printed is an error with 74, and one that nobody reads ends with 141."""
    with open("/dev/full", "wb") as full:
        done = run_with(full.fileno())
    assert (done.returncode, done.stderr) == (74, b"agentwatch: cannot print: No space left on device\n")
    reading, writing = os.pipe()
    os.close(reading)
    done = run_with(writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def run_with(stdout: int) -> subprocess.CompletedProcess[bytes]:
    """Run `status` with this descriptor as its stdout."""
    command = [*AGENTWATCH, "status"]
    return subprocess.run(
        command, env=environment(), stdout=stdout, stderr=subprocess.PIPE, check=False, timeout=20
    )
