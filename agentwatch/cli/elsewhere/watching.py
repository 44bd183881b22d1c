"""Watches a session of another machine: on the screen, or printed to its end."""

from __future__ import annotations

import os

from agentwatch.analysis.moments import Moment
from agentwatch.cli.address import check_part
from agentwatch.cli.config_file import read_machines
from agentwatch.cli.elsewhere.fetching import report, wait_for
from agentwatch.cli.front import watch
from agentwatch.cli.machines.sources import log_in
from agentwatch.cli.options import Options
from agentwatch.faults import INCOMPLETE_RECORDING, USAGE, Fault
from agentwatch.remote.opening import open_copy, source_of
from agentwatch.sources.open import create_log

_FIRST_SECONDS = 1.0
"""How long printing waits for what there is. By then it is known if the copy begins again, because of bytes
that are no longer kept."""


def watch_elsewhere(words: str, moment: Moment | None, options: Options) -> int:
    """Watch a session until it ends, or until the user quits.

    Args:
        words: The address of the session, without a moment.
        moment: The moment at which the screen opens; None for the newest.
        options: The options of the command line.

    Returns:
        The exit code; 74 if a printed session misses bytes that are not expected any more.

    Raises:
        Fault: The session cannot be read, it has no such moment, or an option does not apply to it.
    """
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
