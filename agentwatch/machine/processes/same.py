"""Whether a process is still the one that was found: its id may be used again."""

from __future__ import annotations

from agentwatch.machine.process import Process
from agentwatch.machine.processes.ps import listed_processes
from agentwatch.sources.proc import Proc


def is_same_process(process: Process, proc: Proc | None = None) -> bool:
    """Return whether a process still runs, judged by its id and its start, which are read now.

    Args:
        process: The process as it was found.
        proc: Where the processes are read; None for /proc. Without it `ps` is asked, which takes 10 ms.
    """
    proc = proc or Proc()
    if proc.exists():
        stat = proc.stat(process.pid)
        return stat is not None and process.began > 0 and stat.began == process.began
    listed = (listed_processes(("-p", str(process.pid))) or {}).get(process.pid)
    return listed is not None and listed.began_ms == process.began_ms
