"""Real processes that have the names, arguments and folders of agents, and do nothing."""

import fcntl
import os
import signal
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentwatch.sources.proc import Proc
from tests.harness.processes import until

_WAITS = "echo; read line"
"""The process shows that it has begun, and ends with its standard input."""


@contextmanager
def started(
    arguments: list[str], cwd: Path, code: str = "", executable: str = "/bin/sh"
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process, and wait until it runs; without `code`, also until it waits and uses no more time.

    The first argument is the name of the agent. Only the shell gets the code that waits.
    """
    name, *rest = arguments
    shell = [name, "-c", f"{code}\n{_WAITS}", name] if executable == "/bin/sh" else [name]
    process = subprocess.Popen(
        [*shell, *rest],
        executable=executable,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        if not code:
            until(lambda: not _is_runnable(process.pid), what="an agent that waits")
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its children too
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def _is_runnable(pid: int) -> bool:
    """Return whether a process has something to do, as far as the system says it."""
    stat = Proc().stat(pid)
    return stat is not None and stat.is_runnable


@contextmanager
def in_terminal(
    arguments: list[str], cwd: Path, script: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that has a terminal of its own; a shell that waits runs it, under the agent's name. The
    code is an argument `-c`, unless it is in a file, `script`.
    """
    name, *rest = arguments
    code = ["-c", _WAITS, name]
    if script is not None:
        script.write_text(_WAITS)
        code = [str(script)]
    master, slave = os.openpty()
    process = subprocess.Popen(
        [name, *code, *rest],
        executable="/bin/sh",
        cwd=cwd,
        stdin=slave,
        stdout=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - it takes no lock
    )
    os.close(slave)
    try:
        assert os.read(master, 8)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(master)
