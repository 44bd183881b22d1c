"""The state of processes, read from /proc, and waiting for it and for descriptors."""

import selectors
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

from agentwatch.sources.agent import AgentSource
from agentwatch.sources.agent_output import RelayedOutput

T = TypeVar("T")


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def zombies_of(parent: int) -> list[int]:
    """Return the children of a process that have ended and were not reaped."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, of = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state == "Z" and int(of) == parent:
            found.append(int(path.parent.name))
    return found


def relay_of(source: AgentSource) -> int:
    """Return the process id of a source's relay."""
    assert isinstance(source.agent.output, RelayedOutput)
    return source.agent.output.relay_pid


_ENDS_WITH_STDIN = 'exec 3<&0 </dev/null; ((read -r _ <&3; kill -9 $$) >/dev/null 2>&1 &); exec "$@" 3<&-'


def start_with_us(argv: Sequence[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a server that is killed when this process ends, also when that is killed.

    A second process waits for the end of a pipe, whose other end is open here alone, and kills the server.
    """
    shell = ["sh", "-c", _ENDS_WITH_STDIN, "sh", *argv]
    return subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT)


def end(server: subprocess.Popen[bytes]) -> None:
    """Kill a server of `start_with_us`, and wait until it is gone."""
    assert server.stdin is not None
    server.stdin.close()
    server.wait(20)


def is_ready(
    file: int | socket.socket | IO[bytes], seconds: float = 0, event: int = selectors.EVENT_READ
) -> bool:
    """Return whether a file can be read or, with EVENT_WRITE, written within some seconds.

    `select` refuses descriptors over 1,023, which a process that runs all tests has, and `poll` of macOS
    refuses terminals.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(file, event)
        return bool(selector.select(seconds))


def until(
    condition: Callable[[], T | None],
    seconds: float = 20,
    what: str = "the condition",
    picture: Callable[[], str] = str,
) -> T:
    """Wait until a condition holds, and return its value. Each wait of the tests uses this one.

    A loaded machine may need ten times as long as a quiet one.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}\n{picture()}"
        time.sleep(0.005)
    return value
