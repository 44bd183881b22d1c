"""The start of the program: a prompt gets its line of `status` at once, everything else the command line.

Until the command line is loaded and after it has ended, ctrl+c ends the process at once. KeyboardInterrupt
there would print a traceback, or be lost in the middle of an import.
"""

import _signal  # type: ignore[import-not-found]  # built in; `signal` takes 3 ms to import
import gc
import os
import sys

from agentwatch import NEEDS
from agentwatch.cli import CUT_BYTE_CODE, cut_byte_code

_INTERRUPTED = 128 + _signal.SIGINT
_CANNOT_START = 70


def main() -> None:
    try:
        _run()
    except EOFError as error:
        if not (folder := cut_byte_code(error)):
            raise
        sys.stderr.write(f"agentwatch: {CUT_BYTE_CODE}{folder}\n")
        sys.exit(_CANNOT_START)


def _run() -> None:
    gc.set_threshold(200_000, 20, 1000)  # many objects, no cycles: with 50,000, 3 % more CPU
    is_interruptible = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler  # nohup ignores it
    if is_interruptible:
        _signal.signal(_signal.SIGINT, _end)
    if sys.platform == "win32":
        sys.stderr.write(f"{NEEDS}\n")
        sys.exit(2)
    if sys.argv[1:2] == ["status"] and "_AGENTWATCH_COMPLETE" not in os.environ:
        from agentwatch.cli.status import quick_status

        code = quick_status(sys.argv[2:])
        if code is not None:
            sys.exit(code)
    if sys.argv[1:3] == ["acp", "--"] and sys.argv[3:]:
        code = _quick_acp(sys.argv[3:])
        if code is not None:
            sys.exit(code)
    from agentwatch.cli import app

    try:
        if is_interruptible:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        app.main()
    except KeyboardInterrupt:  # after the edge of the command line
        os._exit(_INTERRUPTED)
    finally:
        if is_interruptible:
            _signal.signal(_signal.SIGINT, _end)


def _end(_number: int, _frame: object) -> None:
    os._exit(_INTERRUPTED)


def _quick_acp(command: list[str]) -> int | None:
    """Start an editor's agent without loading the command line; None if the command line has to do it."""
    from agentwatch.sources.editor import Agent

    try:
        for fd in (0, 1, 2):
            os.fstat(fd)  # a pipe must not get the number of one that is closed
        agent = Agent(command)
    except OSError:
        return None
    return agent.copy()
