"""Real processes that have the names, arguments and folders of agents, and do nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_WAITS = "echo; read line"
"""The process shows that it has begun, and ends with its standard input."""
Starter = Callable[..., int]


@contextmanager
def started(
    arguments: list[str], cwd: Path, code: str = "", executable: str = "/bin/sh"
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process, and wait until it runs.

    Args:
        arguments: Its arguments; the first is the name of the agent. A shell that waits runs them.
        cwd: Its folder.
        code: What the shell does first.
        executable: The program; another one than the shell is run with the arguments as they are.
    """
    name, *rest = arguments
    shell = [name, "-c", f"{code}\n{_WAITS}", name] if executable == "/bin/sh" else [name]
    process = subprocess.Popen(
        [*shell, *rest], executable=executable, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        yield process
    finally:
        process.kill()
        process.communicate()
        for child in (process.stdin, process.stdout):
            assert child is not None
            child.close()
