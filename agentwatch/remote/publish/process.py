"""The process that ships one recording for `run`. It has a process session of its own, no terminal and no
descriptor of the monitor, so it neither delays the agent nor ends with the monitor."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from agentwatch.base.credentials import credentials
from agentwatch.base.faults import Fault
from agentwatch.recording.relay import take_name
from agentwatch.recording.store import SessionFiles
from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login, new_session
from agentwatch.remote.publish.publication import PLAINTEXT, Target
from agentwatch.remote.publish.recorded import Recorded
from agentwatch.remote.publish.shipper import Reaching, Shipper
from agentwatch.remote.publish.sidecar import Shipped, ShipState, Sidecar, forget, remember

_MOST_THREADS = 64
"""Recordings that are shipped at the same time; the others follow as these end."""


class Job(NamedTuple):
    """A recording, and the engine to which it is shipped."""

    recording: Path
    target: Target


def ship(
    job: Job, wait: Callable[[float], bool], report: Callable[[Shipped], None] = lambda _: None
) -> Shipped | None:
    """Ship a recording until the engine has it, or until `wait`, which is called with seconds, returns
    whether to end; return what the engine has. Until then `engine ship --all` knows the recording. None if
    another process ships it. Raise `OSError` if it cannot be opened."""
    recorded = Recorded(job.recording)
    sidecar = Sidecar(recorded.files.shipped)
    try:
        if sidecar.is_held:
            return None
        remember(job.recording)
        shipped = _resumed(sidecar.before, job)

        def note(state: Shipped) -> None:
            sidecar.write(state)
            report(state)

        sidecar.write(shipped)
        reaching = Reaching(job.target)
        shipped = Shipper(recorded, shipped, reaching.open, wait, note).run()
        if shipped.state is ShipState.DONE:
            forget(job.recording)
        return shipped
    finally:
        sidecar.close()
        recorded.close()


def _resumed(before: Shipped | None, job: Job) -> Shipped:
    to, publisher = str(job.target.login.address), job.target.publisher
    if before is None or before.to != to or before.session.publisher != publisher:
        return Shipped(to, new_session(publisher))
    return before._replace(state=ShipState.SHIPPING, problem="")


def ship_all(
    jobs: Iterable[Job], stop: threading.Event, ship_one: Callable[[Job], None]
) -> list[threading.Thread]:
    """Ship recordings, the most important first, in at most 64 threads at a time; return the threads. Each
    has its own connection: a call blocks until the engine answers, and a refusal of one session must not
    interrupt the others. `ship_one` raises no exceptions."""
    waiting = list(jobs)[::-1]
    lock = threading.Lock()

    def work() -> None:
        while not stop.is_set():
            with lock:
                if not waiting:
                    return
                job = waiting.pop()
            ship_one(job)

    threads = [
        threading.Thread(target=work, name="ship", daemon=True)
        for _ in range(min(len(waiting), _MOST_THREADS))
    ]
    for thread in threads:
        thread.start()
    return threads


def main(arguments: list[str]) -> None:
    """Ship a recording in its own process: the arguments are address, publisher, `plaintext` or not, path."""
    address, publisher, transport, recording = arguments
    take_name(b"agentwatch-ship")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)  # SIGTERM ends it: where it was is known
    gc.freeze()
    path = Path(recording)
    try:
        login = Login(parse_engine(address)[0], credentials(os.environ), transport == PLAINTEXT)
        ship(Job(path, Target(login, publisher, os.environ)), _wait)
    except Exception as error:  # noqa: BLE001 - the outermost edge of a process whose stderr nobody reads
        _note_end(path, error)


def _wait(seconds: float) -> bool:
    """Wait; nothing asks this process to end."""
    time.sleep(seconds)
    return False


def _note_end(recording: Path, error: Exception) -> None:
    """Note why the process ends. The words of an error that is not ours may contain anything."""
    sidecar = Sidecar(SessionFiles(recording).shipped)
    if sidecar.before is not None:
        problem = str(error) if isinstance(error, Fault) else f"internal error: {type(error).__name__}"
        sidecar.write(sidecar.before._replace(state=ShipState.STOPPED, problem=problem))
    sidecar.close()
