"""Printed lines and messages, made safe in one place; and the traceback of an internal error.

A message may contain the name of a file, a command or an option, and each of these may contain anything. A
continuous-integration runner must not execute printed text as a command: GitHub executes `##[command]`
anywhere in a line and `::command::` at its beginning, Azure `##vso[`, TeamCity `##teamcity[`. GitLab's
sections need an escape character, which safe text does not contain.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from agentwatch.cli import CUT_BYTE_CODE, cut_byte_code
from agentwatch.text.safe import SafeText, safe_line

if TYPE_CHECKING:
    from agentwatch.recording.store import SessionFiles

_FIRST_SECONDS = 1.0
_STEP_SECONDS = 0.2
_RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI")
_YES = frozenset({"y", "yes"})
_MOST_REASON = 400
_MOST_NUMBER = 1 << 64
_MOST_CHARACTERS = 8192
"""The longest path has 4,096 bytes."""


def printable(line: str) -> SafeText:
    """Remove what acts on a terminal or on a CI runner."""
    line = safe_line(line)
    return SafeText(without_commands(line) if in_runner() else line)


def say(message: str) -> None:
    """Print a message to the user on stderr, on one line."""
    if sys.stderr is None:  # it is closed; `print` would use stdout instead
        return
    line = printable(f"agentwatch: {message[:_MOST_CHARACTERS]}")
    with suppress(OSError):  # a closed stderr must not end the monitor while the agent still writes
        print(line, file=sys.stderr, flush=True)


def confirmed(question: str) -> bool:
    """Ask on the terminal; return whether the answer is yes. Without a terminal on both sides it is no."""
    if not (os.isatty(0) and os.isatty(2)):
        return False
    os.write(2, f"{printable(f'{question} [y/N]')} ".encode())
    return os.read(0, 100).decode("utf-8", "replace").strip().casefold() in _YES


def internal_error(error: BaseException, files: SessionFiles | None = None) -> str:
    """Write the traceback of an internal error beside `files`, or to a new path among the saved sessions;
    return a message with its path. Incomplete byte code, and too few file descriptors, which leave none for
    the traceback, are not internal errors and get their own messages."""
    if isinstance(error, EOFError) and (folder := cut_byte_code(error)):
        return f"{CUT_BYTE_CODE}{folder}"
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "too many open files (ulimit -n)"
    return f"internal error: {type(error).__name__}({_arguments(error)}) ({_write_crash(error, files)})"


def _arguments(error: BaseException) -> str:
    """Return the arguments that are short numbers or texts; others may contain foreign data."""
    shown = []
    for each in error.args:
        if type(each) is str:
            shown.append(repr(each[:_MOST_REASON]))
        elif type(each) is int and abs(each) <= _MOST_NUMBER:
            shown.append(str(each))
    return ", ".join(shown)


def _write_crash(error: BaseException, files: SessionFiles | None) -> str:
    """Write a traceback without the values of variables, which may be secret; return a clause with its
    path."""
    import traceback

    from agentwatch.recording.store import create_file, new_session_files

    try:
        path = (files or new_session_files()).crash
        with open(create_file(path), "w", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return "the traceback could not be written"
    return f"traceback: {path}"


def in_runner() -> bool:
    """Whether a CI runner reads the output."""
    return any(os.environ.get(name) for name in _RUNNERS)


def without_commands(line: str) -> str:
    r"""Disable runner commands by a visible backslash: `#\#[error]`."""
    line = re.sub("#(?=#)", "#\\\\", line)
    return f"\\{line}" if line.lstrip().startswith("::") else line


def json_without_commands(line: bytes) -> bytes:
    """Return JSON with the same values, in which a runner finds no command."""
    return line.replace(b"##", b"#\\u0023")


def xml_without_commands(document: bytes) -> bytes:
    """Return XML with the same values, in which a runner finds no command."""
    return re.sub(rb"(?m)^([ \t]*)::", b"\\1&#58;:", document.replace(b"##", b"#&#35;"))


class ShownProgress:
    """Shows one step after another on a line of stderr, from the first second on, if stderr is a terminal."""

    def __init__(self) -> None:
        self._step = ""
        self._is_shown = False
        self._first = time.monotonic() + _FIRST_SECONDS
        self._next = 0.0
        self._has_terminal = sys.stderr is not None and os.isatty(2)

    def step(self, words: str) -> ShownProgress:
        self._step, self._next = words, 0.0
        return self

    def __call__(self, done: int, total: int) -> None:
        """Show how much of the step is done, five times a second."""
        percent = min(100 * done // total, 100) if total else 0
        self.show(f"{percent} %")

    def show(self, words: str) -> None:
        """Show a step; `words` must be safe text."""
        now = time.monotonic()
        if not self._has_terminal or now < max(self._first, self._next):
            return
        self._next, self._is_shown = now + _STEP_SECONDS, True
        self._print(f"\r\x1b[Kagentwatch: {self._step} {words}")

    def clear(self) -> None:
        if self._is_shown:
            self._print("\r\x1b[K")
            self._is_shown = False

    @staticmethod
    def _print(words: str) -> None:
        with suppress(OSError):
            print(words, end="", file=sys.stderr, flush=True)
