"""An `os` whose n-th call fails, and a session that is watched meanwhile."""

import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import pytest

from agentwatch.base.faults import Fault
from agentwatch.cli.front import watch
from agentwatch.cli.options import Options
from agentwatch.recording.relay import Relay
from agentwatch.sources.open import KeepOptions
from agentwatch.sources.source import Source
from tests.harness.processes import until

END_SECONDS = 10
MOST_CALLS = 500
PROC = os.stat("/proc").st_dev if os.path.isdir("/proc") else None
INTAKE = ("intake", "agent output", "relay")
"""The threads that record: that of a pipe, that of a started agent, and its relay."""


class Case(NamedTuple):
    """Which calls fail, and how."""

    names: tuple[str, ...]
    lasting: bool = False
    """After the first failure all named calls fail."""
    halves: bool = False
    """A write that is about to fail first writes half of its data, as on a disk that runs full."""
    intake_only: bool = False
    """Only the calls of the intake thread fail, not those of the recording's readers."""

    @property
    def leaves_lines(self) -> bool:
        """Whether the stream is read to its end and half a line can still be cut off."""
        return not {"read", "ftruncate", "pread"} & set(self.names)

    def __str__(self) -> str:
        """Return the case as part of a test id."""
        words = [*self.names, *(word for word in self._fields[1:] if getattr(self, word))]
        return "-".join(words)


@dataclass
class FailingOs:
    """The module `os`, with calls that fail: only the n-th, or all from the n-th on."""

    case: Case
    number: int
    first: int
    """The number of the first call that fails."""
    calls: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __getattr__(self, name: str) -> Any:
        """Return the module's own attribute, or a function that may fail in its place."""
        real = getattr(os, name)
        return self._failing(name, real) if name in self.case.names else real

    def _failing(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            if is_between_our_threads(name, args[0]) or (
                self.case.intake_only
                and threading.current_thread().name not in ("intake", "agent output", "relay")
            ):
                return real(*args, **named)
            with self.lock:
                self.calls += 1
                since = self.calls - self.first
            if since == 0 and name == "write" and self.case.halves:
                return real(args[0], args[1][: len(args[1]) // 2])
            is_due = since >= 0 if self.case.lasting else since == int(self.case.halves)
            if is_due:
                raise OSError(self.number, os.strerror(self.number))
            return real(*args, **named)

        return call


def is_between_our_threads(name: str, fd: Any) -> bool:
    """Return whether a call is about a standard stream, about what monitor and relay tell each other, or
    about a process: those of this machine may be hundreds, and their files in /proc are never created."""
    if name == "open" and os.fspath(fd).startswith("/proc/"):
        return True
    if name == "read" and PROC is not None and os.fstat(fd).st_dev == PROC:
        return True
    if name == "write" and isinstance(fd, int):
        return fd in (0, 1, 2) or not stat.S_ISREG(os.fstat(fd).st_mode)
    return fd in (0, 1, 2) or (name == "read" and threading.current_thread().name == "agent output")


class RelayThread:
    """A relay in a thread, in place of its process."""

    pid = 0

    def __init__(self, fds: tuple[int, ...]) -> None:
        """Start the thread; it has its own descriptors, as a process has."""
        self._thread = threading.Thread(target=self._run, args=(tuple(map(os.dup, fds)),), name="relay")
        self._thread.start()

    def _run(self, fds: tuple[int, ...]) -> None:
        Relay(fds).run()
        for fd in fds:
            os.close(fd)

    def wait(self) -> None:
        """Wait until both pipes have ended."""
        self._thread.join()


def each_call(case: Case, number: int) -> Iterator[FailingOs]:
    """Yield an `os` whose first call fails, then one whose second call fails, until no such call is made."""
    for at in range(1, MOST_CALLS):
        failing = FailingOs(case, number, at)
        yield failing
        if failing.calls < at:
            return
    raise AssertionError("the calls never end")


def watched(
    begin: Callable[[KeepOptions], Source], keep: KeepOptions, failing: FailingOs
) -> int | BaseException:
    """Watch a source while calls fail; it must end. Return the exit code, or the exception raised."""
    ended: list[int | BaseException] = []

    def run() -> None:
        try:
            ended.append(watch(begin(keep), Options(printing=True)))
        except Fault as fault:
            ended.append(fault.exit_code)
        except BaseException as error:  # noqa: BLE001 - the caller checks it
            ended.append(error)

    with pytest.MonkeyPatch.context() as patch:
        for module in [module for name, module in sys.modules.items() if name.startswith("agentwatch.")]:
            for name, value in list(vars(module).items()):
                if value is os:
                    patch.setattr(module, name, failing)
                elif value in (os.fsync, os.fdatasync):
                    patch.setattr(module, name, getattr(failing, value.__name__))
        thread = threading.Thread(target=run, daemon=True)
        before = threading.enumerate()
        thread.start()
        thread.join(END_SECONDS)
        assert ended, f"it does not end when call {failing.first} fails"
        for other in set(threading.enumerate()) - set(before):
            until(partial(_is_started, other), END_SECONDS, f"thread {other.name} is started")
            other.join(END_SECONDS)
            assert not other.is_alive(), f"thread {other.name} does not end when call {failing.first} fails"
    return ended[0]


def _is_started(thread: threading.Thread) -> bool:
    """Return whether a thread is alive, or has ended."""
    return thread.is_alive() or thread not in threading.enumerate()
