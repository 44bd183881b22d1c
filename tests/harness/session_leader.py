"""Leads a session on a pty, as a shell does: `session_leader.py LINK STAGES`.

It starts the stages of a pipeline as one foreground job, survives them, and writes to the socket LINK how
each of them ended. `tests.harness.terminal` runs it as a separate program.
"""

import contextlib
import fcntl
import json
import os
import signal
import sys
import termios

TO_DEFAULT = (
    *(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE),
    *(signal.SIGXFSZ, signal.SIGCHLD, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU),
)

link, stages = int(sys.argv[1]), json.loads(sys.argv[2])
pids: list[int] = []
source = 0
os.set_inheritable(link, False)
fcntl.ioctl(2, termios.TIOCSCTTY, 0)


def hang_up(*_: object) -> None:
    """Pass a hangup on to the job: Linux sends it only to the leader of the session."""
    with contextlib.suppress(OSError):
        os.killpg(pids[0], signal.SIGHUP)


signal.signal(signal.SIGHUP, hang_up)
for argv in stages:
    drain, sink = (0, 1) if len(pids) == len(stages) - 1 else os.pipe()
    pid = os.fork()
    group = pids[0] if pids else pid
    with contextlib.suppress(OSError):  # parent and child both set it; the second of them may come too late
        os.setpgid(pid, group)
    if pid == 0:
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(2, os.getpgrp())
        for number in TO_DEFAULT:
            signal.signal(number, signal.SIG_DFL)
        os.dup2(source, 0)
        os.dup2(sink, 1)
        try:
            os.execvp(argv[0], argv)
        except OSError as error:
            os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127)
    for fd in {source, sink} - {0, 1}:
        os.close(fd)
    source = drain
    pids.append(pid)
os.closerange(0, 3)
os.write(link, "".join(f"{pid} -1\n" for pid in pids).encode())
left = len(pids)
while left:
    pid, status = os.waitpid(-1, os.WUNTRACED | os.WCONTINUED)
    left -= os.WIFEXITED(status) or os.WIFSIGNALED(status)
    os.write(link, f"{pid} {status}\n".encode())
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.read(link, 1)
