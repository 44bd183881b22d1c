"""Prints lines and JSON on stdout until its reader closes the pipe."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from agentwatch.base.faults import BROKEN_PIPE, INCOMPLETE_RECORDING
from agentwatch.base.files import write_all
from agentwatch.cli.messages import in_runner, json_without_commands, printable, say
from agentwatch.text.safe import Styled

_COLOURS = {
    **dict.fromkeys(("muted", "rule"), "2"),
    **dict.fromkeys(("strong", "heading"), "1"),
    **dict.fromkeys(("working", "running", "accent"), "36"),
    **dict.fromkeys(("succeeded", "added"), "32"),
    **dict.fromkeys(("failed", "removed"), "31"),
    **dict.fromkeys(("rejected", "cancelled", "returned", "unfinished"), "33"),
    "asks": "1;33",
}
"""The styles as colours of the terminal's 16; a style that is not listed is plain."""


class PrintingFailed(Exception):
    """Writing to stdout failed, for another reason than that its reader has closed the pipe."""


def has_colours(fd: int = 1) -> bool:
    """Whether lines have colours: on a terminal, unless the user says no."""
    environ = os.environ
    return os.isatty(fd) and not environ.get("NO_COLOR") and environ.get("TERM") not in (None, "", "dumb")


def terminal_width(unknown: int) -> int | None:
    """Return the columns of stdout, `unknown` if the terminal does not tell them, None without a terminal."""
    if not os.isatty(1):
        return None
    from shutil import get_terminal_size  # imports lzma: 3 ms

    return get_terminal_size((unknown, 0)).columns


def _painted(text: str, style: str) -> str:
    code = _COLOURS.get(style)
    return text if code is None or not text.strip() else f"\x1b[{code}m{text}\x1b[0m"


def print_lines(lines: Iterable[str]) -> int:
    return _printed(lambda: _write_lines(lines))


def print_json(pieces: Iterable[bytes]) -> int:
    return _printed(lambda: write_json(pieces))


def _printed(print_all: Callable[[], object]) -> int:
    try:
        print_all()
    except BrokenPipeError:
        return BROKEN_PIPE
    except PrintingFailed as fault:
        say(f"cannot print: {fault}")
        return INCOMPLETE_RECORDING
    return 0


def _write_lines(lines: Iterable[str]) -> None:
    for line in lines:
        write_line(line)


def write_line(line: str, sink_fd: int = 1) -> None:
    if type(line) is Styled and has_colours(sink_fd):
        line = "".join([_painted(printable(text), style) for text, style in line.pieces])
    else:
        line = printable(line)
    write(f"{line}\n".encode(), sink_fd)


def write_json(pieces: Iterable[bytes]) -> None:
    """Write JSON to stdout, without what acts on a terminal or commands to a CI runner."""
    if os.isatty(1):
        from agentwatch.text.safe_json import safe_json  # imports orjson: 3 ms

        pieces = map(safe_json, pieces)
    if in_runner():
        pieces = (json_without_commands(b"".join(pieces)),)
    for piece in pieces:
        write(piece)
    write(b"\n")


def write(data: bytes, sink_fd: int = 1) -> None:
    """Write bytes as they are; raise `BrokenPipeError` if nobody reads any more, else `PrintingFailed`."""
    try:
        write_all(sink_fd, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise PrintingFailed(error.strerror) from error
