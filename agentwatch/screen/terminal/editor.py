"""Opens a call's file in the user's editor, which gets the terminal while it runs."""

from __future__ import annotations

import os
import shlex
import signal
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from textual.app import App, SuspendNotSupported

from agentwatch.safe_text import SafeText, safe_line
from agentwatch.screen.lines.format import cut_middle
from agentwatch.session import Call, Session

_SHOWN_COLUMNS = 60


class Unopened(Exception):
    """A file cannot be opened; the message is a sentence that gives the reason."""


def open_in_editor(
    app: App[Any], call: Call | None, session: Session, environ: Mapping[str, str] = os.environ
) -> None:
    """Open the call's file in $VISUAL or $EDITOR and wait until the editor ends; warn on failure."""
    try:
        argv = [*editor(environ), file_of(call, session)]
        _edit(app, argv)
    except Unopened as why:
        app.notify(str(why), severity="warning", markup=False)


def editor(environ: Mapping[str, str]) -> list[str]:
    """Return the command of the user's editor with its options.

    Raises:
        Unopened: No editor is set, or the setting is not a valid command.
    """
    for name in ("VISUAL", "EDITOR"):
        try:
            argv = shlex.split(environ.get(name, ""))
        except ValueError as error:
            raise Unopened(f"${name} is not a valid command: {error}.") from None
        if argv:
            return argv
    raise Unopened("No editor is set: $VISUAL and $EDITOR are empty.")


def file_of(call: Call | None, session: Session) -> str:
    """Return the absolute path of the call's file; an absolute path cannot be mistaken for an option.

    Raises:
        Unopened: There is no call, the call has no file, or the file does not exist or is not a regular one.
    """
    if call is None:
        raise Unopened("No call is selected.")
    if not call.path:
        raise Unopened(f"The selected call ({_shown(call.tool)}) has no file.")
    cwd = session.runs[call.run - 1].cwd if 0 < call.run <= len(session.runs) else None
    path = os.path.join(cwd or "", call.path)
    if not os.path.isabs(path):
        raise Unopened(f"{_shown(call.path)} is relative, and the recording has no working directory.")
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        raise Unopened(f"File not found: {_shown(path)}.") from None
    if not stat.S_ISREG(mode):
        raise Unopened(f"{_shown(path)} is {'a folder' if stat.S_ISDIR(mode) else 'not a regular file'}.")
    return path


def _edit(app: App[Any], argv: Sequence[str]) -> None:
    name, why_not = _shown(argv[0]), ""
    try:
        with app.suspend():  # an exception in this block would leave the screen suspended
            try:
                code = _run_in_foreground(argv)
            except OSError as error:
                why_not = f"cannot be started: {(error.strerror or str(error)).lower()}"
            else:
                why_not = (
                    f"failed: exit {code}" if code > 0 else f"was killed by signal {-code}" if code else ""
                )
    except SuspendNotSupported:
        raise Unopened("This terminal cannot run an editor.") from None
    if why_not:
        raise Unopened(f"{name} {why_not}.")


def _run_in_foreground(argv: Sequence[str]) -> int:
    """Run a program as the terminal's foreground job, as a shell would, and return its exit code.

    In agentwatch's own process group, ctrl+c in the editor would also reach agentwatch and the agent that
    writes into its pipe.
    """
    child = subprocess.Popen(argv, process_group=0)
    with _stopping_like_a_job():
        while True:
            _give_terminal(child.pid)
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGCONT)  # it may have stopped by using the terminal too early
            try:
                _, status = os.waitpid(child.pid, os.WUNTRACED)
            except ChildProcessError:  # it ended, and another thread has reaped it with the agent's orphans
                status = 0
            _give_terminal(os.getpgrp())
            if not os.WIFSTOPPED(status):
                child.returncode = os.waitstatus_to_exitcode(status)
                return child.returncode
            os.killpg(0, signal.SIGTSTP)  # ctrl+z in the editor stops the whole job, as on the screen


def _give_terminal(group: int) -> None:
    with suppress(OSError):
        os.tcsetpgrp(0, group)


@contextmanager
def _stopping_like_a_job() -> Iterator[None]:
    """Let SIGTSTP stop this process, and allow taking the terminal back without being stopped by SIGTTOU."""
    before = {
        signal.SIGTTOU: signal.signal(signal.SIGTTOU, signal.SIG_IGN),
        # Textual's handler would send SIGSTOP, which nobody undoes without a shell that resumes the job.
        signal.SIGTSTP: signal.signal(signal.SIGTSTP, signal.SIG_DFL),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _shown(text: str) -> SafeText:
    return cut_middle(safe_line(text), _SHOWN_COLUMNS)
