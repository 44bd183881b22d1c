"""Run agentwatch to its end without a terminal, as a script does; and three recordings for it."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from threading import Thread
from unittest.mock import patch

from tests.conftest import RECORDINGS, ROOT
from tests.harness.schemas import check_printed

PLAIN = RECORDINGS / "plain.ndjson"
PLAIN_TEXT = b"Read file lantern/settings.py (6 lines)\nEdited file lantern/settings.py (+1 -1)\n"
FAILED = RECORDINGS / "failed-run.ndjson"
UNFINISHED = RECORDINGS / "unfinished.ndjson"
AGENTWATCH = [sys.executable, "-W", "error", "-m", "agentwatch"]

HURRIED = """
import sys
from agentwatch.cli import app
from agentwatch.sources import agent
from agentwatch.sources import process
agent.LATE_EXIT_MS, process._STOP_SECONDS = 300, 0.5
sys.argv[0] = "agentwatch"
sys.exit(app.main())
"""
"""Agentwatch with a grace period of 0.3 s instead of 30, and 0.5 s instead of 10 between TERM and KILL."""


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which agentwatch can be imported, with a fixed TERM and time zone."""
    return os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "TZ": "Asia/Tokyo"} | more


def watch(
    *arguments: str | Path,
    stdin: bytes | None = None,
    cwd: Path | None = None,
    umask: int = -1,
    late: int = 20,
    **env: str,
) -> subprocess.CompletedProcess[bytes]:
    """Run agentwatch to its end without a terminal; stdin is a pipe with these bytes, or /dev/null."""
    return subprocess.run(
        [*AGENTWATCH, *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        env=environment(**env),
        cwd=cwd,
        umask=umask,
        timeout=late,
        check=False,
        start_new_session=True,
    )


def ran(
    *arguments: str | Path, stdin: bytes | None = None, cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[bytes]:
    """Run agentwatch as `watch` does, but in this process, which takes a tenth of the time.

    JSON that it prints is checked by its schema.

    Signals, plug-ins, limits, a closed stdout and an agent that is started need a process: use `watch`.
    """
    from agentwatch.agents import plugins as formats
    from agentwatch.cli.app import main
    from agentwatch.output.export import exporters

    for found in (exporters, formats):
        found.GROUP.problems.clear()  # those that earlier tests have made
    words, here = ["agentwatch", *map(str, arguments)], os.getcwd()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    thresholds, code = gc.get_threshold(), None
    with (
        patch.dict(os.environ, environment(**env)),
        patch.object(sys, "argv", words),
        patch.object(gc, "freeze"),
        _descriptors(stdin) as printed,
    ):
        time.tzset()
        os.chdir(cwd or here)
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        finally:
            os.chdir(here)
    time.tzset()
    gc.set_threshold(*thresholds)
    for number, handler in handlers.items():
        signal.signal(number, handler)
    assert isinstance(code, int)
    check_printed(words[1:], bytes(printed[0]))
    return subprocess.CompletedProcess(words, code, bytes(printed[0]), bytes(printed[1]))


@contextmanager
def _descriptors(stdin: bytes | None) -> Iterator[tuple[bytearray, bytearray]]:
    """Replace the three standard descriptors by pipes, and yield what is written to the last two of them."""
    printed, before, threads = (bytearray(), bytearray()), [os.dup(fd) for fd in range(3)], []
    streams = sys.stdin, sys.stdout, sys.stderr
    if stdin is None:
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
    else:
        reads, writes = os.pipe()
        os.dup2(reads, 0)
        os.close(reads)
        threads.append(Thread(target=_fill, args=(writes, stdin)))
    for fd in (1, 2):
        reads, writes = os.pipe()
        os.dup2(writes, fd)
        os.close(writes)
        threads.append(Thread(target=_drain, args=(reads, printed[fd - 1])))
    for thread in threads:
        thread.start()
    sys.stdin = TextIOWrapper(BufferedReader(FileIO(0, closefd=False)), "utf-8")
    sys.stdout = TextIOWrapper(BufferedWriter(FileIO(1, "w", closefd=False)), "utf-8")
    stderr = BufferedWriter(FileIO(2, "w", closefd=False))
    sys.stderr = TextIOWrapper(stderr, "utf-8", "backslashreplace", line_buffering=True)
    try:
        yield printed
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        for fd, old in enumerate(before):
            os.dup2(old, fd)
            os.close(old)
        for thread in threads:
            thread.join()


def _fill(fd: int, data: bytes) -> None:
    with open(fd, "wb") as pipe, suppress(BrokenPipeError):
        pipe.write(data)


def _drain(fd: int, into: bytearray) -> None:
    with open(fd, "rb") as pipe:
        into += pipe.read()


def files(folder: Path) -> set[str]:
    """Return the relative paths of all files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
