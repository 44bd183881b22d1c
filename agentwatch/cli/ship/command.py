"""The command `ship`: copies saved sessions to an engine, and follows those that run."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from agentwatch.byte_size import byte_size
from agentwatch.cli.address import whole
from agentwatch.cli.config_file import read_machines
from agentwatch.cli.messages import internal_error, say
from agentwatch.config import EngineSettings
from agentwatch.engine.opening import check_extra
from agentwatch.faults import USAGE, Fault, cannot_open
from agentwatch.recording import SessionFiles, saved_recordings
from agentwatch.recording.saved_sessions.deletion import is_recorded
from agentwatch.shipping.jobs import Job, ship, ship_all
from agentwatch.shipping.sidecar import Shipped, ShipState, read_shipped
from agentwatch.shipping.target import Given, Target, target_of
from agentwatch.sources.stores.known import store_for

_INTERRUPTED = 130
_PROGRESS_SECONDS = 2.0
_PROGRESS_BYTES = 1 << 20
"""Less than this is sent at once, which needs no line."""


class Request(NamedTuple):
    """What the command line asks for."""

    to: str
    """The address or the name of the engine; empty for the one that each session was begun with."""
    given: Given
    engines: Mapping[str, EngineSettings]
    by_default: str
    """The engine of the settings, for a session that was not begun; empty for none."""

    def target(self, before: Shipped | None) -> Target:
        """Return the engine of a session.

        Args:
            before: What was noted of the session when it was shipped before.

        Raises:
            Fault: No engine is named, or it cannot be used.
        """
        words = self.to or (before.to if before is not None else self.by_default)
        if not words:
            raise Fault("no engine is known: name it with --to nats://HOST", USAGE)
        publisher = self.given.publisher or ("" if before is None else before.session.publisher)
        return target_of(words, self.engines, os.environ, self.given._replace(publisher=publisher))


def run_ship(sessions: Sequence[str], to: str | None, given: Given, *, ships_all: bool) -> int:
    """Ship sessions until the engine has them, and return the exit code.

    Args:
        sessions: The addresses of recordings.
        to: The address or name of the engine.
        given: What the command line says about the engine.
        ships_all: Ship each recording that was begun and is not complete; with `to` also those that run.

    Raises:
        Fault: A session or an engine cannot be used.
    """
    if bool(sessions) is ships_all:
        raise click.UsageError("ship needs either SESSION or --all")
    check_extra()
    machines = read_machines()
    request = Request(to or "", given, machines.engines, machines.publish)
    jobs = list(_unfinished(request)) if ships_all else [_job(words, request) for words in sessions]
    if not jobs:
        say("nothing to ship: the engine has every session that was published")
        return 0
    shown = _Shown()
    threads = ship_all(jobs, shown.stop, shown.ship)
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        shown.stop.set()
        for thread in threads:
            thread.join(1.0)
        say("stopped; agentwatch ship --all continues")
        return _INTERRUPTED
    return 0 if shown.is_complete else 1


def _job(words: str, request: Request) -> Job:
    path = Path(os.path.realpath(whole(words, "ship")))
    try:
        is_foreign = store_for(path) is not None
    except OSError as error:
        raise cannot_open(path, error) from None
    if is_foreign or path.suffix == ".jsonl":
        raise Fault(f"{path}: only recordings of agentwatch are shipped", USAGE)
    return Job(path, request.target(read_shipped(SessionFiles(path).shipped)))


def _unfinished(request: Request) -> Iterator[Job]:
    """Yield the recordings that were begun and are not complete, and with an engine given those that run."""
    try:
        recordings = saved_recordings()
    except OSError as error:
        raise cannot_open(Path(error.filename or "the sessions folder"), error) from None
    for path in recordings:
        files = SessionFiles(path)
        before = read_shipped(files.shipped)
        if before is not None and before.state is ShipState.DONE:
            continue
        try:
            if before is not None:
                yield Job(path, request._replace(to="").target(before))
            elif request.to and is_recorded(files):
                yield Job(path, request.target(None))
        except Fault as fault:
            say(f"{path.stem}: {fault}")
        except FileNotFoundError:  # it was deleted meanwhile
            continue


class _Shown:
    """Ships sessions in threads, and reports on stderr what they reach."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.is_complete = True
        """Whether the engine has every session that has ended."""
        self._has_terminal = os.isatty(2)
        self._warned: set[str] = set()
        """The engines of which a warning was printed."""
        self._lock = threading.Lock()

    def ship(self, job: Job) -> None:
        """Ship one session."""
        name = job.recording.stem
        reported = _Reported()

        def report(shipped: Shipped) -> None:
            self._warn(shipped)
            if words := reported.words(shipped, has_terminal=self._has_terminal):
                say(f"{name}: {words}")

        try:
            shipped = ship(job, self.stop.wait, report)
        except OSError as error:
            say(str(cannot_open(job.recording, error)))
            self.is_complete = False
            return
        except Exception as error:  # noqa: BLE001 - the edge of a thread: the other sessions go on
            say(internal_error(error))
            self.is_complete = False
            return
        if shipped is None:
            say(f"{name}: another process ships it")
        elif shipped.state is ShipState.DONE:
            if self._has_terminal:
                say(f"{name}: {byte_size(shipped.shipped)} on {job.target.login.address.host}")
        elif not self.stop.is_set():
            self.is_complete = False

    def _warn(self, shipped: Shipped) -> None:
        """Print what the user should know about an engine, once for all its sessions."""
        if not shipped.warning:
            return
        with self._lock:
            is_new = shipped.to not in self._warned
            self._warned.add(shipped.to)
        if is_new:
            say(f"{shipped.to}: {shipped.warning}")


class _Reported:
    """What was reported of one session."""

    def __init__(self) -> None:
        self._problem = ""
        self._due = 0.0

    def words(self, shipped: Shipped, *, has_terminal: bool) -> str:
        """Return what is to be reported now; empty if nothing."""
        if shipped.problem != self._problem:
            self._problem = shipped.problem
            return shipped.problem or ("continues" if has_terminal else "")
        left, now = shipped.bytes - shipped.shipped, time.monotonic()
        if not has_terminal or left < _PROGRESS_BYTES or now < self._due:
            return ""
        self._due = now + _PROGRESS_SECONDS
        return f"{byte_size(shipped.shipped)} of {byte_size(shipped.bytes)}"
