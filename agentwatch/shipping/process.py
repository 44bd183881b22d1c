"""The process that ships one recording for `run`.

It has a process session of its own, no terminal and no descriptor of the monitor, and reads the recording by
its path. So it can neither delay the agent nor end with the monitor. What it has reached is in `STEM.ship`.
"""

from __future__ import annotations

import gc
import os
import signal
import time
from pathlib import Path

from agentwatch.capture.process_name import take_name
from agentwatch.faults import Fault
from agentwatch.recording import SessionFiles
from agentwatch.shipping.jobs import Job, ship
from agentwatch.shipping.sidecar import ShipState, Sidecar
from agentwatch.shipping.target import PLAINTEXT, target_in


def main(arguments: list[str]) -> None:
    """Ship a recording in a process of its own.

    Args:
        arguments: The address, the publisher's token, whether plain text is allowed, and the recording.
    """
    address, publisher, transport, recording = arguments
    take_name(b"agentwatch-ship")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)  # SIGTERM ends it: where it was is known
    gc.freeze()
    path = Path(recording)
    try:
        target = target_in(os.environ, address, publisher, plaintext=transport == PLAINTEXT)
        ship(Job(path, target), _wait)
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
