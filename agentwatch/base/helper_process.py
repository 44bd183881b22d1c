"""Starts processes of agentwatch that do a part of a large job. Only bytes pass between them."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import agentwatch

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from agentwatch.base.helper_process import run; run(*sys.argv[1:])"
)

_PIPE_BYTES = 1 << 20
"""With the usual 64 KiB, each of the two processes waits for the other."""


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux only
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class HelperProcess:
    """A process that runs `serve(pipe, *words)` of a module until it returns or the pipe is closed."""

    def __init__(self, module: str, *words: str, fds: Sequence[int] = (), only_answers: bool = False) -> None:
        """`only_answers`: nothing is sent to it. Raise `OSError`."""
        from multiprocessing.connection import Pipe  # takes 20 ms, which only a large job has to spare

        folder = os.path.dirname(os.path.dirname(os.path.abspath(agentwatch.__file__)))
        self.pipe, theirs = Pipe(duplex=not only_answers)
        if only_answers and hasattr(fcntl, "F_SETPIPE_SZ"):  # Linux only
            with suppress(OSError):  # it is the limit of a user
                fcntl.fcntl(self.pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, folder, module, str(theirs.fileno()), *words],
                pass_fds=[theirs.fileno(), *fds],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # what a plug-in prints is not an answer
                stderr=subprocess.DEVNULL,
            )

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.pipe.close()


def run(module: str, pipe_fd: str, *words: str) -> None:
    """Do the work of a process that was started. An error ends it: the process that has started it then does
    the work, and reports the error."""
    from multiprocessing.connection import Connection

    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # a key is meant for the process that has started this one
    gc.set_threshold(200_000, 20, 1000)  # as in `cli.start`
    with suppress(OSError, EOFError), Connection(int(pipe_fd)) as pipe:
        import_module(module).serve(pipe, *words)
    os._exit(0)
