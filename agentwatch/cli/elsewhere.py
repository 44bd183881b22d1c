"""Sessions of other machines: fetches what there is of one, or watches it on the screen or printed."""

from __future__ import annotations

import os
import time
from pathlib import Path

from agentwatch.analysis.moments import MomentSpec
from agentwatch.base.faults import INCOMPLETE_RECORDING, USAGE, Fault
from agentwatch.cli.address import check_part
from agentwatch.cli.config_file import read_machines
from agentwatch.cli.default_command import note_incomplete
from agentwatch.cli.machines import log_in
from agentwatch.cli.messages import printable, say
from agentwatch.cli.options import Options
from agentwatch.cli.progress import ShownProgress
from agentwatch.remote.copying import Copying, open_copy, source_of
from agentwatch.remote.engine import named
from agentwatch.sources.open import create_log
from agentwatch.text.amounts import byte_size

_STEP_SECONDS = 0.1
_AWAY_SECONDS = 5.0
"""How long an engine or a host may be away before a command gives up."""
_FIRST_SECONDS = 1.0
"""How long printing waits for what there is. By then it is known if the copy begins again, because of bytes
that are no longer kept."""


def fetched(words: str) -> Path:
    """Return the local copy of a session once it has all bytes that exist now. If bytes are missing, one line
    on stderr says so, and the exit code of the command is not 0. `words` have no moment. Raise `Fault` if the
    session cannot be read, or the engine or the host is away and there is no complete copy."""
    log_in([words])
    copying = open_copy(words, read_machines(), os.environ)
    try:
        wait_for(copying)
        if copying.size == 0 and not copying.is_complete:  # an empty copy is removed when it is closed
            raise Fault(f"{words}: {copying.problem or 'there are no bytes of it yet'}", USAGE)
        report(copying)
        if copying.is_cut_short:
            note_incomplete()
    finally:
        copying.close()
    return copying.path


def wait_for(copying: Copying) -> None:
    """Wait until a copy has all bytes that exist now, and show the progress on a terminal. Raise `Fault` if
    the engine or the host is away."""
    progress = ShownProgress().step(f"reading {printable(copying.address)},")
    try:
        while not copying.wait_until_read(_STEP_SECONDS):
            lost_at = copying.lost_at
            if lost_at is not None and time.monotonic() - lost_at > _AWAY_SECONDS:
                raise Fault(named(copying.address, copying.problem), USAGE)
            progress.show(byte_size(copying.size))
    finally:
        progress.clear()


def report(copying: Copying) -> None:
    """Report which bytes a copy does not have, and why."""
    if copying.beginning:
        say(f"{copying.address}: the beginning is no longer kept: {byte_size(copying.beginning)}")
    if copying.problem:
        say(named(copying.address, copying.problem))


def watch_elsewhere(words: str, moment: MomentSpec | None, options: Options) -> int:
    """Watch a session until it ends, or until the user quits. `words` have no moment. `moment` is None for
    the newest. The exit code is 74 if a printed session misses bytes that are not expected any more. Raise
    `Fault` if the session cannot be read, it has no such moment, or an option does not apply to it."""
    from agentwatch.cli.front import watch

    if options.record or options.tee:
        raise Fault(f"{words} is already a recording; --record and --tee work only with stdin", USAGE)
    options = options._replace(moment=moment)
    log_in([words])
    copying = open_copy(words, read_machines(), os.environ)
    try:
        if moment is not None and (asked := options.asked()) is not None:
            wait_for(copying)
            check_part(copying.path, asked, options.agent(), words)
        elif options.prints():
            copying.wait_until_read(_FIRST_SECONDS)
        log_fd = None if options.log is None else create_log(options.log)
        code = watch(source_of(copying, log_fd, waits=not options.prints()), options)
        report(copying)
        is_cut_short = options.prints() and copying.is_cut_short
    finally:
        copying.close()
    return INCOMPLETE_RECORDING if is_cut_short else code
