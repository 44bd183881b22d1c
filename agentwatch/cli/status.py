"""Prints the line of `status`, for which a prompt waits, without the command line, which takes 50 ms."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agentwatch.base.clock import now_ms as clock_ms
from agentwatch.catalog.quick_look import looked
from agentwatch.catalog.status import (
    LIMITS,
    StatusCounts,
    UnknownFieldError,
    read_limits,
    read_status,
)

_OPTION = "--format"


def quick_status(arguments: Sequence[str]) -> int | None:
    """Print the line of `status`; return the exit code, or None if the whole command line is needed."""
    match arguments:
        case []:
            template = None
        case [option, words] if option == _OPTION:
            template = words
        case [words] if words.startswith(f"{_OPTION}="):
            template = words.removeprefix(f"{_OPTION}=")
        case _:
            return None
    try:
        line = status_line(template)
    except UnknownFieldError:
        return None
    return _print(f"{line}\n".encode("utf-8", "surrogateescape"))


def status_line(template: str | None) -> str:
    """Return the line for a template, or else what needs attention; raise `UnknownFieldError` for a wrong
    one."""
    if template is not None:
        StatusCounts().filled(template)  # a wrong template is reported whatever there is to count
    now_ms = clock_ms()
    has_limits = template is not None and f"{{{LIMITS}}}" in template
    counts, limits = read_status(now_ms), read_limits(now_ms) if has_limits else ""
    if counts is None or limits is None:
        look = looked(has_limits=limits is None)
        counts, limits = counts or look.counts, look.limits if limits is None else limits
    return counts.line() if template is None else counts.filled(template, limits)


def _print(data: bytes) -> int | None:
    """Write to stdout, and return the exit code; None if the whole command line must report an error."""
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        return None
    return 0
