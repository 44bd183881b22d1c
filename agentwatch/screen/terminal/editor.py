"""Opens a call's file in the user's editor, which gets the terminal while it runs."""

from __future__ import annotations

import os
import re
import shlex
import signal
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from textual.app import App, SuspendNotSupported

from agentwatch.session.blocks import Block, ChangeBlock, ContentBlock
from agentwatch.session.call import Call
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText, cut_middle, safe_line

_SHOWN_COLUMNS = 60
_MOST_DIFF_LINES = 1000
_HUNK = re.compile(r"@@ -\d{1,9}(?:,\d{1,9})? \+(\d{1,9})")
_PLUS_LINE = frozenset(
    ("vi", "vim", "nvim", "view", "gvim", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe")
)
_GOTO = frozenset(["code", "codium", "code-insiders", "cursor", "windsurf"])
_COLON_LINE = frozenset(["hx", "helix", "subl", "zed"])


class Unopened(Exception):
    """A file cannot be opened; the message is a sentence that gives the reason."""


def open_in_editor(
    app: App[Any],
    call: Call | None,
    session: Session,
    line: int | None = None,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Open the call's file in the user's editor, with the app suspended until it ends; warn on failure."""
    try:
        _edit(app, at_line(editor(environ), file_of(call, session), line))
    except Unopened as why:
        app.notify(str(why), severity="warning", markup=False)


def editor(environ: Mapping[str, str]) -> list[str]:
    """Return the command of $VISUAL, else $EDITOR, else `vi`, as in git; raise `Unopened` if invalid."""
    for name in ("VISUAL", "EDITOR"):
        try:
            argv = shlex.split(environ.get(name, ""))
        except ValueError as error:
            raise Unopened(f"${name} is not a valid command: {error}.") from None
        if argv:
            return argv
    return ["vi"]


def at_line(argv: Sequence[str], path: str, line: int | None) -> list[str]:
    """Return the command that opens a file at a line; an editor that is not known opens it at its start."""
    name = os.path.basename(argv[0])
    if line is None:
        return [*argv, path]
    if name in _PLUS_LINE:
        return [*argv, f"+{line}", path]
    if name in _GOTO:
        return [*argv, "--goto", f"{path}:{line}"]
    return [*argv, f"{path}:{line}" if name in _COLON_LINE else path]


def line_of(blocks: Iterable[Block]) -> int | None:
    """Return the line of a file that a call read from or changed first, from 1; None if it is unknown."""
    for block in blocks:
        if isinstance(block, ContentBlock) and block.first_line > 1:
            return block.first_line
        if isinstance(block, ChangeBlock) and (line := _first_change(block.diff or "")) is not None:
            return line
    return None


def _first_change(diff: str) -> int | None:
    number = None
    for line in diff.split("\n", _MOST_DIFF_LINES)[:_MOST_DIFF_LINES]:
        if number is None:
            found = _HUNK.match(line)
            number = int(found[1]) if found else None
        elif line.startswith(("+", "-")):
            return max(number, 1)
        else:
            number += 1
    return number


def file_of(call: Call | None, session: Session) -> str:
    """Return the absolute path of a call's file, never an option. Raise `Unopened` without a regular one."""
    if call is None:
        raise Unopened("No call is selected.")
    if not call.path:
        raise Unopened(f"The selected call ({_shortened(call.tool)}) has no file.")
    cwd = session.runs[call.run - 1].cwd if 0 < call.run <= len(session.runs) else None
    path = os.path.join(cwd or "", call.path)
    if not os.path.isabs(path):
        raise Unopened(f"{_shortened(call.path)} is relative, and the recording has no working directory.")
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        raise Unopened(f"File not found: {_shortened(path)}.") from None
    if not stat.S_ISREG(mode):
        raise Unopened(f"{_shortened(path)} is {'a folder' if stat.S_ISDIR(mode) else 'not a regular file'}.")
    return path


def _edit(app: App[Any], argv: Sequence[str]) -> None:
    name, why_not = _shortened(argv[0]), ""
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
    """Run a program as the terminal's foreground job, as a shell would, and return its exit code. In our own
    process group, its ctrl+c would also reach agentwatch, and the agent that writes into its pipe."""
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


def _shortened(text: str) -> SafeText:
    return cut_middle(safe_line(text), _SHOWN_COLUMNS)
